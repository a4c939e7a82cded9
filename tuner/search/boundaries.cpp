// The search bisects by the ratio of sizes, in whole cache lines.
#include "search/boundaries.hpp"

#include <cmath>

namespace asterope {

namespace {
constexpr std::size_t kGrain = 64; ///< bytes: boundaries lie at whole cache lines
} // namespace

std::size_t find_boundary(std::size_t from, std::size_t to, double ratio,
                          const std::function<bool(std::size_t size)>& holds) {
    while (static_cast<double>(to) > ratio * static_cast<double>(from)) {
        // The geometric middle: sizes matter by their ratio.
        const double middle = std::sqrt(static_cast<double>(from) * static_cast<double>(to));
        std::size_t size = static_cast<std::size_t>(middle) / kGrain * kGrain;
        // Rounded down it may be `from` again: then the next line, if it is still in between.
        if (size <= from) size = (from / kGrain + 1) * kGrain;
        if (size >= to) break;
        (holds(size) ? from : to) = size;
    }
    return from;
}

std::vector<SizeInterval> find_intervals(const std::vector<std::size_t>& sizes,
                                         const std::vector<Entrant>& copies, double ratio,
                                         const LowerHolds& holds) {
    std::vector<SizeInterval> intervals;
    std::size_t above = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        std::size_t up_to = sizes[i];
        if (i + 1 < sizes.size() && copies[i] != copies[i + 1]) {
            up_to = find_boundary(up_to, sizes[i + 1], ratio, [&](std::size_t size) {
                return holds(copies[i], copies[i + 1], size);
            });
        }
        intervals.push_back({above, up_to, i});
        above = up_to;
    }
    return intervals;
}

} // namespace asterope
