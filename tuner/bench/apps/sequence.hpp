// Data that any reader can check: words that count up, with a known sum.
#pragma once

#include <cstddef>
#include <cstdint>

#include "timing/buffer_access.hpp"

namespace asterope {

/// Words of eight bytes: `first`, then each more than the last by one, modulo 2^64. Two sequences
/// of random `first` differ in 255 of 256 bytes at the same place. write_source writes it, and
/// read_copy returns its sum: the writer and the reader of all workloads. Sizes are in bytes, and
/// multiples of 8.
struct Sequence {
    std::uint64_t first;

    std::uint64_t word(std::size_t index) const { return first + index; }

    /// Its first `bytes`, as a producer of data leaves them.
    void write(void* to, std::size_t bytes) const {
        write_source(static_cast<char*>(to), bytes, first);
    }

    /// The sum of the words from `offset` on, as read_copy finds it in memory.
    std::uint64_t sum(std::size_t offset, std::size_t bytes) const {
        const std::uint64_t count = bytes / 8;
        // of the two factors of count * (count - 1), the even one is halved: no bit is lost
        const std::uint64_t pairs =
            count % 2 ? count * ((count - 1) / 2) : count / 2 * (count - 1); // 0 for none
        return count * word(offset / 8) + pairs;
    }

    /// Whether it lies at `data`, word for word.
    bool is_at(const void* data, std::size_t offset, std::size_t bytes) const {
        const auto* const words = static_cast<const std::uint64_t*>(data);
        for (std::size_t i = 0; i < bytes / 8; ++i) {
            if (words[i] != word(offset / 8 + i)) return false;
        }
        return true;
    }
};

} // namespace asterope
