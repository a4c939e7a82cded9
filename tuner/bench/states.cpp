// The suite states. Here a routine may keep a wrong choice: it chose by an earlier cache state, or
// by a class of sizes.
#include <memory>

#include "base/size_text.hpp"
#include "bench/suite.hpp"
#include "space/limits.hpp"
#include "timing/buffer_access.hpp"
#include "timing/clock.hpp"
#include "timing/fresh_memory.hpp"
#include "timing/placement.hpp"

namespace asterope {

namespace {

constexpr const char* kSuite = "states";
constexpr double kRepeatedSeconds = 50e-6;
constexpr std::size_t kLeastCalls = 4; ///< of one sample

/// The smallest and the largest size of each mix, in bytes.
constexpr std::pair<std::size_t, std::size_t> kRanges[] = {
    {1, 63}, {1, 48}, {16, 64}, {0, 1}, {0, 8}};
constexpr std::size_t kAcrossPages[] = {256, 600, 800, 1000};

/// A sample alternates blocks of so many calls. One is on cached buffers, the next on sources just
/// written (for memset: on uncached buffers). So a guess by the last calls is often wrong.
constexpr std::size_t kMostInTurn = 17;
constexpr std::size_t kInTurn[] = {1, 8, kMostInTurn};
constexpr std::size_t kLargestInTurn = std::size_t{4} << 20; ///< bytes; larger ones take long

/// Seconds a call: of the producer's calls if `produced`, else of the cached ones. A producer's
/// call finds its source just written and copies to the next place of a memory that is walked
/// through. A set has no source.
double time_in_turn(const Arena& arena, const TimedCopy& copy, std::size_t size, std::size_t turn,
                    bool produced, std::size_t& place) {
    const std::size_t room = (size / 4096 + 2) * 4096, calls = 4 * kMostInTurn / turn * turn;
    char *const source = arena.writable_source(), *const to = arena.destination();
    std::uint64_t elapsed = 0;
    const SecondArgument second(copy);
    clean_vector_state();
    for (std::size_t done = 0; done < calls; ++done) {
        const bool produces = done / turn % 2 != 0;
        std::size_t at = 0;
        if (produces) {
            at = place = place + 2 * room > arena.bytes() ? room : place + room;
            if (second(source)) write_source(source + room, size, done);
        } else if (done % turn == 0) {
            keep(read_copy(source, size) + read_copy(to + kPhase, size));
        }
        const std::uint64_t begin = ticks();
        copy(to + kPhase + at, second(source + (produces ? room : 0)), size);
        if (produces == produced) elapsed += ticks() - begin;
    }
    return seconds_between(0, elapsed) * 2 / static_cast<double>(calls);
}

Job in_turn(const Setting& setting, const Arena& arena, std::size_t size, std::size_t turn,
            bool produced) {
    const std::string which = !produced                           ? "cached"
                              : facts_of(setting.operation).reads ? "produced"
                                                                  : "uncached";
    Job job{kSuite,
            which + " in turn",
            {format_size(size) + ' ' + which + ", " + std::to_string(turn) + " in turn"},
            size};
    const auto place =
        std::make_shared<std::size_t>(0); // shared: each sample walks on from the last
    job.sample_cost = 12 * static_cast<double>(kMostInTurn * size) / kBytesPerSecond;
    job.time = [=, &setting, &arena](const Contender& contender, std::uint64_t,
                                     int) -> PartSeconds {
        return {time_in_turn(arena, setting.timed(contender), size, turn, produced, *place)};
    };
    return job;
}

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
    std::vector<Job> again, turns, across, spread;
    const auto repeated = [&](const char* workload, std::size_t size, const auto& place) {
        return repeated_job({kSuite, workload, {format_size(size)}, size}, setting,
                            kRepeatedSeconds, kLeastCalls, place);
    };
    for (const std::size_t size : sizes) {
        again.push_back(repeated("again", size, [=, &arena](std::uint64_t round) -> RepeatedCall {
            const auto memory = std::make_shared<FreshMemory>(size + kPhase + kRoaming);
            return {memory->begin() + kPhase + roam(round), arena.source() + roam(round), memory};
        }));
    }
    for (const std::size_t size : sizes) {
        if (size < kSensingMinimum || size > kLargestInTurn) continue;
        for (const std::size_t turn : kInTurn) {
            for (const bool produced : {false, true}) {
                turns.push_back(in_turn(setting, arena, size, turn, produced));
            }
        }
    }
    for (const std::size_t size : kAcrossPages) {
        // the page's end is in the buffer's middle, or somewhat beside it
        across.push_back(repeated("across", size, [=, &arena](std::uint64_t round) -> RepeatedCall {
            return {arena.destination() + 2 * 4096 - size / 2 + round % 61,
                    arena.source() + kPhase};
        }));
    }
    for (const auto& [least, most] : kRanges) {
        spread.push_back(of_range(setting, arena, least, most));
    }
    std::vector<Suite> suites;
    suites.push_back(suite_of("one new buffer, after its first calls", setting, std::move(again)));
    if (!turns.empty()) {
        suites.push_back(suite_of(facts_of(setting.operation).reads
                                      ? "cached buffers in turn with a producer's"
                                      : "cached buffers in turn with uncached ones",
                                  setting, std::move(turns)));
    }
    suites.push_back(suite_of("across a page's end", setting, std::move(across)));
    suites.push_back(suite_of("sizes all alike", setting, std::move(spread)));
    return suites;
}

} // namespace asterope
