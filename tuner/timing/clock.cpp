// Calibration reads both clocks together many times and keeps the pair that was read the fastest.
#include "timing/clock.hpp"

#include <ctime>
#include <tuple>

#include "machine/cpu.hpp"

namespace asterope {

namespace {

bool use_counter = false;
double rate = 1e9;

std::int64_t system_nanoseconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

} // namespace

void start_clock(bool invariant_counter) {
    constexpr double kNanoseconds = 50e6;
    use_counter = invariant_counter;
    rate = 1e9;
    if (!use_counter) return;
    const auto [first_ticks, first] = read_clocks(20);
    std::uint64_t last_ticks = 0;
    std::int64_t last = 0;
    do {
        std::tie(last_ticks, last) = read_clocks(20);
    } while (static_cast<double>(last - first) < kNanoseconds);
    rate = 1e9 * static_cast<double>(last_ticks - first_ticks) / static_cast<double>(last - first);
}

std::pair<std::uint64_t, std::int64_t> read_clocks(int tries) {
    std::pair<std::uint64_t, std::int64_t> reading;
    std::uint64_t tightest = ~std::uint64_t{0};
    for (int i = 0; i < tries; ++i) {
        const std::uint64_t before = ticks();
        const std::int64_t now = system_nanoseconds();
        const std::uint64_t took = ticks() - before;
        if (took < tightest) {
            tightest = took;
            reading = {before + took / 2, now};
        }
    }
    return reading;
}

std::uint64_t ticks() {
    return use_counter ? counter_now() : static_cast<std::uint64_t>(system_nanoseconds());
}

double seconds_between(std::uint64_t begin, std::uint64_t end) {
    return static_cast<double>(end - begin) / rate;
}

double tick_rate() {
    return rate;
}

} // namespace asterope
