// Timings of anything that a function times.
#pragma once

#include <functional>
#include <utility>

#include "timing/sample_watch.hpp"
#include "timing/timings.hpp"

namespace asterope {

class TimingsBy : public Timings {
  public:
    explicit TimingsBy(DisturbanceMonitor monitor) : watch_(std::move(monitor)) {}

    /// From now on `seconds(asked)` times an entrant: the seconds of the whole sample, then of each
    /// part. Each sample is planned to cost `cost`, in the unit of the progress line's plan.
    /// `watched`: disturbed rounds are counted, and timed again.
    using Seconds = std::function<std::vector<double>(const SampleRequest& asked)>;
    void time_by(Seconds seconds, double cost, bool watched = true) {
        seconds_ = std::move(seconds);
        cost_ = cost;
        is_watched_ = watched;
    }

    /// Throws Interrupted when the user asked to stop.
    Sample sample(const SampleRequest& asked) override {
        const SampleWatch::Running running = watch_.begin(asked.copy.name);
        std::vector<double> parts = seconds_(asked);
        return {parts.front() * 1e9, running.us(), false, std::move(parts)};
    }
    RoundEnd round_ended() override {
        std::vector<Disturbance> disturbances = watch_.end_round();
        if (!is_watched_) return {.watched = false};
        return {std::move(disturbances)};
    }
    void enter(const LoggedStep&, std::size_t = 0) override { watch_.forget_round(); }
    Calibration calibration(std::size_t, Workload,
                            const std::optional<Calibration>& known = std::nullopt) override {
        return known.value_or(Calibration{1, cost_});
    }

  private:
    SampleWatch watch_;
    Seconds seconds_;
    double cost_ = 0;
    bool is_watched_ = true;
};

} // namespace asterope
