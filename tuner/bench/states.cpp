// The suite states. Here a routine may stay slow if it chooses by the caches' state or by classes
// of sizes. The cells are: the same buffer again and again from untouched pages; unpredictable
// sizes, all equally likely; and buffers that lie across a page's end.
#include <algorithm>

#include "base/size_text.hpp"
#include "bench/suite.hpp"
#include "timing/fresh_memory.hpp"
#include "timing/placement.hpp"

namespace asterope {

namespace {

constexpr const char* kSuite = "states";
constexpr double kRepeatedSeconds = 50e-6;
constexpr std::size_t kLeastCalls = 4; ///< of one trial

/// From which size to which, in bytes.
constexpr std::pair<std::size_t, std::size_t> kRanges[] = {
    {1, 63}, {1, 48}, {16, 64}, {0, 1}, {0, 8}};
constexpr std::size_t kAcrossPages[] = {256, 600, 800, 1000};

Job of_range(const Setting& setting, const Arena& arena, std::size_t least, std::size_t most) {
    CallStatistics statistics = setting.statistics;
    statistics.sizes = all_alike(least, most);
    const auto stopwatch = std::make_shared<Stopwatch>(
        arena, kLargestMixed, 0, SmallCalls{setting.machine.caches, statistics, kLargestMixed},
        setting.operation);
    Job job{kSuite, "spread", {std::to_string(least) + " to " + std::to_string(most) + " B"}};
    job.prepare = [=] { stopwatch->prepare(Workload::mix_l1); };
    return stopwatch_job(std::move(job), setting, stopwatch, Workload::mix_l1, 0.5e-3);
}

} // namespace

std::vector<Suite> state_suites(const Setting& setting, const Arena& arena,
                                const std::vector<std::size_t>& sizes) {
    std::vector<Job> again, across, spread;
    const auto repeated = [&](const char* workload, std::size_t size, const auto& place) {
        return repeated_job({kSuite, workload, {format_size(size)}, size}, setting,
                            kRepeatedSeconds, kLeastCalls, place);
    };
    for (const std::size_t size : sizes) {
        again.push_back(repeated("again", size, [=, &arena](std::uint64_t round) -> RepeatedCall {
            const auto memory = std::make_shared<FreshMemory>(size + kPhase + kRoaming);
            return {memory->begin() + kPhase + roam(round) / 2, arena.source(), memory};
        }));
    }
    for (const std::size_t size : kAcrossPages) {
        // the page's end in its middle, and somewhat beside it
        across.push_back(repeated("across", size, [=, &arena](std::uint64_t round) -> RepeatedCall {
            return {arena.destination() + 2 * 4096 - size / 2 + round % 61, arena.source()};
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
