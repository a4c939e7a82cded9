// The figures of several machines' logs, as if one machine had timed the copies that they have in
// common.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "run/sample_log.hpp"
#include "search/objective.hpp"

namespace asterope {

/// The name of the copy that a race compares with, libc or one thread.
inline constexpr const char* kReference = "";

/// The timings of one machine in one step of its search.
struct LoggedRace {
    /// Copies are called as in the log, where they are the same on all machines. A round that was
    /// disturbed and timed again counts once. Copies of --reference are left out: other logs need
    /// not have them.
    LoggedRace(const std::vector<Record>& records, Step step);

    using Samples = std::vector<double>;
    /// By workload and name: log of the reference's time in the round over the copy's own. They are
    /// in the order of the log, so that the run-off comes last. The reference's time in a round is
    /// the median of its samples there.
    std::map<Workload, std::map<std::string, Samples>> samples;
    std::map<Workload, double> reference_ns; ///< medians
};

/// One step of all machines' searches.
class CommonRace {
  public:
    explicit CommonRace(std::vector<LoggedRace> machines) : machines_(std::move(machines)) {}

    /// Whether all machines timed it at least `least` times under each workload that counts.
    bool timed(const std::string& name, const Weights& weights, std::size_t least = 1) const;
    /// The same under all workloads of the step.
    bool timed(const std::string& name) const;
    /// Mean over the machines of the weighted mean of its medians' utility(): a loss on one machine
    /// counts several times.
    double worth(const std::string& name, const Weights& weights) const;
    /// Log of the reference's time over its own on one machine: the weighted mean of medians.
    double score(std::size_t machine, const std::string& name, const Weights& weights) const;

    const std::vector<LoggedRace>& machines() const { return machines_; }

  private:
    std::vector<LoggedRace> machines_;
};

/// Gives geometric means over the machines. Each machine's last timings are taken first, then
/// earlier ones.
class MergedTimings : public Timings {
  public:
    /// `logs` must outlive it.
    explicit MergedTimings(std::vector<const LoggedSteps*> logs) : logs_(std::move(logs)) {}

    /// A step of all searches; null where one lacks it. A step of pipelines at one size includes
    /// the timings there when rows were chosen.
    const CommonRace* race_of(const LoggedStep& step) const;

    void enter(const LoggedStep& step, std::size_t known = 0) override;
    bool has(const LoggedStep& step, const std::string& copy = {}) const override;
    Sample sample(const SampleRequest& asked) override;

  private:
    std::vector<const LoggedSteps*> logs_;
    mutable std::map<LoggedStep, std::optional<CommonRace>> races_;
    std::optional<LoggedStep> step_;
    /// How often the reference was asked for in a round: each time it is another sample.
    std::map<std::pair<Workload, std::uint64_t>, std::size_t> asked_;
};

} // namespace asterope
