// The clock of all timings: the CPU's time stamp counter, calibrated, or the system's clock.
#pragma once

#include <cstdint>
#include <utility>

namespace asterope {

/// Chooses the clock: the time stamp counter where `invariant_counter` says that it runs at one
/// rate, calibrated against CLOCK_MONOTONIC; the latter itself otherwise. Call it once before any
/// timing.
void start_clock(bool invariant_counter);

/// Now, in ticks: everything before it has finished, nothing after it has begun.
std::uint64_t ticks();

double seconds_between(std::uint64_t begin, std::uint64_t end);

/// ticks() and the nanoseconds of CLOCK_MONOTONIC at one moment. Of so many readings the tightest
/// counts, as an interruption between the two would look like a jump of one of them.
std::pair<std::uint64_t, std::int64_t> read_clocks(int tries);

/// Ticks a second, as calibrated.
double tick_rate();

} // namespace asterope
