// All entrants' times stand side by side by round. Ratios are taken within a round, then combined.
#include "timing/paired.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "timing/cache_effect.hpp"

namespace asterope {

Paired::Paired(std::vector<int> entrants, const std::vector<PairedWorkload>& workloads, int rounds,
               std::uint64_t first_round, const Seconds& seconds, const CacheEffect& cache_effect,
               const Disturbed& disturbed) {
    // The order is shuffled, not rotated. In rotation each entrant always follows the same other
    // one, and would get the credit for the caches that this one leaves. The order is the same in
    // every run.
    std::mt19937_64 random(first_round);
    CacheEffectOrder order;
    for (int round = 0; round < rounds; ++round) {
        for (const auto& [timed, every] : workloads) {
            if (round % every != 0) continue;
            const Workload workload = timed; // clang 14 cannot capture a binding
            shuffle(entrants, random);
            order.apply(entrants, cache_effect);
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

Paired::Paired(const std::vector<int>& entrants, int rounds, const Parts& parts,
               const CacheEffect& cache_effect, const Disturbed& disturbed) {
    std::map<int, std::vector<double>> samples; // of the round, as it was timed last
    const auto seconds = [&](int entrant, Workload, std::uint64_t round) {
        return (samples[entrant] = parts(entrant, round)).front();
    };
    const auto ended = [&] {
        if (disturbed && disturbed()) return true;
        for (const auto& [entrant, all] : samples) {
            for (std::size_t part = 1; part < all.size(); ++part) {
                logs_[{entrant, part}].push_back(std::log(all[part]));
            }
        }
        return false;
    };
    Paired whole(entrants, {Workload{}}, rounds, 0, seconds, cache_effect, ended);
    logs_.merge(whole.logs_);
}

double Paired::seconds(int entrant, Series series) const {
    return std::exp(median(logs_.at({entrant, series})));
}

std::vector<double> Paired::differences(int over, int under, Series series) const {
    std::vector<double> differences = logs_.at({over, series});
    const std::vector<double>& own = logs_.at({under, series});
    for (std::size_t i = 0; i < differences.size(); ++i) differences[i] -= own[i];
    return differences;
}

Estimate Paired::ratio(int over, int under, Series series) const {
    return exponentiate(sign_interval(differences(over, under, series)));
}

std::vector<double> Paired::log_ratios(int over, int under, const Weighted& weights) const {
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
