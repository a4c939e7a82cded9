// The order in which sizes are searched: from coarse to fine, so that a run that ends early has
// covered the whole range.
#include "search/size_order.hpp"

#include <deque>
#include <utility>

namespace asterope {

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

std::vector<std::size_t> nearest_done(const std::vector<bool>& done, std::size_t index) {
    std::vector<std::size_t> nearest;
    for (std::size_t i = index; i-- > 0;) {
        if (!done[i]) continue;
        nearest.push_back(i);
        break;
    }
    for (std::size_t i = index + 1; i < done.size(); ++i) {
        if (!done[i]) continue;
        nearest.push_back(i);
        break;
    }
    return nearest;
}

} // namespace asterope
