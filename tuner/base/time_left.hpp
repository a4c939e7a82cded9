// Estimates how long the rest of some planned work will take, by the duration of the work so far.
#pragma once

#include <map>
#include <string>

namespace asterope {

/// Estimates without a clock: callers tell the planned and the spent time. A step goes on at its
/// own rate (seconds that it took for one that was planned) as soon as it has one. Until then it
/// goes on at that of all steps together.
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

} // namespace asterope
