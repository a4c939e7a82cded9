// The suites on one thread: sizes by workloads, mixes, small fixed sizes, overlaps, misalignments.
#include <algorithm>
#include <iterator>

#include "base/contains.hpp"
#include "base/size_text.hpp"
#include "bench/suite.hpp"
#include "timing/repeated_copy.hpp"
#include "timing/stopwatch.hpp"
#include "timing/workloads/overlapping.hpp"

namespace asterope {

namespace {

/// About the seconds of one sample. Where nothing is cached, copies begin by settling the caches.
double estimate(std::size_t size, Workload workload, const Machine& machine) {
    const bool hot = !is_uncached(workload);
    const WorkloadFacts& facts = facts_of(workload);
    // a page fault takes about as long as three copies of a page
    const double slowness = facts.fresh ? 4 : 1;
    const double one = slowness * static_cast<double>(size) / kBytesPerSecond;
    double seconds = std::max(sample_seconds(workload), one);
    seconds += hot ? std::max(seconds / 8, 3 * one) : facts.walks ? kLeadIn * one : 0;
    seconds += static_cast<double>(calls_to_choose(workload, size)) * one;
    if (!hot && size >= kSettledFrom) {
        const std::size_t settling = settling_bytes_of_sample(last_cache_bytes(machine));
        seconds += static_cast<double>(settling) / kBytesPerSecond;
    }
    return seconds;
}

Job size_job(const std::string& suite, const Setting& setting,
             const std::shared_ptr<Stopwatch>& stopwatch, std::size_t size, Workload workload) {
    Job job = stopwatch_job({suite, name_of(workload), {format_size(size)}, size}, setting,
                            stopwatch, workload, estimate(size, workload, setting.machine));
    job.prepare = [=] { stopwatch->calibrate(size, workload, sample_seconds(workload)); };
    return job;
}

std::shared_ptr<Stopwatch> stopwatch_of(const Setting& setting, const Arena& arena,
                                        const std::vector<std::size_t>& sizes) {
    return std::make_shared<Stopwatch>(arena, sizes.back(), last_cache_bytes(setting.machine),
                                       SmallCalls{setting.machine.caches}, setting.operation);
}

} // namespace

bool takes_part(const Contender& contender, const Job& job) {
    if (job.moves) return contender.move != nullptr;
    if (contender.threaded && job.threads > 1) return false;
    return contender.workloads.empty() || contains(contender.workloads, job.workload);
}

TimedCopy Setting::timed(const Contender& contender, int cache_effect) const {
    return {.function = contender.copy,
            .cache_effect = cache_effect,
            .operation = operation,
            .chooses = true,
            .pages = cache_effect}; // each contender may have its own
}

Job stopwatch_job(Job job, const Setting& setting, const std::shared_ptr<Stopwatch>& stopwatch,
                  Workload workload, double seconds) {
    job.sample_cost = seconds;
    job.time = [=, &setting, size = job.size](const Contender& contender, std::uint64_t round,
                                              int cache_effect) -> PartSeconds {
        return {stopwatch->time(setting.timed(contender, cache_effect), workload, size, round)};
    };
    return job;
}

Job repeated_job(Job job, const Setting& setting, double seconds, std::size_t least_calls,
                 std::function<RepeatedCall(std::uint64_t round)> place) {
    const auto calls = std::make_shared<std::size_t>(0); // in one sample
    const auto time = [=, size = job.size](const TimedCopy& copy, std::uint64_t round,
                                           std::size_t times) {
        const RepeatedCall call = place(round);
        return time_calls(
            [function = copy.function, to = call.destination,
             second = SecondArgument(copy)(call.source), size](std::size_t left) {
                for (; left; --left) function(to, second, size, 0);
            },
            times);
    };
    job.sample_cost = seconds * 1.2 + 6 * static_cast<double>(job.size) / kBytesPerSecond;
    job.prepare = [=, &setting] {
        const TimedCopy libc = setting.timed(setting.contenders.front());
        *calls = calls_that_take(seconds, [&](std::size_t some) { return time(libc, 0, some); });
        *calls = std::max(least_calls, *calls);
    };
    job.time = [=, &setting](const Contender& contender, std::uint64_t round, int) -> PartSeconds {
        return {time(setting.timed(contender), round, *calls)};
    };
    return job;
}

Suite suite_of(const std::string& title, const Setting& setting, std::vector<Job> jobs) {
    if (!setting.with_peers()) {
        std::size_t longest = 0;
        for (const Job& job : jobs) longest = std::max(longest, job.labels.front().size());
        return {plain_table(title, longest), std::move(jobs)};
    }
    Contenders there;
    for (const Contender& contender : setting.contenders) {
        if (std::ranges::any_of(jobs, [&](const Job& job) { return takes_part(contender, job); })) {
            there.push_back(contender);
        }
    }
    return {peers_table(title, there), std::move(jobs)};
}

namespace {

constexpr const char* kUsualSizes = "128,512,2K,8K,32K,128K,512K,2M,8M,32M";

using Sizes = std::vector<std::size_t>;

/// A table for each workload, with the sizes that are timed under it.
std::vector<Suite> size_suites(const std::string& name, const Setting& setting, const Arena& arena,
                               const Sizes& sizes, const std::vector<Workload>& workloads) {
    const auto stopwatch = stopwatch_of(setting, arena, sizes);
    std::vector<Suite> suites;
    for (const Workload workload : workloads) {
        std::vector<Job> jobs;
        for (const std::size_t size : sizes) {
            if (!is_timed_at(size, workload)) continue;
            jobs.push_back(size_job(name, setting, stopwatch, size, workload));
        }
        if (jobs.empty()) continue;
        suites.push_back(suite_of(name_of(workload), setting, std::move(jobs)));
    }
    return suites;
}

/// Sizes under all measured workloads, for sets under all of theirs. Copies are also timed under
/// fresh. Without peers, one table holds all.
std::vector<Suite> workload_suites(const Setting& setting, const Arena& arena, const Sizes& sizes) {
    std::vector<Workload> workloads(kSets.begin(), kSets.end());
    if (facts_of(setting.operation).reads) {
        workloads.assign(kMeasured.begin(), kMeasured.end());
        workloads.push_back(Workload::fresh);
    }
    if (setting.with_peers()) return size_suites("workloads", setting, arena, sizes, workloads);
    const auto stopwatch = stopwatch_of(setting, arena, sizes);
    Suite suite{workloads_table(workloads), {}};
    for (const std::size_t size : sizes) {
        for (const Workload workload : workloads) {
            if (!is_timed_at(size, workload)) continue;
            suite.jobs.push_back(size_job("workloads", setting, stopwatch, size, workload));
        }
    }
    return {suite};
}

/// Copies of unpredictable sizes, alone and read: working sets in L1, L2, L3 and memory, and page
/// ends. By calls, sizes go up to 1 KiB. Those by bytes follow, up to 4 MiB (see Weighting).
std::vector<Suite> mix_suites(const Setting& setting, const Arena& arena, const Sizes&) {
    std::vector<Suite> suites;
    for (const Weighting weighting : {Weighting::calls, Weighting::bytes}) {
        const bool by_bytes = weighting == Weighting::bytes;
        // larger ones than this come up in the sizes suite
        const std::size_t largest = by_bytes ? std::size_t{4} << 20 : kLargestMixed;
        const auto stopwatch = std::make_shared<Stopwatch>(
            arena, kLargestMixed, 0,
            SmallCalls{setting.machine.caches, setting.statistics, largest, 1, weighting},
            setting.operation);
        const auto add = [&](const std::string& title, const std::vector<Workload>& workloads) {
            std::vector<Job> jobs;
            for (const Workload workload : workloads) {
                if (!stopwatch->prepare(workload)) continue;
                const std::string name = name_of(workload);
                double seconds = 0.5e-3;
                const bool memory =
                    workload == Workload::mix_memory || workload == Workload::mix_memory_read;
                if (memory && by_bytes) {
                    seconds +=
                        static_cast<double>(last_cache_bytes(setting.machine)) / kBytesPerSecond;
                }
                jobs.push_back(
                    stopwatch_job({"mix", name, {name}}, setting, stopwatch, workload, seconds));
                jobs.back().weighting = by_bytes ? "bytes" : "calls";
            }
            if (jobs.empty()) return;
            suites.push_back(suite_of(setting.statistics.name + title, setting, std::move(jobs)));
        };
        add(by_bytes ? " mix by bytes" : " mix",
            {Workload::mix_l1, Workload::mix_l2, Workload::mix_l3, Workload::mix_memory,
             Workload::mix_l1_read, Workload::mix_l2_read, Workload::mix_l3_read,
             Workload::mix_memory_read});
        // A table of their own: they are far rarer than the others, and would spoil their mean.
        add(" mix at page ends", {Workload::page_end, Workload::page_end_read});
    }
    return suites;
}

/// Small copies of one size at a time, alone and read.
std::vector<Suite> fixed_suites(const Setting& setting, const Arena& arena, const Sizes&) {
    const auto stopwatch =
        std::make_shared<Stopwatch>(arena, kLargestMixed, 0, SmallCalls{}, setting.operation);
    std::vector<Suite> suites;
    for (const Workload workload :
         {Workload::fixed, Workload::fixed_read, Workload::fixed_walk, Workload::fixed_walk_read}) {
        const std::string name = name_of(workload);
        std::vector<Job> jobs;
        for (const std::size_t size : facts_of(workload).walks ? walked_sizes() : fixed_sizes()) {
            jobs.push_back(stopwatch_job({"fixed", name, {format_size(size)}, size}, setting,
                                         stopwatch, workload, 10e-6));
        }
        suites.push_back(suite_of(name, setting, std::move(jobs)));
    }
    return suites;
}

/// Moves of each size within cached buffers, by each of kShifts up and down.
std::vector<Suite> overlap_suites(const Setting& setting, const Arena& arena, const Sizes& sizes) {
    std::vector<Job> jobs;
    std::vector<Overlap> overlaps = overlaps_of(sizes, kShifts);
    std::ranges::copy(overlaps_of(sizes, kPageShifts), std::back_inserter(overlaps));
    for (const Overlap& overlap : overlaps) {
        Job job{"overlap",
                name_of(Workload::overlapping),
                {format_size(overlap.size) + (overlap.shift > 0 ? " +" : " ") +
                 std::to_string(overlap.shift)},
                overlap.size};
        job.moves = true;
        job.sample_cost = kOverlapSampleBytes * 1.2 / kBytesPerSecond;
        job.time = [=, &arena](const Contender& contender, std::uint64_t round,
                               int) -> PartSeconds {
            return {time_overlap(arena, contender.move, overlap, round)};
        };
        jobs.push_back(std::move(job));
    }
    return {suite_of("overlapping", setting, std::move(jobs))};
}

/// A grid of hot misalignments for each size. Sets have no source, so they get one row for each
/// misalignment of the destination. With peers, a grid has no room: each pair is a row.
std::vector<Suite> misalignment_suites(const Setting& setting, const Arena& arena,
                                       const Sizes& sizes) {
    // past a line: 0, odd (1), aligned for registers (8, 16, 32), before a half or whole (31, 63)
    static const Sizes kPast = {0, 1, 8, 16, 31, 32, 63};
    const bool sets = !facts_of(setting.operation).reads;
    const Sizes sources = sets ? Sizes{0} : kPast;
    std::vector<Suite> suites;
    for (const std::size_t size : sizes) {
        std::vector<Job> jobs;
        for (const std::size_t source : sources) {
            for (const std::size_t destination : kPast) {
                const std::string label = format_size(size) +
                                          (sets ? "" : " +" + std::to_string(source)) + " +" +
                                          std::to_string(destination);
                jobs.push_back(repeated_job({"misalignment", "hot", {label}, size}, setting, 20e-6,
                                            1, [=, &arena](std::uint64_t round) -> RepeatedCall {
                                                const std::size_t place = roam(round);
                                                return {arena.destination() + kPhase + destination +
                                                            place,
                                                        arena.source() + source + place};
                                            }));
            }
        }
        const std::string title = format_size(size) + " misaligned";
        suites.push_back(sets || setting.with_peers()
                             ? suite_of(title, setting, std::move(jobs))
                             : Suite{grid_table(title, kPast), std::move(jobs)});
    }
    return suites;
}

} // namespace

const std::array<NamedSuite, 9> kSuites = {{
    // every power of two, as people interpolate between neighbours
    {"workloads", workload_suites,
     "128,256,512,1K,2K,4K,8K,16K,32K,64K,128K,256K,512K,1M,2M,4M,8M,16M,32M", true, true},
    {"sizes",
     [](const Setting& setting, const Arena& arena, const Sizes& sizes) {
         return size_suites("sizes", setting, arena, sizes, setting.workloads);
     },
     kUsualSizes, true, true},
    {"aliased",
     [](const Setting& setting, const Arena& arena, const Sizes& sizes) {
         return size_suites("aliased", setting, arena, sizes, {Workload::aliased});
     },
     kUsualSizes, true, false},
    {"misalignment", misalignment_suites, "512,4K,64K", false, true},
    // mix and fixed have their own sizes; these only decide how large the arena is
    {"mix", mix_suites, kUsualSizes, true, true},
    {"fixed", fixed_suites, kUsualSizes, true, true},
    {"states", state_suites, "64K,128K,256K,1M,4M,8M,16M", false, true},
    {"overlap", overlap_suites, "512,2K,4K,16K,64K,1M", false, false},
    {"threads", nullptr, "1K,8K,64K,512K,4M,32M", false, false},
}};

} // namespace asterope
