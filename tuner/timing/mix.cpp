// The workloads of small copies: calls as programs make them, each of another size.
#include "timing/mix.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "machine/cpu.hpp"
#include "timing/buffer_access.hpp"
#include "timing/clock.hpp"
#include "timing/libc_copy.hpp"

namespace asterope {

namespace {

constexpr std::size_t kPlanned = std::size_t{1} << 19;    ///< calls in a plan
constexpr std::size_t kCalls = 6000;                      ///< of them in one trial
constexpr std::size_t kFixedCalls = 400;                  ///< of each fixed size in one trial
constexpr std::size_t kTrialBytes = std::size_t{3} << 20; ///< in one trial where bytes count
constexpr int kMemoryLevel = 4;
constexpr std::size_t kPageEndPlan = 4; ///< its place among the plans

/// Calls of page_end in one trial. Fewer, as they may be a hundred times as slow as others.
constexpr std::size_t kPageEndCalls = 1600;
/// Where the side of a call of page_end that is not at the end begins: so far into a stretch at
/// most. The working set stays in the first cache.
constexpr std::size_t kInside = 1024;
constexpr std::size_t kLine = 64;

bool is_fixed(Workload workload) {
    return workload == Workload::fixed || workload == Workload::fixed_read;
}

bool is_page_end(Workload workload) {
    return workload == Workload::page_end || workload == Workload::page_end_read;
}

std::size_t cache_bytes(const Machine& machine, int level) {
    std::size_t bytes = 0;
    for (const Cache& cache : machine.caches) {
        if (cache.level <= level) bytes = std::max(bytes, cache.bytes);
    }
    return bytes ? bytes : std::size_t{32} << (10 + 5 * (level - 1)); // 32 KiB, 1 MiB, 32 MiB
}

} // namespace

MixCopy libc_mix_copy() {
    return {reinterpret_cast<asterope_small_candidate>(reinterpret_cast<void*>(libc_copy())), 0,
            nullptr};
}

MixStopwatch::MixStopwatch(const Arena& arena, const Machine& machine,
                           const CallStatistics& statistics, std::size_t largest,
                           std::uint64_t seed, Weighting weighting)
    : arena_(arena), weighting_(weighting) {
    std::mt19937_64 random(seed);
    const auto& pairs = statistics.sizes.pairs();
    if (weighting == Weighting::calls &&
        std::none_of(pairs.begin(), pairs.end(),
                     [&](const auto& pair) { return pair.first <= largest && pair.second > 0; })) {
        throw BadInput("distribution " + statistics.name + " has no size of up to " +
                       std::to_string(largest) + " bytes");
    }
    for (int level = 1; level <= kMemoryLevel; ++level) {
        plans_[static_cast<std::size_t>(level) - 1] =
            draw_plan(machine, statistics, largest, level, random);
    }
    if (weighting == Weighting::bytes) return;
    page_ends_.emplace(kInside + largest + kLine);
    plans_[kPageEndPlan] = draw_page_ends(statistics, largest, random);
}

MixStopwatch::CallSequence MixStopwatch::draw_plan(const Machine& machine,
                                                   const CallStatistics& statistics,
                                                   std::size_t largest, int level,
                                                   std::mt19937_64& random) const {
    const bool memory = level == kMemoryLevel;
    const std::size_t area = std::min(arena_.bytes(), arena_.source_bytes());
    CallSequence plan;
    plan.source = arena_.source();
    plan.destination = arena_.destination();
    Distribution sizes = statistics.sizes;
    std::size_t side = memory ? area : cache_bytes(machine, level) / 4; // half of it: both sides
    if (weighting_ == Weighting::calls) {
        // the caches' are bounded, lest a machine that reports a huge one touches all memory
        side = std::clamp(side, 2 * largest,
                          std::min(area - largest, memory ? area : std::size_t{64} << 20));
        plan.warm = kCalls / 8;
        plan.timed = kCalls - plan.warm;
    } else {
        side = std::min(side, memory ? area : std::min(area, std::size_t{64} << 20));
        largest = std::min(largest, side / 2);
        std::vector<std::pair<std::size_t, double>> by_bytes;
        for (const auto& [size, probability] : statistics.sizes.pairs()) {
            const double weight = probability * static_cast<double>(size);
            if (size <= largest && weight > 0) by_bytes.emplace_back(size, weight);
        }
        if (by_bytes.empty()) return plan;
        sizes = Distribution(std::move(by_bytes));
    }
    const auto place = [&] {
        const std::size_t alignment = statistics.alignments.draw(random);
        // an odd multiple: as aligned as was drawn, and not by chance more
        const std::size_t multiples = std::max<std::size_t>(1, (side - largest) / alignment);
        return static_cast<std::uint32_t>(alignment * ((random() % multiples) | 1));
    };
    plan.calls.reserve(kPlanned);
    double bytes = 0;
    while (plan.calls.size() < kPlanned) {
        const std::size_t size = sizes.draw(random);
        if (size > largest) continue;
        const std::uint32_t source = place();
        plan.calls.push_back({static_cast<std::uint32_t>(size), source, place()});
        bytes += static_cast<double>(size);
    }
    plan.mean_bytes = bytes / static_cast<double>(kPlanned);
    if (weighting_ == Weighting::bytes) {
        const auto calls_of = [&](std::size_t some) {
            return static_cast<std::size_t>(static_cast<double>(some) / plan.mean_bytes) + 1;
        };
        plan.timed = std::min(calls_of(kTrialBytes), kCalls);
        // Where nothing is cached, the last cache must be as this copy leaves it: with its dirty
        // lines or without (see Stopwatch::time).
        plan.warm =
            std::max(plan.timed / 4,
                     memory ? calls_of(settling_bytes(last_cache_bytes(machine))) : std::size_t{0});
        plan.warm = std::min(plan.warm, kPlanned / 2); // of single bytes, say
    }
    return plan;
}

MixStopwatch::CallSequence MixStopwatch::draw_page_ends(const CallStatistics& statistics,
                                                        std::size_t largest,
                                                        std::mt19937_64& random) const {
    CallSequence plan;
    plan.source = page_ends_->source();
    plan.destination = page_ends_->destination();
    plan.warm = kPageEndCalls / 8;
    plan.timed = kPageEndCalls - plan.warm;
    const auto stretch = [&] { return random() % PageEnds::kStretches * page_ends_->stride(); };
    plan.calls.reserve(kPlanned);
    double bytes = 0;
    while (plan.calls.size() < kPlanned) {
        const std::size_t size = statistics.sizes.draw(random);
        if (size > largest) continue;
        const std::size_t left = random() % kLine; // between the copy's end and the page's
        const std::size_t at_end = stretch() + page_ends_->stretch_bytes() - left - size;
        const std::size_t inside = stretch() + random() % kInside;
        const bool source = random() % 2 == 0;
        plan.calls.push_back({static_cast<std::uint32_t>(size),
                              static_cast<std::uint32_t>(source ? at_end : inside),
                              static_cast<std::uint32_t>(source ? inside : at_end)});
        bytes += static_cast<double>(size);
    }
    plan.mean_bytes = bytes / static_cast<double>(kPlanned);
    return plan;
}

std::size_t MixStopwatch::calls(Workload workload) {
    if (is_fixed(workload)) return kFixedCalls * fixed_sizes().size();
    return is_page_end(workload) ? kPageEndCalls - kPageEndCalls / 8 : kCalls - kCalls / 8;
}

const std::vector<std::size_t>& MixStopwatch::fixed_sizes() {
    static const std::vector<std::size_t> sizes = {1,  2,  3,  4,  6,  8,  12,  15,  16,  20,
                                                   24, 32, 40, 48, 64, 80, 100, 128, 192, 256};
    return sizes;
}

std::size_t MixStopwatch::plan_of(Workload workload) {
    switch (workload) {
    case Workload::mix_l1:
    case Workload::mix_l1_read:
        return 0;
    case Workload::mix_l2:
    case Workload::mix_l2_read:
        return 1;
    case Workload::mix_l3:
    case Workload::mix_l3_read:
        return 2;
    case Workload::mix_memory:
    case Workload::mix_memory_read:
        return 3;
    case Workload::page_end:
    case Workload::page_end_read:
        return kPageEndPlan;
    default:
        throw Failure("this stopwatch times small copies only");
    }
}

bool MixStopwatch::fits(Workload workload) const {
    return !plans_[plan_of(workload)].calls.empty();
}

double MixStopwatch::mean_bytes(Workload workload) const {
    return plans_[plan_of(workload)].mean_bytes;
}

double MixStopwatch::time(const MixCopy& copy, Workload workload, std::uint64_t round) {
    if (!is_fixed(workload)) {
        const bool read = workload == Workload::mix_l1_read || workload == Workload::mix_l2_read ||
                          workload == Workload::mix_l3_read ||
                          workload == Workload::mix_memory_read ||
                          workload == Workload::page_end_read;
        return time_calls(copy, plans_[plan_of(workload)], read);
    }
    double logs = 0;
    for (const std::size_t size : fixed_sizes()) {
        logs += std::log(time_fixed(copy, size, workload == Workload::fixed_read, round));
    }
    return std::exp(logs / static_cast<double>(fixed_sizes().size()));
}

double MixStopwatch::time_calls(const MixCopy& copy, CallSequence& plan, bool read) {
    clean_vector_state();
    if (plan.next + plan.warm + plan.timed > plan.calls.size()) plan.next = 0;
    const std::size_t first = plan.next;
    const std::size_t begin_timed = first + plan.warm, end_timed = begin_timed + plan.timed;
    plan.next = end_timed;
    const char* source = plan.source;
    char* destination = plan.destination;
    std::uint64_t sum = 0;
    const auto run = [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
            const Call& call = plan.calls[i];
            char* to_here = destination + call.destination;
            copy.function(to_here, source + call.source, call.size, copy.distance, copy.large);
            if (read) sum += read_copy(to_here, call.size);
        }
    };
    // The first part brings copy and working set into their caches. Its calls are not repeated.
    run(first, begin_timed);
    const std::uint64_t begin = ticks();
    run(begin_timed, end_timed);
    const double seconds = seconds_between(begin, ticks());
    keep(sum);
    if (weighting_ == Weighting::calls) return seconds / static_cast<double>(plan.timed);
    double bytes = 0;
    for (std::size_t i = begin_timed; i < end_timed; ++i) {
        bytes += static_cast<double>(plan.calls[i].size);
    }
    return seconds / bytes * plan.mean_bytes;
}

double MixStopwatch::time_fixed(const MixCopy& copy, std::size_t size, bool read,
                                std::uint64_t round) {
    clean_vector_state();
    // each round has its place in the page, as in the hot workload
    const std::size_t place = round * 27 % 64 * 64;
    const char* source = arena_.source() + place;
    char* destination = arena_.destination() + place + kPhase;
    std::uint64_t sum = 0;
    const auto run = [&](std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const Misalignment past = misalignment(round + i);
            char* to_here = destination + past.destination;
            copy.function(to_here, source + past.source, size, copy.distance, copy.large);
            if (read) sum += read_copy(to_here, size);
        }
    };
    run(kFixedCalls / 8);
    const std::uint64_t begin = ticks();
    run(kFixedCalls);
    const double seconds = seconds_between(begin, ticks());
    keep(sum);
    return seconds / static_cast<double>(kFixedCalls);
}

} // namespace asterope
