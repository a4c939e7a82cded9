// The calls that workloads of small copies make, remembered: what the tests of mixes look at.
#pragma once

#include "machine/machine.hpp"
#include "search/small_search.hpp"
#include "support/remembered_calls.hpp"
#include "support/unit_test.hpp"
#include "timing/clock.hpp"
#include "timing/stopwatch.hpp"

namespace asterope {

inline const std::vector<Workload> kMix = {Workload::mix_l1,      Workload::mix_l2,
                                           Workload::mix_l3,      Workload::mix_l1_read,
                                           Workload::mix_l2_read, Workload::mix_l3_read};
inline const std::vector<Workload> kFixed = {Workload::fixed, Workload::fixed_read};
inline const std::vector<Workload> kFixedWalk = {Workload::fixed_walk, Workload::fixed_walk_read};
inline const std::vector<Workload> kPageEnd = {Workload::page_end, Workload::page_end_read};
inline const TimedCopy kRemember = small_copy(remember_small);

inline Machine machine_with(std::size_t l1, std::size_t l2, std::size_t l3) {
    Machine machine;
    machine.caches = {{1, "data", l1, 64, 8, 1}, {2, "unified", l2, 64, 8, 1}};
    if (l3) machine.caches.push_back({3, "unified", l3, 64, 16, 2});
    return machine;
}

class Mix : public ::testing::Test {
  protected:
    void SetUp() override { start_clock(false, 0); }

    std::vector<Call> trial(Stopwatch& stopwatch, Workload workload, std::uint64_t round = 0) {
        calls.clear();
        stopwatch.time(kRemember, workload, 0, round);
        return calls;
    }
    Stopwatch make(CallStatistics statistics, std::size_t largest = kLargestMixed,
                   std::uint64_t seed = 1, Weighting weighting = Weighting::calls) {
        return Stopwatch(arena, kLargestMixed, 0,
                         {machine.caches, std::move(statistics), largest, seed, weighting});
    }
    Stopwatch make(const char* statistics, std::size_t largest = kLargestMixed) {
        return make(parse_statistics(statistics, "test"), largest);
    }
    Stopwatch of_the_fleet(std::uint64_t seed = 1) {
        return make(fleet_statistics(), kLargestMixed, seed);
    }
    Stopwatch by_bytes(const char* statistics) {
        return make(parse_statistics(statistics, "test"), kMiB, 1, Weighting::bytes);
    }
    std::size_t source_offset(const Call& call) const {
        return static_cast<std::size_t>(call.source - arena.source());
    }
    std::size_t destination_offset(const Call& call) const {
        return static_cast<std::size_t>(call.destination - arena.destination());
    }
    /// Of trials of a workload: the share of each size.
    std::map<std::size_t, double> shares(Stopwatch& stopwatch, Workload workload) {
        std::map<std::size_t, double> shares;
        double count = 0;
        for (int i = 0; i < 20; ++i) {
            for (const Call& call : trial(stopwatch, workload)) {
                ++shares[call.bytes];
                ++count;
            }
        }
        for (auto& [size, share] : shares) share /= count;
        return shares;
    }

    const Arena arena{8 * kMiB};
    const Machine machine = machine_with(32 * kKiB, 512 * kKiB, 16 * kMiB);
};

inline const PageEnds& page_ends_of(Stopwatch& stopwatch) {
    stopwatch.prepare(Workload::page_end);
    return *stopwatch.buffers().page_ends;
}

} // namespace asterope
