// Watches the machine during a round of timings, for disturbances that the copies did not cause.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "timing/clock.hpp"

namespace asterope {

enum class Disturbance {
    steal,     ///< The host gave the CPU's time to another virtual machine.
    preempted, ///< The kernel gave the CPU to another thread.
    migrated,  ///< The thread ran on another CPU than the one it is pinned to.
    frequency, ///< The CPU ran faster or slower at the end than at the beginning.
    clock,     ///< The time stamp counter and the system's clock disagree, or it ran backwards.
    stalled,   ///< The thread was off the CPU for long: stopped and continued, waiting, stolen.
};
inline constexpr Disturbance kDisturbances[] = {Disturbance::steal,    Disturbance::preempted,
                                                Disturbance::migrated, Disturbance::frequency,
                                                Disturbance::clock,    Disturbance::stalled};

/// The name in the sample log and the profile.
std::string name_of(Disturbance disturbance);

/// The one of that name, if there is one.
std::optional<Disturbance> parse_disturbance(std::string_view name);

/// The counters of one look at the machine. A counter that the machine does not tell stays empty,
/// and nothing is concluded from it.
struct MachineCounters {
    std::uint64_t ticks = 0;                   ///< See asterope::ticks().
    std::int64_t nanoseconds = 0;              ///< CLOCK_MONOTONIC at the same moment.
    std::optional<std::int64_t> busy = {};     ///< Nanoseconds that this thread had a CPU.
    std::optional<std::int64_t> switches = {}; ///< Involuntary ones, of this thread.
    std::optional<int> cpu = {};               ///< The CPU that the thread runs on.
    std::optional<std::uint64_t> steal = {};   ///< Stolen from the watched CPU, in USER_HZ (10 ms).
    std::optional<std::uint64_t> cycle_ticks = {}; ///< Of a fixed number of the CPU's cycles.
};

/// Looks at this machine, and for stolen time at `cpu`. Switches and busy time are those of the
/// thread that calls it. Throws nothing: where a file or a call is missing, that field is empty.
std::function<MachineCounters()> counters_of_machine(int cpu);

/// Compares a look before each round with one after it.
class DisturbanceMonitor {
  public:
    /// `cpu`: the one the thread is pinned to. `tick_rate`: of MachineCounters::ticks, a second.
    DisturbanceMonitor(int cpu, std::function<MachineCounters()> look, double tick_rate)
        : cpu_(cpu), look_(std::move(look)), tick_rate_(tick_rate) {}
    /// Watches this machine. start_clock() comes first.
    explicit DisturbanceMonitor(int cpu)
        : DisturbanceMonitor(cpu, counters_of_machine(cpu), asterope::tick_rate()) {}

    void begin_round();

    /// The disturbances of the round that begin_round() began: each at most once, in the order
    /// above.
    std::vector<Disturbance> end_round();

  private:
    int cpu_;
    std::function<MachineCounters()> look_;
    double tick_rate_;
    MachineCounters begin_;
};

} // namespace asterope
