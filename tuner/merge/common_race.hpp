// The figures of several machines' logs, as one race of the copies that all of them timed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "run/trial_log.hpp"
#include "search/race.hpp"

namespace asterope {

/// What copies are compared with in a race, libc or one thread, is called this.
inline constexpr const char* kReference = "";

/// What one machine timed in one step of its search.
struct LoggedRace {
    /// `called`: what a name of the log is called here, see kReference. A round that was disturbed
    /// and timed again counts once.
    LoggedRace(const std::vector<Record>& step,
               const std::function<std::string(const std::string&)>& called);

    using Samples = std::vector<double>;
    /// By workload and name: log of the reference's time in the round over the copy's own, in the
    /// order of the log, so that the run-off comes last. Of the reference: from its median.
    std::map<Workload, std::map<std::string, Samples>> samples;
    std::map<Workload, double> reference_ns; ///< medians
};

/// One step of all machines' searches.
class CommonRace {
  public:
    explicit CommonRace(std::vector<LoggedRace> machines) : machines_(std::move(machines)) {}

    bool timed(Workload workload) const;
    /// Whether all machines timed it at least `least` times under each workload that counts.
    bool timed(const std::string& name, const Weights& weights, std::size_t least = 1) const;
    /// Mean over the machines of the weighted mean of what its medians are worth, see utility(): a
    /// loss on one machine counts several times.
    double worth(const std::string& name, const Weights& weights) const;
    /// Log of the reference's time over its own on one machine: the weighted mean of medians.
    double score(std::size_t machine, const std::string& name, const Weights& weights) const;

    const std::vector<LoggedRace>& machines() const { return machines_; }

  private:
    std::vector<LoggedRace> machines_;
};

/// Serves a search with geometric means over the machines: of each, in turn, what was timed last,
/// then what was timed before.
class CommonTimings : public Timings {
  public:
    /// `name`: of an entrant from 0 up, in the race.
    CommonTimings(const CommonRace& race, std::function<std::string(Entrant)> name)
        : race_(race), name_(std::move(name)) {}

    Trial trial(const TrialRequest& asked) override;

  private:
    const CommonRace& race_;
    std::function<std::string(Entrant)> name_;
    /// How often the reference was asked for in a round: each time it is another sample.
    std::map<std::pair<Workload, std::uint64_t>, std::size_t> asked_;
};

} // namespace asterope
