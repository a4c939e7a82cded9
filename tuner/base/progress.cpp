// The progress line on a terminal: how much is done, and how long the rest will take.
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
