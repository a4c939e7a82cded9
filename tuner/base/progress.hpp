// The progress line on a terminal: how much is done, and how long the rest will take.
#pragma once

#include <chrono>
#include <string>

namespace asterope {

/// Writes to stderr, and only if that is a terminal and `quiet` is false. Work is counted in any
/// unit; the time left assumes that the rest goes on as fast as what is done.
class Progress {
  public:
    Progress(double total_work, bool quiet);
    ~Progress();
    /// `recorded`: the work was done by an earlier run, and took no time in this one.
    void advance(double work, bool recorded = false);
    /// What is being done now: "32 MiB".
    void label(std::string text);
    /// Takes the line off the screen, so that something else can be printed.
    void clear();

  private:
    using Clock = std::chrono::steady_clock;
    bool visible_;
    double total_, done_ = 0, recorded_ = 0;
    std::string label_;
    Clock::time_point begin_, shown_;
};

} // namespace asterope
