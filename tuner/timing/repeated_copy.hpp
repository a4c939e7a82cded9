// Copies between the same two buffers again and again: how a run of calls is timed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/statistics.hpp"
#include "machine/cpu.hpp"
#include "timing/clock.hpp"
#include "timing/placement.hpp"

namespace asterope {

/// Seconds a call of `calls` calls, after `untimed` ones; `run(calls)` makes them.
template <class RunCalls>
double time_calls(const RunCalls& run, std::size_t untimed, std::size_t calls) {
    clean_vector_state(); // upper register halves that the copy before left dirty slow others down
    run(untimed);
    const std::uint64_t begin = ticks();
    run(calls);
    return seconds_between(begin, ticks()) / static_cast<double>(calls);
}

/// The same after an untimed eighth of them, at least three. By then the traces of another copy are
/// gone.
template <class RunCalls> double time_calls(const RunCalls& run, std::size_t calls) {
    return time_calls(run, std::max<std::size_t>(3, calls / 8), calls);
}

/// How many calls take about `wanted_seconds`, where `seconds(calls)` times so many.
template <class Seconds>
std::size_t calls_that_take(double wanted_seconds, const Seconds& seconds) {
    for (std::size_t calls = 1;;) {
        std::vector<double> tries;
        for (int i = 0; i < 5; ++i) tries.push_back(seconds(calls));
        // never less than a nanosecond a call: the clock may not have moved at all
        const double one = std::max(1e-9, median(std::move(tries)));
        const auto wanted = static_cast<std::size_t>(std::max(1.0, wanted_seconds / one));
        if (calls >= wanted / 2) return wanted;
        calls = std::min(calls * 16, wanted);
    }
}

} // namespace asterope
