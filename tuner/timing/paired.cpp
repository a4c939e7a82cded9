// Paired comparison: everybody runs in every round, and only times of one round are compared.
#include "timing/paired.hpp"

#include <cmath>

#include "base/random.hpp"
#include "timing/cache_effect.hpp"
#include "timing/round.hpp"

namespace asterope {

Paired::Paired(std::vector<int> entrants, const std::vector<Workload>& workloads, int rounds,
               std::uint64_t first_round, const Seconds& seconds, const CacheEffect& cache_effect,
               const Disturbed& disturbed) {
    // Shuffled, not rotated: in rotation everybody always follows the same other, and what that
    // one leaves in the caches would count as his own merit. The order is the same in every run.
    std::mt19937_64 random(first_round);
    CacheEffectOrder order(cache_effect);
    for (int round = 0; round < rounds; ++round) {
        for (const Workload workload : workloads) {
            shuffle(entrants, random);
            order.apply(entrants);
            const std::vector<double> logs = time_round(
                entrants,
                [&](int entrant) {
                    return seconds(entrant, workload,
                                   first_round + static_cast<std::uint64_t>(round));
                },
                [&] { return disturbed && disturbed(); });
            for (std::size_t i = 0; i < entrants.size(); ++i) {
                logs_[{entrants[i], workload}].push_back(logs[i]);
            }
        }
    }
}

double Paired::seconds(int entrant, Workload workload) const {
    return std::exp(median(logs_.at({entrant, workload})));
}

std::vector<double> Paired::differences(int over, int under, Workload workload) const {
    std::vector<double> differences = logs_.at({over, workload});
    const std::vector<double>& own = logs_.at({under, workload});
    for (std::size_t i = 0; i < differences.size(); ++i) differences[i] -= own[i];
    return differences;
}

Estimate Paired::ratio(int over, int under, Workload workload) const {
    return exponentiate(sign_interval(differences(over, under, workload)));
}

Estimate Paired::mean_log_ratio(int over, int under,
                                const std::vector<std::pair<Workload, double>>& weights) const {
    std::vector<double> sum;
    for (const auto& [workload, weight] : weights) {
        const std::vector<double> one = differences(over, under, workload);
        sum.resize(one.size());
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weight * one[i];
    }
    return sign_interval(sum);
}

} // namespace asterope
