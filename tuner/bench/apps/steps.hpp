// What the applications of asterope-bench have in common: the paired comparison of their steps, its
// table, and options.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/statistics.hpp"
#include "machine/machine.hpp"
#include "timing/monitored_rounds.hpp"
#include "timing/paired.hpp"

namespace CLI {
class App;
}

namespace asterope {

/// Seconds of each step of one trial, as many in every trial, the whole first.
using StepTrial = std::function<std::vector<double>(int entrant, std::uint64_t round)>;

/// Runs `trial` for each entrant in each round, in shuffled order. Each step is compared by itself,
/// over the same trials: so many comparisons come back. `watched`: repeats disturbed rounds; null
/// where other processes copy, which it does not see.
std::vector<Paired> pair_steps(const std::vector<int>& entrants, int rounds, const StepTrial& trial,
                               MonitoredRounds* watched = nullptr);

/// Paired asks for a workload; in an application there is but one.
inline constexpr Workload kAnyWorkload = Workload::hot;

/// The copies that take turns in an application: libc's twice, for the noise floor.
enum AppCopy { kAppLibc, kAppRoutine, kAppLibcAgain };

/// One step of an application. Times are medians in seconds; ratios are medians over the rounds,
/// with their intervals.
struct Step {
    double libc, ours;
    Estimate ratio; ///< libc's time over that with the routine: above 1, the routine is faster
    Estimate floor; ///< libc's over libc's: the noise floor
};

/// pair_steps() of each AppCopy.
std::vector<Step> compare_steps(int rounds, const StepTrial& trial,
                                MonitoredRounds* watched = nullptr);

/// The table's head and its rows: behind `label`, times, throughput where a step moves `bytes`, the
/// ratio and the floor.
std::string step_header(std::string label);
std::string step_row(std::string label, const Step& step, std::size_t bytes);

/// "what: 1.21 geometric mean, least 1.12" of libc's time over ours.
std::string ratio_summary(const std::string& what, const std::vector<double>& ratios);

/// How many times to do what moves `each` bytes so that it moves `bytes`; four times at least.
unsigned times_for(std::size_t bytes, std::size_t each);

/// How many bytes a copy moves, untimed, before its turn is timed: as many as the last cache holds,
/// so that none of what another copy left is written back in this one's turn. At most 64 MiB: a
/// shared cache may be said to be larger than what this machine has of it.
std::size_t settling_bytes_of(const Machine& machine);

/// Bytes that may be taken; half of all where the system does not say what is free.
std::size_t usable_bytes(const Machine& machine);

/// For what exceeds that: "`needs` more than the 512 MiB that may be taken: make it smaller".
BadInput too_large(const std::string& needs, const Machine& machine);

/// --past-page: where the application's own buffers, `whose`, begin.
void add_past_page(CLI::App& command, std::size_t& past_page, const std::string& whose);

} // namespace asterope
