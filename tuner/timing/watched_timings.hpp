// Takes each sample on this machine when it is asked for. A monitor looks for disturbances from a
// round's first sample to its end.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "base/interrupt.hpp"
#include "base/watched_run.hpp"
#include "timing/disturbance_monitor.hpp"
#include "timing/timings.hpp"

namespace asterope {

class WatchedTimings : public Timings {
  public:
    explicit WatchedTimings(DisturbanceMonitor monitor) : monitor_(std::move(monitor)) {}

    /// Throws Interrupted when the user asked to stop.
    Sample sample(const SampleRequest& asked) override {
        using Clock = std::chrono::steady_clock;
        throw_if_interrupted();
        if (!in_round_) monitor_.begin_round();
        in_round_ = true;
        const Calling calling(asked.copy.name);
        const Clock::time_point began = Clock::now();
        const double seconds = time(asked);
        const std::chrono::duration<double, std::micro> took = Clock::now() - began;
        return {seconds * 1e9, took.count()};
    }
    RoundEnd round_ended() override {
        if (!std::exchange(in_round_, false)) return {};
        return {monitor_.end_round()};
    }
    /// Forgets a round that was not ended.
    void enter(const LoggedStep&, std::size_t = 0) override { in_round_ = false; }

  private:
    /// Seconds of the entrant.
    virtual double time(const SampleRequest& asked) = 0;

    DisturbanceMonitor monitor_;
    bool in_round_ = false;
};

/// Those of anything that a function times.
class TimingsBy : public WatchedTimings {
  public:
    using WatchedTimings::WatchedTimings;

    /// From now on `seconds(asked)` times an entrant, and each sample is planned to take `planned`
    /// seconds.
    using Seconds = std::function<double(const SampleRequest& asked)>;
    void time_by(Seconds seconds, double planned) {
        seconds_ = std::move(seconds);
        planned_ = planned;
    }
    Calibration calibration(std::size_t, Workload,
                            const std::optional<Calibration>& known = std::nullopt) override {
        return known.value_or(Calibration{1, planned_});
    }

  private:
    double time(const SampleRequest& asked) override { return seconds_(asked); }

    Seconds seconds_;
    double planned_ = 0;
};

} // namespace asterope
