// Times moves between buffers that overlap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "timing/arena.hpp"
#include "timing/workload.hpp"

namespace asterope {

/// How two buffers overlap.
struct Overlap {
    std::size_t size;     ///< bytes of a move
    std::ptrdiff_t shift; ///< bytes from the source to the destination; below 0: downwards
};

/// How far buffers are shifted, in bytes: a character, an element, a line and a page, as programs
/// do that insert at the front of what they hold, or erase there.
inline constexpr std::array<std::ptrdiff_t, 4> kShifts = {1, 8, 64, 4096};

/// Each of `sizes` with each of kShifts that is less, up and down.
std::vector<Overlap> overlaps_of(const std::vector<std::size_t>& sizes);

/// Every trial uses the same few cached lines again, at varying misalignments. The buffers lie in
/// the tail of the arena's destination, as hot ones do, whatever the source is mapped from.
class OverlapStopwatch {
  public:
    /// The arena must outlive it, and have room for the largest size, 8 KiB and a line.
    explicit OverlapStopwatch(const Arena& arena) : arena_(arena) {}

    /// Seconds a call of one trial. Trials of the same `round` use the same places.
    double time(CopyFunction move, const Overlap& overlap, std::uint64_t round) const;

    /// The workload `overlapping`: the geometric mean over kSizes and all their overlaps.
    double time(CopyFunction move, std::uint64_t round) const;

    /// Calls in one trial of the workload.
    static std::size_t calls();

    /// What a trial moves at one size and shift, at least, in bytes: enough for the clock's cost
    /// not to show.
    static constexpr std::size_t kTrialBytes = std::size_t{256} << 10;

    /// Those of the workload, in bytes: what stays in the first and second cache.
    static inline const std::vector<std::size_t> kSizes = {1 << 10, 4 << 10, 16 << 10, 64 << 10};

  private:
    const Arena& arena_;
};

} // namespace asterope
