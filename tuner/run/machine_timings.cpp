// Each figure comes from the stopwatch, rounded as the log writes it. Impossible times are timed
// again.
#include "run/machine_timings.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "search/sensing_search.hpp"

namespace asterope {

namespace {

/// Bytes a side for small copies where the sources of the others are mapped. Small copies have
/// working sets in caches, and a device's memory does not get into these.
constexpr std::size_t kSmallArena = std::size_t{64} << 20;

/// A counter that jumps back makes a sample of centuries, or of 0 s. The disturbance monitor judges
/// other strange times: a stopped and continued process may well need hours for a sample.
bool is_a_time(double seconds) {
    return seconds > 0 && seconds < 1e8;
}

/// Tries of one sample, before the clock counts as broken.
constexpr int kTries = 5;

std::size_t largest_of(const std::vector<Plan>& plans) {
    std::size_t largest = 0;
    for (const Plan& plan : plans) largest = std::max(largest, plan.sizes.back());
    return largest;
}

} // namespace

MachineTimings::MachineTimings(const std::vector<Plan>& plans, const Machine& machine,
                               std::uint64_t seed, int cpu, const Budget& budget)
    : watch_(DisturbanceMonitor(cpu)),
      arena_(arena_bytes(largest_of(plans), machine), plans.front().source_map), budget_(budget) {
    if (arena_.maps_source()) small_arena_.emplace(kSmallArena);
    for (const Plan& plan : plans) {
        const SmallCalls small = {machine.caches,   plan.statistics,
                                  kLargestMixed,    seed,
                                  Weighting::calls, small_arena_ ? &*small_arena_ : nullptr};
        stopwatches_.try_emplace(plan.operation, arena_, largest_of(plans),
                                 last_cache_bytes(machine), small, plan.operation);
    }
    stopwatch_ = &stopwatches_.begin()->second;
}

MachineTimings::MachineTimings(std::size_t largest_size, const Machine& machine, int cpu,
                               const Budget& budget)
    : watch_(DisturbanceMonitor(cpu)), arena_(arena_bytes(largest_size, machine)), budget_(budget) {
    for (const OperationFacts& facts : kOperations) {
        const Operation one = facts.operation;
        const SmallCalls small = {machine.caches, fleet_statistics(one)};
        stopwatches_.try_emplace(one, arena_, largest_size, last_cache_bytes(machine), small, one);
    }
    stopwatch_ = &stopwatches_.begin()->second;
}

void MachineTimings::throw_if_over() const {
    throw_if_interrupted();
    budget_.throw_if_spent();
}

void MachineTimings::enter(const LoggedStep& step, std::size_t) {
    watch_.forget_round();
    stopwatch_ = &stopwatches_.at(step.operation);
}

Sample MachineTimings::sample(const SampleRequest& asked) {
    budget_.throw_if_spent();
    for (int i = 0; i < kTries; ++i) {
        const SampleWatch::Running running = watch_.begin(asked.copy.name);
        const double seconds =
            stopwatch_->time(asked.copy, asked.workload, asked.size, asked.round);
        const double us = running.us();
        if (!is_a_time(seconds)) continue;
        // The log's rounded figure is the one in use. Otherwise a resumed run would see other
        // figures. Thousandths of a nanosecond are beyond any clock here; no time is 0, though.
        return {std::max(1.0, std::round(seconds * 1e9 * 1e3)) / 1e3,
                std::max(1.0, std::round(us * 10)) / 10};
    }
    throw Failure("the time stamp counter jumps: nothing can be timed here");
}

ProbeTicks MachineTimings::readings(const ProbeRequest& asked) {
    throw_if_over();
    ReadingCopy reading{asked.probe, asked.copy, {}};
    for (std::uint64_t round = 0; reading.ticks.source.size() < asked.least; ++round) {
        TimedCopy copy{&ReadingCopy::run, argument_of(reading), asked.copy.cache_effect};
        copy.operation = asked.copy.operation;
        stopwatch_->time(copy, asked.workload, asked.size, round);
        if (round == 0) reading.ticks = {}; // its calls find the caches as another copy left them
    }
    return reading.ticks;
}

Calibration MachineTimings::calibration(std::size_t size, Workload workload,
                                        const std::optional<Calibration>& known) {
    if (known) {
        stopwatch_->set_calibration(size, workload, *known);
    } else {
        throw_if_over();
        stopwatch_->calibrate(size, workload, sample_seconds(workload));
    }
    return stopwatch_->calibration(size, workload);
}

} // namespace asterope
