// The workloads mix_*: sizes and alignments drawn from call statistics, at random places. The
// working set fits in half of a cache; that of mix_memory is the whole arena. And spread: as
// mix_l1, but of all sizes up to 63 bytes alike. In the fleet's mix few sizes are frequent, and a
// branch at 32 costs a tenth of the speed. A program's own mix may lie on both sides of any branch.
#include <algorithm>

#include "base/random.hpp"
#include "timing/placement.hpp"
#include "timing/workloads/workload_timer.hpp"

namespace asterope {

namespace {

constexpr std::size_t kCalls = 6000, kUntimed = kCalls / 8; ///< of one sample
constexpr std::size_t kSampleBytes = std::size_t{3} << 20;  ///< in one sample where bytes count
constexpr int kMemoryLevel = 4;
constexpr int kSpreadPlace = kMemoryLevel + 1; ///< among Buffers::sequences; mixes have their level
constexpr std::size_t kLargestSpread = 63;

/// `sizes`, each as often as its bytes are copied.
Distribution by_bytes(const Distribution& sizes) {
    Distribution::Pairs pairs = sizes.pairs();
    for (auto& [size, weight] : pairs) weight *= static_cast<double>(size);
    return Distribution(std::move(pairs));
}

/// How long a sample is where bytes count.
void set_length_by_bytes(CallSequence& sequence, const SmallCalls& small, bool memory) {
    const auto calls_of = [&](std::size_t bytes) {
        return static_cast<std::size_t>(static_cast<double>(bytes) / sequence.mean_bytes) + 1;
    };
    sequence.timed = std::min(calls_of(kSampleBytes), kCalls);
    // Where nothing is cached, the last cache must be as this copy leaves it: with its dirty lines
    // or without (see Stopwatch::time).
    const std::size_t settling =
        memory ? calls_of(settling_bytes(last_cache_bytes(small.caches))) : 0;
    sequence.warm = std::max(sequence.timed / 4, settling);
    sequence.warm = std::min(sequence.warm, CallSequence::kCalls / 2); // of single bytes, say
}

/// Draws the calls; empty where no size fits in the working set.
CallSequence draw(const SmallCalls& small, int level) {
    const bool memory = level == kMemoryLevel, calls_count = small.weighting == Weighting::calls;
    const std::size_t area = std::min(small.arena->bytes(), small.arena->source_bytes());
    std::size_t largest = small.largest;
    std::size_t side = memory ? area : cache_bytes(small.caches, level) / 4; // half: both sides
    CallSequence sequence;
    sequence.source = small.arena->source();
    sequence.destination = small.arena->destination();
    if (calls_count) {
        side =
            std::clamp(side, 2 * largest, std::min(area - largest, memory ? area : kMostOfACache));
    } else {
        side = std::min(side, memory ? area : std::min(area, kMostOfACache));
        largest = std::min(largest, side / 2);
    }
    std::optional<Distribution> sizes = small.statistics.sizes.up_to(largest);
    if (sizes && !calls_count) sizes = by_bytes(*sizes).up_to(largest); // 0 bytes do not count
    if (!sizes) return sequence;
    std::mt19937_64 random = named_random(small.seed, "mix " + std::to_string(level));
    const auto place = [&] {
        const std::size_t alignment = small.statistics.alignments.draw(random);
        // an odd multiple: as aligned as was drawn, and not by chance more
        const std::size_t multiples = std::max<std::size_t>(1, (side - largest) / alignment);
        return static_cast<std::uint32_t>(alignment * ((random() % multiples) | 1));
    };
    sequence.fill([&]() -> CallSequence::Call {
        const std::size_t size = sizes->draw(random);
        const std::uint32_t source = place();
        return {static_cast<std::uint32_t>(size), source, place()};
    });
    sequence.warm = kUntimed;
    sequence.timed = kCalls - kUntimed;
    if (!calls_count) set_length_by_bytes(sequence, small, memory);
    return sequence;
}

/// The calls of a mix, or of spread; drawn at their first use.
CallSequence& sequence_of(Buffers& buffers, const WorkloadFacts& facts) {
    const bool mixes = facts.level > 0; // spread is of no level of the caches
    const auto [found, added] = buffers.sequences.try_emplace(mixes ? facts.level : kSpreadPlace);
    if (added) {
        SmallCalls small = buffers.small;
        if (!mixes) small.statistics.sizes = all_alike(1, std::min(kLargestSpread, small.largest));
        found->second = draw(small, mixes ? facts.level : 1);
    }
    return found->second;
}

/// Reads from all pages in an order that no prefetcher foresees. So the last cache gets the page
/// table entries that translate their addresses. On a host that maps 4 KiB at a time, one line
/// holds the entries of 32 KiB. A line stays in the cache once it is met the second time. Without
/// this, 20 samples passed until a call took 60 ns instead of 150 (a virtual machine of a Xeon with
/// AMX).
void meet_pages(const Arena& arena) {
    constexpr std::size_t kOfALine = std::size_t{32} << 10;
    constexpr std::size_t kStep = 50021; // a prime: each pass comes to all stretches
    const std::size_t stretches = std::min(arena.bytes(), arena.source_bytes()) / kOfALine;
    std::uint64_t sum = 0;
    for (std::size_t i = 0, at = 0; i < 2 * stretches; ++i, at = (at + kStep) % stretches) {
        sum += static_cast<unsigned char>(arena.source()[at * kOfALine]);
        sum += static_cast<unsigned char>(arena.destination()[at * kOfALine]);
    }
    keep(sum);
}

double time_mix(Buffers& buffers, const WorkloadFacts& facts, const SampleTask& task) {
    CallSequence& sequence = sequence_of(buffers, facts);
    const auto time = [&] {
        return time_sequence(sequence, task.copy, buffers.small.weighting, facts.reads);
    };
    if (!task.follows) {
        if (facts.level == kMemoryLevel) meet_pages(*buffers.small.arena);
        // The first sample of a round finds the caches as another workload left them. With any copy
        // it took 1.5 times as long as the later ones (mix_l3).
        time();
    }
    return time();
}

bool has_calls(Buffers& buffers, const WorkloadFacts& facts) {
    // equally likely sizes are not those of a program, so weights by bytes would mean nothing
    if (facts.level == 0 && buffers.small.weighting == Weighting::bytes) return false;
    return !sequence_of(buffers, facts).calls.empty();
}

} // namespace

const WorkloadTimer workloads::mix = {
    time_mix, [](const WorkloadFacts&) { return kCalls - kUntimed; }, has_calls};

} // namespace asterope
