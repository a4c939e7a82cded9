// Finds the sizes between two evaluated ones at which their winners change places.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "search/race.hpp"

namespace asterope {

/// The transfer sizes above < bytes <= up_to, and the size whose winner they take.
struct SizeInterval {
    std::size_t above, up_to;
    std::size_t result; ///< index of the evaluated size
    bool operator==(const SizeInterval&) const = default;
};

/// Whether the copy of the smaller size is still the better one (or as good) at `size`.
using LowerHolds = std::function<bool(Entrant lower, Entrant upper, std::size_t size)>;

/// The largest size known at which the copy of the smaller size holds, as `holds(size)` says. It
/// lies between the evaluated sizes `from`, where that copy won, and `to`, where another did; both
/// may be any numbers. Sizes in between are tried at whole cache lines. The bisection takes for
/// granted that the two change places once. It ends when `from` and `to` are at most `ratio` apart.
std::size_t find_boundary(std::size_t from, std::size_t to, double ratio,
                          const std::function<bool(std::size_t size)>& holds);

/// The intervals of evaluated sizes. `copies`: the copy of each size. Neighbours that share a copy
/// meet at the smaller size, others at the size that find_boundary finds.
std::vector<SizeInterval> find_intervals(const std::vector<std::size_t>& sizes,
                                         const std::vector<Entrant>& copies, double ratio,
                                         const LowerHolds& holds);

} // namespace asterope
