// Sizes grow by powers; the order halves the gap that has waited longest.
#include "search/size_order.hpp"

#include <deque>
#include <set>
#include <utility>

#include "machine/machine.hpp"
#include "space/space.hpp"

namespace asterope {

namespace {
constexpr std::size_t kLine = 64;
} // namespace

std::vector<std::size_t> default_sizes(const std::vector<Cache>& caches, std::size_t coarse_from,
                                       std::size_t largest) {
    std::set<std::size_t> sizes;
    for (std::size_t size = kMinimumBytes; size <= kUsualLargest;
         size *= size < coarse_from ? 2 : 4) {
        sizes.insert(size);
    }
    for (const std::size_t size : {2 * kUsualLargest, 8 * kUsualLargest}) {
        if (size <= largest) sizes.insert(size);
    }
    if (coarse_from == kAllCoarseSizes) {
        // 32 MiB took a third of a quick search (480 MiB of last cache), and lies in the same cache
        // as 8 MiB.
        if (last_cache_bytes(caches) >= 2 * kUsualLargest) sizes.erase(kUsualLargest);
        return {sizes.begin(), sizes.end()};
    }
    // 28 MiB beside 32 MiB took a ninth of a standard search, and two searches of three chose the
    // same pipelines for both (a Zen 4).
    const std::size_t below = coarse_from == kNoCoarseSizes ? kUsualLargest : kUsualLargest / 2;
    for (const Cache& cache : caches) {
        for (const std::size_t eighths : {7, 9}) {
            const std::size_t size = cache.bytes / 8 * eighths / kLine * kLine;
            if (size > kMinimumBytes && size < below) sizes.insert(size);
        }
    }
    return {sizes.begin(), sizes.end()};
}

std::vector<std::size_t> coarse_to_fine(std::size_t count) {
    std::vector<std::size_t> order;
    if (count > 0) order.push_back(0);
    if (count > 1) order.push_back(count - 1);
    std::deque<std::pair<std::size_t, std::size_t>> gaps; // both ends are in the order already
    if (count > 2) gaps.emplace_back(0, count - 1);
    while (!gaps.empty()) {
        const auto [low, high] = gaps.front();
        gaps.pop_front();
        const std::size_t middle = low + (high - low) / 2;
        order.push_back(middle);
        if (middle - low > 1) gaps.emplace_back(low, middle);
        if (high - middle > 1) gaps.emplace_back(middle, high);
    }
    return order;
}

} // namespace asterope
