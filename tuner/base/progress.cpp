// The progress line on a terminal: how much is done, and how long the rest will take.
#include "base/progress.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unistd.h>
#include <utility>

#include "base/duration_text.hpp"

namespace asterope {

Progress::Progress(double total_work, bool quiet)
    : visible_(!quiet && isatty(STDERR_FILENO)), total_(total_work), begin_(Clock::now()),
      shown_(begin_) {}

Progress::~Progress() {
    clear();
}

void Progress::label(std::string text) {
    label_ = std::move(text);
}

void Progress::advance(double work, bool recorded) {
    done_ += work;
    if (recorded) recorded_ += work;
    if (!visible_) return;
    const auto now = Clock::now();
    if (now - shown_ < std::chrono::milliseconds(200)) return;
    shown_ = now;
    const double elapsed = std::chrono::duration<double>(now - begin_).count();
    const double fraction = std::clamp(done_ / total_, 0.0001, 0.999);
    // What was done here took all the time.
    const double here = std::max(done_ - recorded_, 0.0001 * total_);
    const std::string time_left = format_duration(elapsed * std::max(0.0, total_ - done_) / here);
    std::fprintf(stderr, "\r\033[K%3.0f %%  %s  %s left", 100 * fraction, label_.c_str(),
                 time_left.c_str());
    std::fflush(stderr);
}

void Progress::clear() {
    if (visible_) std::fputs("\r\033[K", stderr);
}

} // namespace asterope
