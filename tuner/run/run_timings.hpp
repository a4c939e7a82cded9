// The timings of a run, with accounts of its samples, its time and its budget. They come from the
// log first. Then they come from another source, and are logged.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/progress.hpp"
#include "run/resume.hpp"
#include "run/time_spent.hpp"
#include "timing/budget.hpp"
#include "timing/disturbed_rounds.hpp"
#include "timing/timings.hpp"

namespace asterope {

/// Seconds that a sample without a calibration is planned to take: of small copies, say.
inline constexpr double kPlannedSample = 50e-6;

/// The figures that a log has, step by step, in the order in which they were asked for.
class LoggedTimings : public Timings {
  public:
    /// `steps` must outlive it; `what`: the log's name in messages.
    LoggedTimings(const LoggedSteps& steps, std::string what)
        : steps_(&steps), what_(std::move(what)) {}

    /// All of these throw BadInput unless the step's next figure is the one that is asked for.
    Sample sample(const SampleRequest& asked) override;
    ProbeTicks readings(const ProbeRequest& asked) override;
    Calibration calibration(std::size_t size, Workload workload,
                            const std::optional<Calibration>& known = std::nullopt) override;
    RoundEnd round_ended() override;
    void enter(const LoggedStep& step, std::size_t known = 0) override;

    std::size_t left() const; ///< figures of this step

  private:
    template <class Value, class Key> const Value& take(const Key& key);

    const LoggedSteps* steps_;
    std::string what_;
    std::optional<LoggedStep> step_;
    const std::vector<Record>* records_ = nullptr;
    std::size_t at_ = 0;
};

class RunTimings : public Timings {
  public:
    /// `quiet`: without a progress line. `seconds`: of the budget.
    explicit RunTimings(bool quiet, std::optional<double> seconds = std::nullopt);

    /// Writes figures to this log until the budget ends, and first takes those that an earlier run
    /// left there. The log must outlive this.
    void keep(RunLog& log);
    /// From now on `source` has the figures that the log lacks.
    void go_on_with(Timings& source) { source_ = &source; }

    Sample sample(const SampleRequest& asked) override;
    RoundEnd round_ended() override;
    void enter(Stage stage) override;
    void enter(const LoggedStep& step, std::size_t known = 0) override;
    bool has(const LoggedStep& step, const std::string& copy = {}) const override {
        return source_->has(step, copy);
    }
    ProbeTicks readings(const ProbeRequest& asked) override;
    Calibration calibration(std::size_t size, Workload workload,
                            const std::optional<Calibration>& taken_over = std::nullopt) override;

    const DisturbedRounds& disturbed_rounds() const { return disturbed_rounds_; }
    std::size_t samples() const { return samples_; } ///< so far, those of earlier runs included
    /// The seconds that the samples of earlier runs took then.
    double recorded_seconds() const { return recorded_seconds_; }

    Progress progress;
    Budget budget;
    TimeSpent spent;

  private:
    void write(const Record& figure);
    template <class Ask> auto unless_spent(Ask ask);
    double planned_seconds(std::size_t size, Workload workload, bool chooses) const;

    LoggedTimings recorded_;
    Timings* source_ = nullptr;
    RunLog* log_ = nullptr;
    std::optional<LoggedStep> step_, written_step_; ///< the present one; the last one in the log
    DisturbedRounds disturbed_rounds_;
    std::map<std::pair<std::size_t, Workload>, Calibration> planned_; ///< libc's
    double round_seconds_ = 0; ///< that the samples of this round took, all in all
    double round_planned_ = 0; ///< that they were planned to take
    bool round_recorded_ = false;
    std::size_t samples_ = 0;
    double recorded_seconds_ = 0;
};

} // namespace asterope
