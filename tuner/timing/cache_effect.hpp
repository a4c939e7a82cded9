// A copy's effect on the caches, and the order of samples that follows from it. Copies that leave
// the caches alike are timed one after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "machine/libc.hpp"
#include "space/space.hpp"
#include "timing/entrant.hpp"

namespace asterope {

/// Whether a copy leaves its destination in the caches (temporal stores) or not.
enum CacheEffect { kTemporal, kNonTemporal };

/// The cache effect of a pipeline.
inline CacheEffect cache_effect_of(const Candidate& candidate) {
    return candidate.variant->st == std::string_view("T") ? kTemporal : kNonTemporal;
}

/// The cache effect of libc's function, which stores past the caches from some size on, as far as
/// libc tells that size.
inline CacheEffect cache_effect_of_libc(std::size_t size, const LibcThresholds& thresholds,
                                        Operation operation = Operation::copy) {
    const auto found = thresholds.find(operation == Operation::set ? kSetNonTemporalThreshold
                                                                   : kNonTemporalThreshold);
    return found == thresholds.end() || size < found->second ? kTemporal : kNonTemporal;
}

/// Puts entrants of the same cache effect together. The effect that the last turn ended with comes
/// first: every change costs an untimed stretch of copying (see Stopwatch::time).
class CacheEffectOrder {
  public:
    /// `cache_effect(entrant)`: any number; without the function, all have the same. Keeps the
    /// order of entrants within each cache effect. The effect that the last turn ended with comes
    /// first, the others in the order in which they appear. In an order by number each entrant
    /// would always follow the same other one. Five copies of one routine, each with its own
    /// effect, then differed by up to 20 % (a Zen 4, fetch_walk of 4 KiB).
    void apply(std::vector<Entrant>& entrants,
               const std::function<int(Entrant entrant)>& cache_effect) {
        if (!cache_effect || entrants.empty()) return;
        std::vector<int> effects;
        if (last_) effects.push_back(*last_);
        for (const Entrant entrant : entrants) effects.push_back(cache_effect(entrant));
        std::ranges::stable_sort(entrants, {}, [&](Entrant entrant) {
            return std::ranges::find(effects, cache_effect(entrant)) - effects.begin();
        });
        last_ = cache_effect(entrants.back());
    }

  private:
    std::optional<int> last_; ///< the cache effect at the end of the last turn
};

} // namespace asterope
