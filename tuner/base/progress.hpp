// The progress line on a terminal: how much is done, and how long the rest will take.
#pragma once

#include <chrono>
#include <map>
#include <string>

namespace asterope {

/// Estimates without a clock: callers tell the planned and the spent time. A step goes on at its
/// own rate (seconds that it took for one that was planned) once a twentieth of it was done here.
/// Until then it goes on at that of all steps together.
class TimeLeft {
  public:
    /// Adds seconds to the step's plan.
    void plan(const std::string& step, double seconds) { steps_[step].planned += seconds; }

    /// `planned` seconds of it are done and took `took` seconds; 0 where they have to be done
    /// again.
    void done(const std::string& step, double planned, double took);

    /// The same for work of an earlier run, which does not tell how fast this one is.
    void done_before(const std::string& step, double planned) { steps_[step].done += planned; }

    /// The rest of the step's plan will not be done.
    void end(const std::string& step) { steps_[step].planned = steps_[step].done; }

    /// Seconds; as planned, while nothing is done.
    double seconds() const;
    /// The done share of the plan, from 0 to 1.
    double share_done() const;

  private:
    struct Step {
        double planned = 0, done = 0;
        double timed = 0, took = 0; ///< planned seconds that were done here, and their real seconds
        double left() const { return done < planned ? planned - done : 0; }
    };
    std::map<std::string, Step> steps_;
};

/// Writes to stderr, and only if that is a terminal and `quiet` is false. Work is counted in the
/// seconds that were planned for it, step by step.
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
    void label(std::string text) { label_ = std::move(text); }
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
