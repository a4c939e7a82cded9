// Timings from the machine: the stopwatch, the trial log and the progress line behind one call.
#pragma once

#include "interrupt.hpp"
#include "progress.hpp"
#include "search.hpp"
#include "trial_log.hpp"

namespace asterope {

class LiveTimings : public Timings {
  public:
    /// `log` may be null.
    LiveTimings(const std::vector<Candidate>& space, Stopwatch& stopwatch, Progress& progress,
                TrialLog* log)
        : space_(space), stopwatch_(stopwatch), progress_(progress), log_(log) {}

    double seconds(std::size_t size, Workload workload, Entrant entrant,
                   std::uint64_t round) override;

    std::size_t trials() const { return trials_; }

  private:
    const std::vector<Candidate>& space_;
    Stopwatch& stopwatch_;
    Progress& progress_;
    TrialLog* log_;
    std::size_t trials_ = 0;
};

} // namespace asterope
