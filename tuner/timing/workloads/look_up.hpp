// A look-up in a large table, as programs make before they copy a block out of it. It is a chain of
// cache misses: each one decides the place of the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace asterope {

/// Lines that one look-up reads, as in the buffer cache of `asterope-bench cache`. They are a hash
/// table's bucket, the entry, its place in the order of use, and the block's descriptor.
inline constexpr std::size_t kLookUpLines = 4;

/// Looks `key` up in a table of so many lines (below 2^32). Its words must not all be the same.
/// Returns the last line's word, mixed with those before it.
inline std::uint64_t look_up(const char* table, std::size_t lines, std::uint64_t key) {
    constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15u; // a multiple of the golden ratio
    std::uint64_t state = key * kOdd;
    for (std::size_t i = 0; i < kLookUpLines; ++i) {
        const std::uint64_t line = (state >> 32) * lines >> 32;
        std::uint64_t word;
        std::memcpy(&word, table + line * 64, sizeof word);
        state = (state ^ word) * kOdd;
        state ^= state >> 32;
    }
    return state;
}

/// Returns 0, but only once the value is known. Compilers do not see that it is 0.
inline std::size_t nothing_of(std::uint64_t value) {
    std::uint64_t high = value >> 32;
    __asm__("" : "+r"(high)); // may be anything from here on
    return static_cast<std::size_t>(value >> 32 ^ high);
}

} // namespace asterope
