// A look-up in a large table, as programs make one before they copy a block out: a chain of cache
// misses, each at a place that the one before decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace asterope {

/// Lines that one look-up reads: the bucket of a hash table, the entry, its place in the order of
/// use, and the block's descriptor, as in the buffer cache of `asterope-bench cache`.
inline constexpr std::size_t kLookUpLines = 4;

/// Looks `key` up in a table of so many lines (below 2^32), of whatever content but one value all
/// over. Returns what the last line says, mixed with what came before.
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

/// 0, but not before the value is known, and without a compiler's knowing it.
inline std::size_t nothing_of(std::uint64_t value) {
    std::uint64_t high = value >> 32;
    __asm__("" : "+r"(high)); // may be anything from here on
    return static_cast<std::size_t>(value >> 32 ^ high);
}

} // namespace asterope
