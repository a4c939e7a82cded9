// One round of timings: every entrant in turn, and all of them again where something disturbed it.
#pragma once

#include <cmath>
#include <vector>

namespace asterope {

/// Times `entrants` in their order. Returns the logarithms of `seconds(entrant)`, in that order.
/// As long as `disturbed()` says after the last one that the round must be timed again, it is; only
/// the last try counts. `disturbed` sees to it that this ends.
template <typename Seconds, typename Disturbed>
std::vector<double> time_round(const std::vector<int>& entrants, const Seconds& seconds,
                               const Disturbed& disturbed) {
    std::vector<double> logs;
    do {
        logs.clear();
        for (const int entrant : entrants) logs.push_back(std::log(seconds(entrant)));
    } while (disturbed());
    return logs;
}

} // namespace asterope
