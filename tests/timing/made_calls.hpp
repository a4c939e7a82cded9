// Remembers the calls that workloads make, for the tests of stopwatches.
#pragma once

#include "support/remembered_calls.hpp"
#include "support/unit_test.hpp"
#include "timing/stopwatch.hpp"

namespace asterope {

/// The workloads of a family but for that whose buffers alias.
inline std::vector<Workload> of_family(WorkloadFamily family) {
    std::vector<Workload> found;
    for (const WorkloadFacts& facts : kWorkloads) {
        const Workload workload = *find_workload(facts.name);
        if (facts.family == family && workload != Workload::aliased) found.push_back(workload);
    }
    return found;
}
inline const std::vector<Workload> kOfOneSize = of_family(WorkloadFamily::one_size),
                                   kOfSmallCopies = of_family(WorkloadFamily::small_copies),
                                   kOnSlots = {Workload::cold, Workload::consume,
                                               Workload::produce};

/// The calls of a sample; those that are not timed come first.
inline std::vector<Call> calls_of(Stopwatch& stopwatch, const TimedCopy& copy, Workload workload,
                                  std::size_t size, std::uint64_t round) {
    calls.clear();
    stopwatch.time(copy, workload, size, round);
    return calls;
}

inline std::size_t misalignment(const char* address) {
    return reinterpret_cast<std::uintptr_t>(address) % 64;
}

/// How far the destination lies past the source, modulo a page.
inline std::size_t apart(const Call& call) {
    return static_cast<std::size_t>(call.destination - call.source) % kPage;
}

/// So far that no load can be mistaken for one behind a store in flight.
inline bool far_apart(const Call& call) {
    return 1024 <= apart(call) && apart(call) <= 3072;
}

/// Whether a copy reads its source, of `source_bytes`, and writes the arena, and nothing beside.
inline bool inside(const Call& call, const Arena& arena, std::size_t source_bytes) {
    return call.source >= arena.source() &&
           call.source + call.bytes <= arena.source() + source_bytes &&
           call.destination >= arena.destination() &&
           call.destination + call.bytes <= arena.destination() + arena.bytes();
}

/// Copies of one size.
class SampleBuffers : public ::testing::TestWithParam<std::size_t> {
  protected:
    static constexpr std::size_t kLargest = 2 * kMiB;

    std::vector<Call> sample(Workload workload, std::uint64_t round,
                             const TimedCopy& copy = {remember}) {
        return calls_of(stopwatch, copy, workload, GetParam(), round);
    }
    /// Without libc's time: beside it, remembering would be hopeless now and then. What settles the
    /// caches is not among the next sample's calls.
    void calibrate(Workload workload) {
        stopwatch.calibrate(GetParam(), workload, sample_seconds(workload));
        stopwatch.set_calibration(GetParam(), workload,
                                  {stopwatch.calibration(GetParam(), workload).calls, 0});
    }

    const Arena arena{32 * kMiB};
    Stopwatch stopwatch{arena, kLargest};
};

inline std::vector<Cache> caches_of(std::size_t l1, std::size_t l2, std::size_t l3) {
    std::vector<Cache> caches = {{1, "data", l1, 64, 8, 1}, {2, "unified", l2, 64, 8, 1}};
    if (l3) caches.push_back({3, "unified", l3, 64, 16, 2});
    return caches;
}

/// Small copies.
class Mix : public ::testing::Test {
  protected:
    /// `small`: what differs from the fleet's calls in `caches`.
    Stopwatch make(SmallCalls small = {}) const {
        if (small.caches.empty()) small.caches = caches;
        return Stopwatch(arena, kLargestMixed, 0, std::move(small));
    }
    std::vector<Call> sample(Stopwatch& stopwatch, Workload workload, std::uint64_t round = 0,
                             std::size_t size = 0) {
        return calls_of(stopwatch, small_copy(remember_small), workload, size, round);
    }
    std::size_t source_offset(const Call& call) const {
        return static_cast<std::size_t>(call.source - arena.source());
    }
    std::size_t destination_offset(const Call& call) const {
        return static_cast<std::size_t>(call.destination - arena.destination());
    }

    const Arena arena{8 * kMiB};
    const std::vector<Cache> caches = caches_of(32 * kKiB, 512 * kKiB, 16 * kMiB);
};

} // namespace asterope
