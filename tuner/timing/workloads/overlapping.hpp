// Moves between buffers that overlap: which, and the timing of one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "timing/arena.hpp"
#include "timing/timed_copy.hpp"

namespace asterope {

/// How two buffers overlap.
struct Overlap {
    std::size_t size;     ///< bytes of a move
    std::ptrdiff_t shift; ///< bytes from the source to the destination; below 0: downwards
};

/// The shifts between buffers, in bytes: a character, an element, a line and more. Programs that
/// insert or erase at the front of their data shift it so.
inline constexpr std::array<std::ptrdiff_t, 4> kShifts = {1, 8, 64, 1000};

/// The same by one to three pages, or a little less. Programs that drop sent data from the front of
/// a buffer shift it so. A little less is the worst case: modulo 4096, each load then has the
/// address of the stores before it.
inline constexpr std::array<std::ptrdiff_t, 6> kPageShifts = {4000, 4032, 4064, 4096, 8096, 12192};

/// Each of `sizes` with each of `shifts` that is less, up and down.
std::vector<Overlap> overlaps_of(const std::vector<std::size_t>& sizes,
                                 std::span<const std::ptrdiff_t> shifts);

/// The least bytes that a sample moves at one size and shift. With these the clock's cost does not
/// show.
inline constexpr std::size_t kOverlapSampleBytes = std::size_t{256} << 10;

/// The sizes of the workloads, in bytes. They stay in the first and second cache, or nearly.
inline const std::vector<std::size_t> kOverlapSizes = {1 << 10,  4 << 10,   16 << 10,
                                                       64 << 10, 256 << 10, 1 << 20};

/// Seconds a call of one sample of moves between buffers that overlap so. Every sample uses the
/// same few cached lines again, at varying misalignments; samples of one `round` use the same
/// places. The buffers lie in the tail of the arena's destination, as hot ones do, even if the
/// source is mapped from elsewhere. The arena must have room for size, shift, two pages and a line.
double time_overlap(const Arena& arena, CopyFunction move, const Overlap& overlap,
                    std::uint64_t round);

} // namespace asterope
