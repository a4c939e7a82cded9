// Rewrites one line of stderr, at most five times a second; TimeLeft estimates the rest.
#include "base/progress.hpp"

#include <algorithm>
#include <cstdio>
#include <unistd.h>
#include <utility>

#include "base/duration_text.hpp"

namespace asterope {

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
