// A look-up in a large table, as programs make one before they copy a block out: a chain of cache
// misses, each at a place that the one before decides.
#include "timing/workloads/look_up.hpp"

#include <cstring>

namespace asterope {

std::uint64_t look_up(const char* table, std::size_t lines, std::uint64_t key) {
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

} // namespace asterope
