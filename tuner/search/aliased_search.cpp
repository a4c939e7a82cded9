// Finds out whether buffers that alias modulo 4096 deserve a copy of their own, and the copy for
// buffers that overlap.
#include "search/aliased_search.hpp"

#include <cmath>

#include "base/error.hpp"

namespace asterope {

AliasedSize search_aliased(std::size_t count, std::size_t size, const Rigor& rigor,
                           std::mt19937_64& random, const TimedCopies& timings) {
    const std::vector<Entrant> everybody = all_entrants(count + 1);
    Race race(size, {{Workload::aliased, 1}}, random, timings);
    const SizeResult result = race.run_off(everybody, rigor.rounds, 0, 0);

    std::vector<Estimate> ratios(count + 1);
    for (const Finalist& finalist : result.finalists) {
        ratios[static_cast<std::size_t>(finalist.candidate)] =
            finalist.workloads.at(Workload::aliased).ratio;
    }
    AliasedSize found{size, ratios[0], {}, 0, {}, result.undecided};
    for (std::size_t i = 0; i < count; ++i) {
        const Estimate& ratio = ratios[i + 1];
        found.gains.push_back(ratio.median / found.pipeline.median);
        if (i == 0 || ratio.median > found.best.median) {
            found.best = ratio;
            found.variant = i;
        }
    }
    return found;
}

std::optional<AliasedChoice> choose_aliased(const std::vector<AliasedSize>& sizes) {
    std::optional<AliasedChoice> choice;
    double most = 0;
    for (std::size_t variant = 0; !sizes.empty() && variant < sizes[0].gains.size(); ++variant) {
        for (std::size_t begin = 0; begin < sizes.size(); ++begin) {
            double sum = 0;
            for (std::size_t end = begin; end < sizes.size() && !sizes[end].undecided &&
                                          sizes[end].gains[variant] >= kAliasedGain;
                 ++end) {
                sum += std::log(sizes[end].gains[variant]);
                if (sum <= most) continue;
                most = sum;
                const std::size_t above = begin == 0 ? kAliasedMinimum - 1 : sizes[begin - 1].size;
                choice = {variant, above, sizes[end].size};
            }
        }
    }
    return choice;
}

SizeResult search_overlapping(std::size_t count, const Rigor& rigor, std::mt19937_64& random,
                              const TimedCopies& timings) {
    if (count == 0) throw Failure("no copy for overlapping buffers copies right on this machine");
    const std::vector<Entrant> everybody = all_entrants(count);
    // One of them is taken, whatever libc does.
    Race race(0, {{Workload::overlapping, 1}}, random, timings);
    // Few copies and short trials: rounds are cheap, and few of them leave ties to chance.
    return race.run_off(everybody, 4 * rigor.rounds, 0);
}

} // namespace asterope
