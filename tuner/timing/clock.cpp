// The clock of all timings: the CPU's time stamp counter, calibrated, or the system's clock.
#include "timing/clock.hpp"

#include <ctime>

#include "machine/cpu.hpp"

namespace asterope {

namespace {

bool use_counter = false;
double rate = 1e9;

std::uint64_t system_nanoseconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
           static_cast<std::uint64_t>(now.tv_nsec);
}

} // namespace

void start_clock(bool invariant_counter, double seconds) {
    use_counter = invariant_counter;
    rate = 1e9;
    if (!use_counter) return;
    // The system clock is read between two readings of the counter; of several such pairs the
    // tightest is taken at each end, as an interruption only ever widens them.
    const auto sample = [](std::uint64_t& counter, std::uint64_t& nanoseconds) {
        std::uint64_t tightest = ~std::uint64_t{0};
        for (int i = 0; i < 20; ++i) {
            const std::uint64_t before = counter_now();
            const std::uint64_t now = system_nanoseconds();
            const std::uint64_t after = counter_now();
            if (after - before < tightest) {
                tightest = after - before;
                counter = before + (after - before) / 2;
                nanoseconds = now;
            }
        }
    };
    std::uint64_t counter[2] = {}, nanoseconds[2] = {};
    sample(counter[0], nanoseconds[0]);
    do {
        sample(counter[1], nanoseconds[1]);
    } while (static_cast<double>(nanoseconds[1] - nanoseconds[0]) < seconds * 1e9);
    rate = 1e9 * static_cast<double>(counter[1] - counter[0]) /
           static_cast<double>(nanoseconds[1] - nanoseconds[0]);
}

std::uint64_t ticks() {
    return use_counter ? counter_now() : system_nanoseconds();
}

double seconds_between(std::uint64_t begin, std::uint64_t end) {
    return static_cast<double>(end - begin) / rate;
}

double tick_rate() {
    return rate;
}

} // namespace asterope
