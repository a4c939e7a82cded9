// The progress line on a terminal: how much of some planned work is done, and how long the rest
// will take.
#include "base/progress.hpp"

#include <algorithm>
#include <cstdio>
#include <unistd.h>
#include <utility>

#include "base/size_text.hpp"

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
    for (const auto& [name, step] : steps_) {
        left += step.left() * (step.timed > 0 ? step.took / step.timed : overall);
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

Progress::Progress(bool quiet)
    : visible_(!quiet && isatty(STDERR_FILENO)), since_(Clock::now()), shown_(since_) {}

Progress::~Progress() {
    clear();
}

void Progress::enter(std::string step) {
    step_ = std::move(step);
    since_ = Clock::now(); // what was done between the steps is of none
}

void Progress::label(std::string text) {
    label_ = std::move(text);
}

void Progress::advance(double planned, bool recorded) {
    const auto now = Clock::now();
    const double took = std::chrono::duration<double>(now - since_).count();
    since_ = now;
    if (recorded) {
        left_.done_before(step_, planned);
    } else {
        left_.done(step_, planned, took);
    }
    if (!visible_ || now - shown_ < std::chrono::milliseconds(200)) return;
    shown_ = now;
    const std::string what = step_ + (step_.empty() || label_.empty() ? "" : " ") + label_;
    std::fprintf(stderr, "\r\033[K%3.0f %%  %s  %s left", 100 * std::min(left_.share_done(), 0.999),
                 what.c_str(), format_duration(left_.seconds()).c_str());
    std::fflush(stderr);
}

void Progress::clear() {
    if (visible_) std::fputs("\r\033[K", stderr);
}

} // namespace asterope
