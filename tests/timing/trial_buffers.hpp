// The calls that workloads of one size make, remembered: what the tests of stopwatches look at.
#pragma once

#include "search/objective.hpp"
#include "support/remembered_calls.hpp"
#include "support/unit_test.hpp"
#include "timing/clock.hpp"
#include "timing/stopwatch.hpp"

namespace asterope {

inline const std::vector<Workload> kOfOneSize = [] {
    std::vector<Workload> workloads(kMeasured.begin(), kMeasured.end());
    workloads.push_back(Workload::fresh);
    workloads.push_back(Workload::fresh_hot);
    workloads.push_back(Workload::bystander);
    return workloads;
}();
inline const std::vector<Workload> kOnSlots = {Workload::cold, Workload::consume,
                                               Workload::produce};
inline const std::vector<Workload> kWalks = {Workload::cold_walk, Workload::consume_walk,
                                             Workload::fetch_walk};
inline const std::vector<Workload> kFetches = {Workload::fetch, Workload::fetch_walk,
                                               Workload::lookup};

/// Whether a copy reads its source, of `source_bytes`, and writes the arena, and nothing beside.
inline bool inside(const Call& call, const Arena& arena, std::size_t source_bytes) {
    return call.source >= arena.source() &&
           call.source + call.bytes <= arena.source() + source_bytes &&
           call.destination >= arena.destination() &&
           call.destination + call.bytes <= arena.destination() + arena.bytes();
}

/// How far the destination lies past the source, modulo a page.
inline std::size_t apart(const Call& call) {
    return static_cast<std::size_t>(call.destination - call.source) % kPage;
}

class TrialBuffers : public ::testing::TestWithParam<std::size_t> {
  protected:
    static constexpr std::size_t kLargest = 2 * kMiB;

    void SetUp() override { start_clock(false, 0); }

    /// The calls of one trial; the untimed ones of the hot workload first.
    std::vector<Call> trial(Workload workload, std::uint64_t round, std::size_t distance = 0) {
        calls.clear();
        stopwatch.time({remember, distance}, workload, GetParam(), round);
        return calls;
    }
    /// The first calls of a workload, at least `count`.
    std::vector<Call> first_calls(Workload workload, std::size_t count) {
        std::vector<Call> all;
        for (std::uint64_t round = 0; all.size() < count; ++round) {
            const std::vector<Call> more = trial(workload, round);
            all.insert(all.end(), more.begin(), more.end());
        }
        return all;
    }
    /// Without libc's time: beside it, remembering would be hopeless now and then.
    void calibrate(Workload workload) {
        stopwatch.calibrate(GetParam(), workload, trial_seconds(workload));
        stopwatch.set_calibration(GetParam(), workload, {stopwatch.calls(GetParam(), workload), 0});
    }

    /// What settles the caches is not among the next trial's calls.
    void settle() {
        stopwatch.set_calibration(GetParam(), Workload::cold, {1, 0});
        trial(Workload::cold, 0);
    }

    const Arena arena{32 * kMiB};
    Stopwatch stopwatch{arena, kLargest};
};

inline std::size_t misalignment(const char* address) {
    return reinterpret_cast<std::uintptr_t>(address) % 64;
}

} // namespace asterope
