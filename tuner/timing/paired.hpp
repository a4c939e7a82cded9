// Paired comparison: every entrant runs in every round, and only times of one round are compared.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/statistics.hpp"
#include "timing/timed_copies.hpp"

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
    /// Takes all samples at `size` bytes, in `rounds` rounds, each in its own order. Rounds are
    /// numbered from `first_round` on, behind earlier ones. All samples have the same number of
    /// parts.
    ///
    /// Entrants that leave the caches alike run one after the other (see Stopwatch::time). After
    /// each round under each workload, the timings may say that it must be timed again. Then the
    /// last try counts alone.
    Paired(std::vector<Entrant> entrants, const std::vector<PairedWorkload>& workloads, int rounds,
           std::uint64_t first_round, const TimedCopies& timings, std::size_t size = 0);

    /// Median seconds of an entrant.
    double seconds(Entrant entrant, Series series = {}) const;
    /// Time of `over` divided by time of `under`, median over the rounds and its interval.
    Estimate ratio(Entrant over, Entrant under, Series series = {}) const;
    /// The rounds in which an entrant was timed.
    std::size_t rounds(Entrant entrant, Series series = {}) const {
        return logs_.at({entrant, series}).size();
    }
    /// The ratio of each round as a logarithm, the weighted mean over the workloads. A
    /// round in which a workload was not timed has that workload's figure of a nearby round.
    using Weighted = std::vector<std::pair<Workload, double>>;
    std::vector<double> log_ratios(Entrant over, Entrant under, const Weighted& weights) const;
    Estimate mean_log_ratio(Entrant over, Entrant under, const Weighted& weights) const {
        return sign_interval(log_ratios(over, under, weights));
    }

  private:
    std::vector<double> differences(Entrant over, Entrant under, Series series) const;
    std::map<std::pair<Entrant, Series>, std::vector<double>> logs_;
};

} // namespace asterope
