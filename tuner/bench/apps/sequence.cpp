// Data that can be checked wherever it is read: words that count up, with a sum that is known.
#include "bench/apps/sequence.hpp"

#include "timing/buffer_access.hpp"

namespace asterope {

void Sequence::write(void* to, std::size_t bytes) const {
    write_source(static_cast<char*>(to), bytes, first);
}

std::uint64_t Sequence::sum(std::size_t offset, std::size_t bytes) const {
    const std::uint64_t begin = offset / 8;
    const std::uint64_t count = bytes / 8;
    // of the two factors of count * (count - 1), the even one is halved: no bit is lost
    const std::uint64_t pairs =
        count % 2 ? count * ((count - 1) / 2) : count / 2 * (count - 1); // 0 for none
    return count * word(begin) + pairs;
}

bool Sequence::is_at(const void* data, std::size_t offset, std::size_t bytes) const {
    const auto* const words = static_cast<const std::uint64_t*>(data);
    for (std::size_t i = 0; i < bytes / 8; ++i) {
        if (words[i] != word(offset / 8 + i)) return false;
    }
    return true;
}

} // namespace asterope
