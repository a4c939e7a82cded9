// Steps without a rate of their own take the rate of all steps together.
#include "base/time_left.hpp"

namespace asterope {

void TimeLeft::done(const std::string& step, double planned, double took) {
    Step& one = steps_[step];
    one.done += planned;
    one.timed += planned;
    one.took += took;
}

double TimeLeft::seconds() const {
    double timed = 0, took = 0, left = 0;
    for (const auto& [name, step] : steps_) {
        timed += step.timed;
        took += step.took;
    }
    const double overall = timed > 0 ? took / timed : 1;
    constexpr double kTelling = 0.05; // of a step: before, its preparing would tell of all of it
    for (const auto& [name, step] : steps_) {
        const bool tells = step.timed > 0 && step.timed >= kTelling * step.planned;
        left += step.left() * (tells ? step.took / step.timed : overall);
    }
    return left;
}

double TimeLeft::share_done() const {
    double done = 0, all = 0;
    for (const auto& [name, step] : steps_) {
        done += step.done;
        all += step.done + step.left();
    }
    return all > 0 ? done / all : 0;
}

} // namespace asterope
