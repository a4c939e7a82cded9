// Each disturbance is found by comparing two looks at the machine's counters, with tolerances.
#include "timing/disturbance_monitor.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <memory>
#include <sched.h>
#include <string>
#include <sys/resource.h>
#include <tuple>
#include <unistd.h>

#include "base/descriptor.hpp"
#include "timing/clock.hpp"

namespace asterope {

namespace {

/// Both clocks must count the same time within this share, plus this much for reading them one
/// after the other. A clock that is being set right runs up to 0.05 % off, see adjtimex(2).
constexpr double kClockShare = 0.01, kClockSeconds = 50e-6;

/// A thread that is pinned and never waits is on the CPU all the time. Its counted time may lack
/// that of interrupts, which some kernels do not count as the thread's. Shorter absences are seen
/// only by their causes. They make a sample or two of a round outliers, which medians bear.
constexpr double kOffShare = 0.01, kOffNanoseconds = 1e6;

/// Steps of 100 MHz are 2 to 4 % of a frequency. The CPU takes one step whenever a neighbour core
/// wakes; two or more are another state. Between rounds it may change: only times of one round are
/// compared. (Rejected: taking the median of the last 31 rounds as normal. Where the frequency
/// wanders, a fifth of the rounds was repeated that were steady in themselves.)
constexpr double kFrequencyShare = 0.05;

std::optional<std::int64_t> nanoseconds_of(clockid_t clock) {
    timespec now;
    if (clock_gettime(clock, &now) != 0) return std::nullopt;
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// Steal time of one CPU. The kernel counts it in steps of 10 ms. Writing /proc/stat takes the
/// kernel 6 us where there are 2 CPUs, and longer the more CPUs and interrupts there are. So it is
/// read every 10 ms at most, and for half a percent of the time at most.
///
/// Time that is stolen in small pieces therefore appears once the pieces sum up to a step. Of
/// several short rounds, the one before the reading is blamed. That serves the account of the run.
/// The round itself is seen to be hit by MachineCounters::busy, from which the kernel takes stolen
/// time at once.
class StealTime {
  public:
    explicit StealTime(int cpu)
        : file_(open("/proc/stat", O_RDONLY | O_CLOEXEC)),
          line_("\ncpu" + std::to_string(cpu) + ' '),
          text_(static_cast<std::size_t>(std::max(cpu, 0) + 2) * kLine, '\0') {}
    /// The steal time at the last reading; `now` in nanoseconds.
    std::optional<std::uint64_t> at(std::int64_t now) {
        if (file_ && now >= next_) {
            steal_ = read();
            const std::int64_t took = nanoseconds_of(CLOCK_MONOTONIC).value_or(now) - now;
            next_ = now + std::max<std::int64_t>(10'000'000, 200 * took);
        }
        return steal_;
    }

  private:
    static constexpr std::size_t kLine = 256; ///< ten numbers

    std::optional<std::uint64_t> read() {
        const ssize_t bytes = pread(file_.get(), text_.data(), text_.size() - 1, 0);
        if (bytes <= 0) return std::nullopt;
        text_[static_cast<std::size_t>(bytes)] = '\0';
        const char* const found = std::strstr(text_.c_str(), line_.c_str());
        std::uint64_t steal = 0;
        // user nice system idle iowait irq softirq steal: proc(5)
        const bool there =
            found &&
            std::sscanf(found + line_.size(), "%*u %*u %*u %*u %*u %*u %*u %" SCNu64, &steal) == 1;
        return there ? std::optional(steal) : std::nullopt;
    }

    const Descriptor file_;
    std::string line_; ///< the text before the numbers
    std::string text_;
    std::int64_t next_ = 0;
    std::optional<std::uint64_t> steal_;
};

/// Ticks for a chain of dependent multiplications: they take three cycles each on any core. A chain
/// of additions would not measure that: some cores add constants while renaming. The quickest of a
/// few tries counts, as an interrupt only ever adds time.
std::uint64_t cycle_ticks() {
    std::uint64_t quickest = ~std::uint64_t{0};
    for (int i = 0; i < 3; ++i) {
        const std::uint64_t begin = ticks();
        std::uint64_t product = begin;
        for (int link = 0; link < 333; ++link) {
            product *= 0x9e3779b97f4a7c15;
            __asm__ volatile("" : "+r"(product)); // no two of them may become one
        }
        quickest = std::min(quickest, ticks() - begin);
    }
    return quickest;
}

std::optional<std::int64_t> involuntary_switches() {
    rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) != 0) return std::nullopt;
    return usage.ru_nivcsw;
}

/// Whether the thread's time is counted as it passes. Some sandboxes count it in steps of 10 ms:
/// longer than a round, which would seem to have been off the CPU all along.
bool counts_busy_time() {
    const auto begin = nanoseconds_of(CLOCK_MONOTONIC);
    const auto busy = nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
    if (!begin || !busy) return false;
    while (nanoseconds_of(CLOCK_MONOTONIC).value_or(*begin + 50'000) < *begin + 50'000) {
    }
    return nanoseconds_of(CLOCK_THREAD_CPUTIME_ID).value_or(*busy) > *busy;
}

/// False where one of the two is not known.
bool frequency_jumped(const MachineCounters& begin, const MachineCounters& end) {
    if (!begin.cycle_ticks || !end.cycle_ticks) return false;
    const auto before = static_cast<double>(*begin.cycle_ticks),
               after = static_cast<double>(*end.cycle_ticks);
    return std::abs(after - before) > kFrequencyShare * before;
}

template <typename T> bool grew(const std::optional<T>& begin, const std::optional<T>& end) {
    return begin && end && *end > *begin;
}

} // namespace

std::string name_of(Disturbance disturbance) {
    constexpr const char* kNames[] = {"steal",     "preempted", "migrated",
                                      "frequency", "clock",     "stalled"};
    return kNames[static_cast<std::size_t>(disturbance)];
}

std::optional<Disturbance> parse_disturbance(std::string_view name) {
    for (const Disturbance disturbance : kDisturbances) {
        if (name == name_of(disturbance)) return disturbance;
    }
    return std::nullopt;
}

std::function<MachineCounters()> counters_of_machine(int cpu) {
    // shared: a std::function must be able to be copied
    return [steal = std::make_shared<StealTime>(cpu), counts_busy = counts_busy_time()] {
        MachineCounters counters;
        counters.cycle_ticks = cycle_ticks();
        counters.steal = steal->at(nanoseconds_of(CLOCK_MONOTONIC).value_or(0));
        counters.switches = involuntary_switches();
        if (const int here = sched_getcpu(); here >= 0) counters.cpu = here;
        std::tie(counters.ticks, counters.nanoseconds) = read_clocks(3);
        if (counts_busy) counters.busy = nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
        return counters;
    };
}

void DisturbanceMonitor::begin_round() {
    begin_ = look_();
}

std::vector<Disturbance> DisturbanceMonitor::end_round() {
    MachineCounters end = look_();
    // Believed only when it is seen twice: an interrupt may hit all tries of one look.
    if (frequency_jumped(begin_, end)) end.cycle_ticks = look_().cycle_ticks;
    const double nanoseconds = static_cast<double>(end.nanoseconds - begin_.nanoseconds);
    std::vector<Disturbance> hits;
    const auto check = [&](Disturbance disturbance, bool hit) {
        if (hit) hits.push_back(disturbance);
    };
    const auto is_elsewhere = [&](const MachineCounters& counters) {
        return counters.cpu.value_or(cpu_) != cpu_;
    };
    check(Disturbance::steal, grew(begin_.steal, end.steal));
    check(Disturbance::preempted, grew(begin_.switches, end.switches));
    check(Disturbance::migrated, is_elsewhere(begin_) || is_elsewhere(end));
    check(Disturbance::frequency, frequency_jumped(begin_, end));
    const double seconds = nanoseconds / 1e9;
    const double counted = static_cast<double>(end.ticks - begin_.ticks) / tick_rate_;
    check(Disturbance::clock,
          end.ticks < begin_.ticks ||
              std::abs(counted - seconds) > kClockShare * seconds + kClockSeconds);
    if (begin_.busy && end.busy) {
        // A host that stops the whole machine is not seen here: to the guest it is a long copy.
        const double off = nanoseconds - static_cast<double>(*end.busy - *begin_.busy);
        check(Disturbance::stalled, off > kOffShare * nanoseconds + kOffNanoseconds);
    }
    return hits;
}

} // namespace asterope
