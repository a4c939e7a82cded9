// What a copy does to the caches, and the order of trials that follows: copies that leave the
// caches alike are timed one after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "machine/libc.hpp"
#include "space/space.hpp"

namespace asterope {

/// What is in the caches after a copy: its destination (temporal stores), or not.
enum CacheEffect { kTemporal, kNonTemporal };

/// Of a pipeline.
inline CacheEffect cache_effect_of(const Candidate& candidate) {
    return candidate.variant->st == std::string_view("T") ? kTemporal : kNonTemporal;
}

/// Of libc's function, which stores past the caches from some size on, as far as it says.
/// `thresholds`: see Machine::libc_thresholds.
inline CacheEffect cache_effect_of_libc(std::size_t size,
                                        const std::map<std::string, std::size_t>& thresholds,
                                        Operation operation = Operation::copy) {
    const auto found = thresholds.find(operation == Operation::set ? kSetNonTemporalThreshold
                                                                   : kNonTemporalThreshold);
    return found == thresholds.end() || size < found->second ? kTemporal : kNonTemporal;
}

/// Puts entrants of the same cache effect together, in turns forwards and backwards, so that a turn
/// begins with the effect that the last one ended with: every change costs an untimed stretch of
/// copying (see Stopwatch::time).
class CacheEffectOrder {
  public:
    /// `cache_effect(entrant)`: any number; without the function, all have the same.
    explicit CacheEffectOrder(std::function<int(int entrant)> cache_effect)
        : cache_effect_(std::move(cache_effect)) {}

    /// Keeps the order within each cache effect.
    void apply(std::vector<int>& entrants) {
        if (!cache_effect_) return;
        std::map<int, std::vector<int>> groups;
        for (const int entrant : entrants) groups[cache_effect_(entrant)].push_back(entrant);
        entrants.clear();
        const auto append = [&](const auto& cache_effect) {
            entrants.insert(entrants.end(), cache_effect.second.begin(), cache_effect.second.end());
        };
        if (backwards_) {
            std::for_each(groups.rbegin(), groups.rend(), append);
        } else {
            std::for_each(groups.begin(), groups.end(), append);
        }
        backwards_ = !backwards_;
    }

  private:
    std::function<int(int entrant)> cache_effect_;
    bool backwards_ = false;
};

} // namespace asterope
