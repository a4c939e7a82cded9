// Times the ways in which glibc's memcpy can copy, and one setting of its tunables, size by size.
#pragma once

#include <map>
#include <vector>

#include "run/run_timings.hpp"
#include "search/race.hpp"
#include "search/search.hpp"
#include "timing/remote_copy.hpp"
#include "tunables/thresholds.hpp"

namespace asterope {

/// The gain of the chosen setting at one size.
struct SizeGain {
    std::size_t size;
    Way before, after;
    Estimate ratio, floor;
    double worth; ///< see worth_of(); 0 where the way is the same: only noise differs
    std::map<Workload, Measured> workloads;
    std::map<Workload, Estimate> floors; ///< of the workloads
};

/// The worth of a ratio to the choice: its score in the race (see utility()), where the ratio is
/// clear, or where the score is a loss beyond the floor and 2 %; else 0.
double worth_of(const Estimate& ratio, const Estimate& floor, double score);

/// Whether it is farther from 1 than the floor and 1 %, and its interval excludes 1.
bool is_clear(const Estimate& ratio, const Estimate& floor);

/// How a measurement goes.
struct Course {
    std::vector<std::size_t> sizes; ///< ascending
    Objective objective;
    Rigor rigor;
    RemoteSetup setup;
    RunTimings& timings;
};

/// The settings of the processes in which memcpy copies in one way at as many sizes as possible.
std::vector<LibcThresholds> settings_of_ways(const Knobs& knobs, std::size_t largest);

/// Plans the steps, by about the seconds that they take, but no refining: it may not be needed.
void plan(const Course& course, const Knobs& knobs);

struct ThresholdChoice {
    Knobs knobs; ///< with two facts of the processes: the stop that holds, and whether it follows
    std::vector<SizeWays> ways;
    CopyThresholds thresholds;
};

/// Races the ways at each size and chooses the thresholds, each found more exactly between the two
/// sizes where the ways change places.
ThresholdChoice measure_and_choose(const Course& course, Knobs knobs);

/// Times the setting beside the default in separate processes, at all sizes and in all situations.
/// Situations of weight 0 are included.
std::vector<SizeGain> measure_gains(const Course& course, const ThresholdChoice& choice);

} // namespace asterope
