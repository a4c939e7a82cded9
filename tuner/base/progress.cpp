// Rewrites one line of stderr, at most five times a second. Steps without a rate of their own take
// the rate of all steps together.
#include "base/progress.hpp"

#include <algorithm>
#include <cstdio>
#include <unistd.h>
#include <utility>

#include "base/duration_text.hpp"

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

Progress::Progress(bool quiet)
    : visible_(!quiet && isatty(STDERR_FILENO)), since_(Clock::now()), shown_(since_) {}

Progress::~Progress() {
    clear();
}

void Progress::enter(std::string step) {
    // Work since the last advance, such as preparing, took time of the step that ends.
    const auto now = Clock::now();
    if (!step_.empty()) left_.done(step_, 0, std::chrono::duration<double>(now - since_).count());
    step_ = std::move(step);
    since_ = now;
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
    constexpr double kTold = 0.03; // before that, one step's first rounds would tell of all
    const double done = left_.share_done();
    const std::string left = done < kTold ? "" : "  " + format_duration(left_.seconds()) + " left";
    std::fprintf(stderr, "\r\033[K%3.0f %%  %s%s", 100 * std::min(done, 0.999), what.c_str(),
                 left.c_str());
    std::fflush(stderr);
}

void Progress::clear() {
    if (visible_) std::fputs("\r\033[K", stderr);
}

} // namespace asterope
