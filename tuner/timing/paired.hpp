// Paired comparison: every entrant runs in every round, and only times of one round are compared.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "base/statistics.hpp"
#include "timing/workload.hpp"

namespace asterope {

/// Times `entrants` in their order. Returns the logarithms of `seconds(entrant)`, in that order.
/// After the last one, `disturbed()` may say that the round must be timed again; only the last try
/// counts. `disturbed` limits the tries.
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

/// Names one series of an entrant's figures: those under a workload, or those of a part of its
/// samples.
class Series {
  public:
    Series(Workload workload) : number_(static_cast<std::size_t>(workload)) {}
    Series(std::size_t part = 0) : number_(part) {} ///< 0: the whole
    auto operator<=>(const Series&) const = default;

  private:
    std::size_t number_;
};

/// A workload that is timed in the first of each `every` rounds.
struct PairedWorkload {
    PairedWorkload(Workload timed, int rounds = 1) : workload(timed), every(rounds) {}

    Workload workload;
    int every;
};

/// The logarithms of the times of several entrants over the same rounds.
class Paired {
  public:
    /// Runs `rounds` rounds, each in its own order; `seconds(entrant, workload, round)` times one.
    /// `first_round` goes on from rounds that were timed before. Entrants of one `cache_effect` run
    /// one after the other (see Stopwatch::time); without it, all are of one. `disturbed()` ends
    /// each round under each workload, see time_round; without it, nothing disturbs.
    using Seconds = std::function<double(int entrant, Workload workload, std::uint64_t round)>;
    using CacheEffect = std::function<int(int entrant)>;
    using Disturbed = std::function<bool()>;
    Paired(std::vector<int> entrants, const std::vector<PairedWorkload>& workloads, int rounds,
           std::uint64_t first_round, const Seconds& seconds,
           const CacheEffect& cache_effect = nullptr, const Disturbed& disturbed = nullptr);

    /// Samples of one kind with several parts, which are compared part by part. `parts` gives the
    /// seconds of each part, the whole first, and equally many in every sample.
    using Parts = std::function<std::vector<double>(int entrant, std::uint64_t round)>;
    Paired(const std::vector<int>& entrants, int rounds, const Parts& parts,
           const CacheEffect& cache_effect = nullptr, const Disturbed& disturbed = nullptr);

    /// Median seconds of an entrant.
    double seconds(int entrant, Series series = {}) const;
    /// Time of `over` divided by time of `under`, median over the rounds and its interval.
    Estimate ratio(int over, int under, Series series = {}) const;
    /// The rounds in which an entrant was timed.
    std::size_t rounds(int entrant, Series series = {}) const {
        return logs_.at({entrant, series}).size();
    }
    /// The ratio of each round as a logarithm, the weighted mean over the workloads. One that was
    /// timed in fewer rounds has the figure of a round nearby in the others.
    using Weighted = std::vector<std::pair<Workload, double>>;
    std::vector<double> log_ratios(int over, int under, const Weighted& weights) const;
    Estimate mean_log_ratio(int over, int under, const Weighted& weights) const {
        return sign_interval(log_ratios(over, under, weights));
    }

  private:
    std::vector<double> differences(int over, int under, Series series) const;
    std::map<std::pair<int, Series>, std::vector<double>> logs_;
};

} // namespace asterope
