// The progress line on a terminal: how much is done, and how long the rest will take.
#pragma once

#include <chrono>
#include <string>

#include "base/time_left.hpp"

namespace asterope {

/// Writes to stderr, and only if that is a terminal and `quiet` is false. Work is counted in the
/// seconds that were planned for it, step by step: see TimeLeft.
class Progress {
  public:
    explicit Progress(bool quiet);
    ~Progress();
    void plan(const std::string& step, double seconds) { left_.plan(step, seconds); }
    /// The work from now on belongs to this step: "screening".
    void enter(std::string step);
    /// The rest of the step's plan will not be done.
    void end(const std::string& step) { left_.end(step); }
    /// Planned seconds of the step are done; 0: they did not count. `recorded`: an earlier run did
    /// them.
    void advance(double planned, bool recorded = false);
    /// The part of the step that is being done now: "32 MiB".
    void label(std::string text);
    /// Takes the line off the screen, so that something else can be printed.
    void clear();

  private:
    using Clock = std::chrono::steady_clock;
    bool visible_;
    TimeLeft left_;
    std::string step_, label_;
    Clock::time_point since_, shown_; ///< the last advance; when the line was last written
};

} // namespace asterope
