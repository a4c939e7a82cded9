// Watches the samples that are taken on this machine, and the disturbances of their rounds.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/interrupt.hpp"
#include "base/watched_run.hpp"
#include "timing/disturbance_monitor.hpp"

namespace asterope {

class SampleWatch {
  public:
    explicit SampleWatch(DisturbanceMonitor monitor) : monitor_(std::move(monitor)) {}

    /// A sample while it is taken. A crash in it is told by the name of its copy.
    class Running {
      public:
        explicit Running(const std::string& copy) : calling_(copy) {}
        /// Microseconds so far, with the untimed parts of the sample.
        double us() const {
            return std::chrono::duration<double, std::micro>(Clock::now() - began_).count();
        }

      private:
        using Clock = std::chrono::steady_clock;
        const Calling calling_;
        const Clock::time_point began_ = Clock::now();
    };

    /// Begins a sample of this copy, and a round where none is running. Throws Interrupted when the
    /// user asked to stop.
    Running begin(const std::string& copy) {
        throw_if_interrupted();
        if (!in_round_) monitor_.begin_round();
        in_round_ = true;
        return Running(copy);
    }
    /// Returns the disturbances from the round's first sample to now.
    std::vector<Disturbance> end_round() {
        if (!std::exchange(in_round_, false)) return {};
        return monitor_.end_round();
    }
    void forget_round() { in_round_ = false; }

  private:
    DisturbanceMonitor monitor_;
    bool in_round_ = false;
};

} // namespace asterope
