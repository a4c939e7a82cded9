// The suite states: situations in which a routine that chooses by what it finds, or by classes of
// sizes, may be slow for ever: the same buffer again and again from pages that nobody has touched;
// unpredictable sizes that all are as likely; buffers that lie across a page's end.
#include <algorithm>

#include "base/size_text.hpp"
#include "bench/suite.hpp"
#include "timing/fresh_memory.hpp"
#include "timing/repeated_copy.hpp"
#include "timing/stopwatch.hpp"

namespace asterope {

namespace {

constexpr const char* kSuite = "states";
constexpr double kRepeatedSeconds = 50e-6;
constexpr double kRepeatedBytesPerSecond = 8e9; ///< about what a copy does, page faults included

/// From which size to which, in bytes.
constexpr std::pair<std::size_t, std::size_t> kRanges[] = {
    {1, 63}, {1, 48}, {16, 64}, {0, 1}, {0, 8}};
constexpr std::size_t kAcrossPages[] = {256, 600, 800, 1000};

/// One buffer of `size` bytes again and again. `place()` is where it is in a trial.
template <class Place>
Job repeated(const Setting& setting, const Arena& arena, const std::string& workload,
             std::size_t size, Place place) {
    Job job{kSuite, workload, {format_size(size)}, size};
    const auto calls = std::make_shared<std::size_t>(0); // in one trial
    const auto time = [=, &arena](const TimedCopy& copy, std::uint64_t round, std::size_t times) {
        const auto buffer = place(round);
        return time_calls(
            [function = copy.function, to = buffer.to,
             second = SecondArgument(copy)(arena.source()), size](std::size_t left) {
                for (; left; --left) function(to, second, size, 0);
            },
            times);
    };
    job.trial_seconds =
        kRepeatedSeconds * 1.2 + 6 * static_cast<double>(size) / kRepeatedBytesPerSecond;
    job.prepare = [=, &setting] {
        const TimedCopy libc = setting.timed(setting.contenders.front());
        *calls = std::max<std::size_t>(4, calls_that_take(kRepeatedSeconds, [&](std::size_t some) {
                                           return time(libc, 0, some);
                                       }));
    };
    job.time = [=, &setting](const Contender& contender, std::uint64_t round, int) {
        return time(setting.timed(contender), round, *calls);
    };
    return job;
}

struct FreshBuffer {
    std::unique_ptr<FreshMemory> memory;
    char* to;
};
struct ArenaBuffer {
    char* to;
};

Job of_range(const Setting& setting, const Arena& arena, std::size_t least, std::size_t most) {
    CallStatistics statistics = setting.statistics;
    statistics.sizes = all_alike(least, most);
    const auto stopwatch = std::make_shared<Stopwatch>(
        arena, kLargestMixed, 0, SmallCalls{setting.machine.caches, statistics, kLargestMixed},
        setting.operation);
    Job job{kSuite, "spread", {std::to_string(least) + " to " + std::to_string(most) + " B"}};
    job.trial_seconds = 0.5e-3;
    job.prepare = [=] { stopwatch->prepare(Workload::mix_l1); };
    job.time = [=, &setting](const Contender& contender, std::uint64_t round, int) {
        return stopwatch->time(setting.timed(contender), Workload::mix_l1, 0, round);
    };
    return job;
}

} // namespace

std::vector<Suite> state_suites(const Setting& setting, const Arena& arena,
                                const std::vector<std::size_t>& sizes) {
    std::vector<Job> again, across, spread;
    for (const std::size_t size : sizes) {
        again.push_back(repeated(setting, arena, "again", size, [size](std::uint64_t round) {
            auto memory = std::make_unique<FreshMemory>(size + kPhase + kRoaming);
            char* const to = memory->begin() + kPhase + roam(round) / 2;
            return FreshBuffer{std::move(memory), to};
        }));
    }
    for (const std::size_t size : kAcrossPages) {
        // the page's end in its middle, and somewhat beside it
        across.push_back(
            repeated(setting, arena, "across", size, [size, &arena](std::uint64_t round) {
                return ArenaBuffer{arena.destination() + 2 * 4096 - size / 2 + round % 61};
            }));
    }
    for (const auto& [least, most] : kRanges) {
        spread.push_back(of_range(setting, arena, least, most));
    }
    std::vector<Suite> suites;
    suites.push_back(suite_of("one buffer, from untouched pages on", setting, std::move(again)));
    suites.push_back(suite_of("across a page's end", setting, std::move(across)));
    suites.push_back(suite_of("sizes all alike", setting, std::move(spread)));
    return suites;
}

} // namespace asterope
