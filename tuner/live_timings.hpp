// Timings from the machine: a stopwatch, the trial log and the progress line behind one call.
#pragma once

#include <functional>
#include <string>

#include "interrupt.hpp"
#include "progress.hpp"
#include "race.hpp"
#include "trial_log.hpp"

namespace asterope {

/// What is timed, and what the log and the progress line say of it.
struct Field {
    std::function<double(std::size_t size, Workload, Entrant, std::uint64_t round)> seconds;
    std::function<std::string(Entrant)> name;                     ///< of candidates, not of libc
    std::function<std::size_t(std::size_t size, Workload)> calls; ///< in one trial
    /// See Timings::company; none: all are of one.
    std::function<int(std::size_t size, Entrant)> company = nullptr;
};

class LiveTimings : public Timings {
  public:
    /// `log` may be null. Throws Interrupted between trials when the user asked to stop.
    LiveTimings(Field field, Progress& progress, TrialLog* log)
        : field_(std::move(field)), progress_(progress), log_(log) {}

    double seconds(std::size_t size, Workload workload, Entrant entrant,
                   std::uint64_t round) override;
    int company(std::size_t size, Entrant entrant) const override {
        return field_.company ? field_.company(size, entrant) : 0;
    }

    std::size_t trials() const { return trials_; }

  private:
    Field field_;
    Progress& progress_;
    TrialLog* log_;
    std::size_t trials_ = 0;
};

} // namespace asterope
