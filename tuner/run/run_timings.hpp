// RunTimings: the figures of one run, first those that its log has, then those of the machine,
// which it logs; and the accounts of them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/progress.hpp"
#include "run/record_cursor.hpp"
#include "run/time_spent.hpp"
#include "run/trial_log.hpp"
#include "timing/disturbed_rounds.hpp"
#include "timing/timings.hpp"

namespace asterope {

/// Seconds that a trial without a calibration is planned to take: of small copies, say.
inline constexpr double kPlannedTrial = 50e-6;

class RunTimings : public Timings {
  public:
    /// Of a new run, or of one that goes on: `known` is what an earlier one wrote to `log`.
    /// `machine` has the other figures; in a replay, it is a whole log's. All must outlive it.
    RunTimings(Timings& machine, TimeSpent& spent, TrialLogWriter& log, const LoggedSteps& known,
               std::string what);
    /// Of a whole log, `what` in messages: nothing is timed. Throws BadInput where the log ends
    /// before the search, or is of another.
    RunTimings(const LoggedSteps& known, std::string what, TimeSpent& spent);

    Trial trial(const TrialRequest& asked) override;
    RoundEnd round_ended() override;
    void enter(Stage stage) override;
    void enter(const std::string& step, std::size_t known = 0) override;
    ProbeTicks readings(const ProbeRequest& asked) override;
    Calibration calibration(std::size_t size, Workload workload,
                            const std::optional<Calibration>& known = std::nullopt) override;

    bool has(const std::string& step) const override {
        return machine_ ? machine_->has(step) : recorded_.has(step);
    }
    /// From now on rounds advance it, which must outlive this.
    void show_on(Progress& progress) { progress_ = &progress; }

    const DisturbedRounds& disturbed_rounds() const { return disturbed_rounds_; }
    std::size_t trials() const { return trials_; } ///< so far, those of earlier runs included
    /// That the trials of earlier runs took then.
    double recorded_seconds() const { return recorded_seconds_; }

  private:
    [[noreturn]] void refuse_end() const;
    TrialLogWriter& log();
    double planned_seconds(std::size_t size, Workload workload) const;

    RecordCursor recorded_;
    Timings* machine_ = nullptr;
    TimeSpent& spent_;
    TrialLogWriter* log_ = nullptr;
    std::string step_, written_step_; ///< the present one; that which the log's end belongs to
    Progress* progress_ = nullptr;
    DisturbedRounds disturbed_rounds_;
    std::map<std::pair<std::size_t, Workload>, double> planned_; ///< libc's seconds of a trial
    double round_seconds_ = 0; ///< that the trials of this round took, all in all
    double round_planned_ = 0; ///< that they were planned to take
    bool round_recorded_ = false;
    std::size_t trials_ = 0;
    double recorded_seconds_ = 0;
};

} // namespace asterope
