// The aliased copy serves the run of sizes with the largest gain; the overlapping copy wins a race.
#include "search/aliased_search.hpp"

#include <cmath>

#include "base/error.hpp"

namespace asterope {

double aliased_ratio(const SizeResult& at, std::size_t entrant) {
    return at.of(entrant).workloads.at(Workload::aliased).ratio.median;
}

std::optional<AliasedChoice> choose_aliased(const std::vector<SizeResult>& sizes) {
    std::optional<AliasedChoice> choice;
    double most = 0;
    const std::size_t variants = sizes.empty() ? 0 : sizes.front().finalists.size() - 1;
    for (std::size_t variant = 0; variant < variants; ++variant) {
        for (std::size_t begin = 0; begin < sizes.size(); ++begin) {
            double sum = 0;
            for (std::size_t end = begin; end < sizes.size(); ++end) {
                const SizeResult& at = sizes[end];
                const double gain = aliased_ratio(at, variant + 1) / aliased_ratio(at, 0);
                // Where noise hid the differences, no gain counts.
                if (at.undecided || !(gain >= kAliasedGain)) break;
                sum += std::log(gain);
                if (sum <= most) continue;
                most = sum;
                const std::size_t above = begin == 0 ? kAliasedMinimum - 1 : sizes[begin - 1].size;
                choice = {variant, above, at.size};
            }
        }
    }
    return choice;
}

SizeResult search_overlapping(std::size_t count, const Rigor& rigor, const TimedCopies& timings) {
    if (count == 0) throw Failure("no copy for overlapping buffers copies right on this machine");
    const std::vector<Entrant> everybody = all_entrants(count);
    // One of the copies is taken even where libc is faster. Two workloads, so that a gain at one
    // distance does not make up for a loss at another.
    Race race(0, {{Workload::overlapping, 0.5}, {Workload::overlapping_pages, 0.5}}, timings);
    // Few copies: rounds are cheap. Too few rounds leave ties to chance.
    return race.run_off(everybody, 2 * rigor.rounds, 0);
}

} // namespace asterope
