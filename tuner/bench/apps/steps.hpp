// Paired comparison of an application's steps: libc's copy, the routine, and libc's copy again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "timing/monitored_rounds.hpp"

namespace asterope {

/// Who copies in an application's trial, as an index: libc twice, for the noise floor.
enum AppCopy { kAppLibc, kAppRoutine, kAppLibcAgain };

/// One step of an application. Times are medians in seconds; ratios are medians over the rounds,
/// with their intervals.
struct Step {
    double libc, ours;
    Estimate ratio; ///< libc's time over that with the routine: above 1, the routine is faster
    Estimate floor; ///< libc's over libc's: the noise floor
};

/// Runs `trial(copy, round)` for each AppCopy in each round, in shuffled order. It returns the
/// seconds of each step, as many in every trial; so many results come back. Each step is compared
/// by itself, over the same trials. `watched`: repeats disturbed rounds; null where other processes
/// copy, which it does not see.
using StepTrial = std::function<std::vector<double>(int copy, std::uint64_t round)>;
std::vector<Step> compare_steps(int rounds, const StepTrial& trial,
                                MonitoredRounds* watched = nullptr);

/// "     1.21  (1.20..1.22)  (0.99..1.01)": the columns that all tables of applications end with.
std::string ratio_columns(const Step& step);

/// "what: 1.21 geometric mean, least 1.12" of libc's time over ours.
std::string ratio_summary(const std::string& what, const std::vector<double>& ratios);

} // namespace asterope
