// The workloads of small copies: calls as programs make them, each of another size.
#include "mix.hpp"

#include <algorithm>
#include <cmath>

#include "buffer_use.hpp"
#include "clock.hpp"
#include "cpu.hpp"
#include "error.hpp"
#include "libc_copy.hpp"

namespace asterope {

namespace {

constexpr std::size_t kPlanned = std::size_t{1} << 19; ///< calls in a plan
constexpr std::size_t kCalls = 6000;                   ///< of them in one trial
constexpr std::size_t kFixedCalls = 400;               ///< of each fixed size in one trial

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
                           std::uint64_t seed)
    : arena_(arena) {
    std::mt19937_64 random(seed);
    const auto& pairs = statistics.sizes.pairs();
    if (std::none_of(pairs.begin(), pairs.end(),
                     [&](const auto& pair) { return pair.first <= largest && pair.second > 0; })) {
        throw BadInput("distribution " + statistics.name + " has no size of up to " +
                       std::to_string(largest) + " bytes");
    }
    for (std::size_t level = 1; level <= plans_.size(); ++level) {
        // source and destination together take half of the cache
        const std::size_t side =
            std::clamp(cache_bytes(machine, static_cast<int>(level)) / 4, 2 * largest,
                       std::min(std::min(arena.bytes(), arena.source_bytes()) - largest,
                                std::size_t{64} << 20));
        const auto place = [&] {
            const std::size_t alignment = statistics.alignments.draw(random);
            // an odd multiple: as aligned as was drawn, and not by chance more
            const std::size_t multiples = std::max<std::size_t>(1, (side - largest) / alignment);
            return static_cast<std::uint32_t>(alignment * ((random() % multiples) | 1));
        };
        std::vector<Call>& plan = plans_[level - 1].calls;
        plan.reserve(kPlanned);
        while (plan.size() < kPlanned) {
            const std::size_t size = statistics.sizes.draw(random);
            if (size > largest) continue;
            const std::uint32_t source = place();
            plan.push_back({static_cast<std::uint32_t>(size), source, place()});
        }
    }
}

std::size_t MixStopwatch::calls(Workload workload) {
    const bool fixed = workload == Workload::fixed || workload == Workload::fixed_read;
    return fixed ? kFixedCalls * fixed_sizes().size() : kCalls - kCalls / 8;
}

const std::vector<std::size_t>& MixStopwatch::fixed_sizes() {
    static const std::vector<std::size_t> sizes = {1,  2,  3,  4,  6,  8,  12,  15,  16,  20,
                                                   24, 32, 40, 48, 64, 80, 100, 128, 192, 256};
    return sizes;
}

double MixStopwatch::time(const MixCopy& copy, Workload workload, std::uint64_t round) {
    switch (workload) {
    case Workload::mix_l1:
        return time_calls(copy, plans_[0], false);
    case Workload::mix_l2:
        return time_calls(copy, plans_[1], false);
    case Workload::mix_l3:
        return time_calls(copy, plans_[2], false);
    case Workload::mix_l1_read:
        return time_calls(copy, plans_[0], true);
    case Workload::mix_l2_read:
        return time_calls(copy, plans_[1], true);
    case Workload::mix_l3_read:
        return time_calls(copy, plans_[2], true);
    case Workload::fixed:
    case Workload::fixed_read:
        break;
    default:
        throw Failure("this stopwatch times small copies only");
    }
    double logs = 0;
    for (const std::size_t size : fixed_sizes()) {
        logs += std::log(time_fixed(copy, size, workload == Workload::fixed_read, round));
    }
    return std::exp(logs / static_cast<double>(fixed_sizes().size()));
}

double MixStopwatch::time_calls(const MixCopy& copy, Plan& plan, bool read) {
    clean_vector_state();
    if (plan.next + kCalls > plan.calls.size()) plan.next = 0;
    const std::size_t first = plan.next;
    plan.next += kCalls;
    const char* source = arena_.source();
    char* destination = arena_.destination();
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
    const std::size_t warm = kCalls / 8;
    run(first, first + warm);
    const std::uint64_t begin = ticks();
    run(first + warm, first + kCalls);
    const double seconds = seconds_between(begin, ticks());
    keep(sum);
    return seconds / static_cast<double>(kCalls - warm);
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
