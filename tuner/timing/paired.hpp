// Paired comparison: every entrant runs in every round, and only times of one round are compared.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "base/statistics.hpp"
#include "timing/workload.hpp"

namespace asterope {

/// Names a series of an entrant's figures: one workload and one part of each sample. Part 0 is the
/// whole.
class Series {
  public:
    Series(Workload workload, std::size_t part = 0) : workload_(workload), part_(part) {}
    Series(std::size_t part = 0) : Series(Workload{}, part) {}
    auto operator<=>(const Series&) const = default;

  private:
    Workload workload_;
    std::size_t part_;
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
    /// Takes all samples, in `rounds` rounds, each in its own order. `parts(entrant, workload,
    /// round)` takes one. It returns the seconds of the whole sample, then of each part. Every
    /// sample has the same number of parts. `first_round` goes on from rounds that were timed
    /// before.
    ///
    /// Entrants of one `cache_effect` run one after the other (see Stopwatch::time). Without
    /// `cache_effect`, all entrants have the same. After each round under each workload,
    /// `disturbed()` may say that it must be timed again; only the last try counts. `disturbed()`
    /// itself must limit the tries. Without `disturbed`, no round is repeated.
    using Parts =
        std::function<std::vector<double>(int entrant, Workload workload, std::uint64_t round)>;
    using CacheEffect = std::function<int(int entrant)>;
    using Disturbed = std::function<bool()>;
    Paired(std::vector<int> entrants, const std::vector<PairedWorkload>& workloads, int rounds,
           std::uint64_t first_round, const Parts& parts, const CacheEffect& cache_effect = nullptr,
           const Disturbed& disturbed = nullptr);

    /// Median seconds of an entrant.
    double seconds(int entrant, Series series = {}) const;
    /// Time of `over` divided by time of `under`, median over the rounds and its interval.
    Estimate ratio(int over, int under, Series series = {}) const;
    /// The rounds in which an entrant was timed.
    std::size_t rounds(int entrant, Series series = {}) const {
        return logs_.at({entrant, series}).size();
    }
    /// The ratio of each round as a logarithm, the weighted mean over the workloads. A
    /// round in which a workload was not timed has that workload's figure of a nearby round.
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
