// All entrants' times stand side by side by round. Ratios are taken within a round, then combined.
#include "timing/paired.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "timing/cache_effect.hpp"

namespace asterope {

Paired::Paired(std::vector<Entrant> entrants, const std::vector<PairedWorkload>& workloads,
               int rounds, std::uint64_t first_round, const TimedCopies& timings,
               std::size_t size) {
    // The order is shuffled, not rotated. In rotation each entrant always follows the same other
    // one, and would get the credit for the caches that this one leaves. The order is the same in
    // every run.
    std::mt19937_64 random(first_round);
    CacheEffectOrder order;
    for (int i = 0; i < rounds; ++i) {
        const std::uint64_t round = first_round + static_cast<std::uint64_t>(i);
        for (const auto& [workload, every] : workloads) {
            if (i % every != 0) continue;
            shuffle(entrants, random);
            order.apply(entrants, [&](Entrant entrant) { return timings.leaves(entrant); });
            std::map<Entrant, Sample> samples; // as they were timed last
            do {
                for (const Entrant entrant : entrants) {
                    samples[entrant] = timings.sample(size, workload, entrant, round);
                }
            } while (timings.end_round());
            for (const auto& [entrant, sample] : samples) {
                const std::vector<double> whole = {sample.seconds()};
                const std::vector<double>& all = sample.parts.empty() ? whole : sample.parts;
                for (std::size_t part = 0; part < all.size(); ++part) {
                    logs_[{entrant, {workload, part}}].push_back(std::log(all[part]));
                }
            }
        }
    }
}

double Paired::seconds(Entrant entrant, Series series) const {
    return std::exp(median(logs_.at({entrant, series})));
}

std::vector<double> Paired::differences(Entrant over, Entrant under, Series series) const {
    std::vector<double> differences = logs_.at({over, series});
    const std::vector<double>& own = logs_.at({under, series});
    for (std::size_t i = 0; i < differences.size(); ++i) differences[i] -= own[i];
    return differences;
}

Estimate Paired::ratio(Entrant over, Entrant under, Series series) const {
    return exponentiate(sign_interval(differences(over, under, series)));
}

std::vector<double> Paired::log_ratios(Entrant over, Entrant under, const Weighted& weights) const {
    std::size_t most = 0;
    for (const auto& [workload, weight] : weights) most = std::max(most, rounds(over, workload));
    std::vector<double> sum(most);
    for (const auto& [workload, weight] : weights) {
        const std::vector<double> one = differences(over, under, workload);
        for (std::size_t i = 0; i < most; ++i) sum[i] += weight * one[i * one.size() / most];
    }
    return sum;
}

} // namespace asterope
