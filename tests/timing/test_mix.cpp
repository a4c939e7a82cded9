// The workloads of small copies: which calls are made, and where.
#include "timing/stopwatch.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sys/mman.h>

#include "base/error.hpp"
#include "machine/cpu.hpp"
#include "search/small_search.hpp"
#include "support/remembered_calls.hpp"
#include "support/units.hpp"
#include "timing/clock.hpp"

using namespace asterope;

namespace {

const std::vector<Workload> kMix = {Workload::mix_l1,      Workload::mix_l2,
                                    Workload::mix_l3,      Workload::mix_l1_read,
                                    Workload::mix_l2_read, Workload::mix_l3_read};
const std::vector<Workload> kFixed = {Workload::fixed, Workload::fixed_read};
const std::vector<Workload> kFixedWalk = {Workload::fixed_walk, Workload::fixed_walk_read};
const std::vector<Workload> kPageEnd = {Workload::page_end, Workload::page_end_read};
const TimedCopy kRemember = small_copy(remember_small);

Machine machine_with(std::size_t l1, std::size_t l2, std::size_t l3) {
    Machine machine;
    machine.caches = {{1, "data", l1, 64, 8, 1}, {2, "unified", l2, 64, 8, 1}};
    if (l3) machine.caches.push_back({3, "unified", l3, 64, 16, 2});
    return machine;
}

/// Half of what the cache of a workload holds is for sources and destinations, a half of that each.
std::size_t side_of(Workload workload) {
    switch (workload) {
    case Workload::mix_l1:
    case Workload::mix_l1_read:
    case Workload::spread:
        return 8 * kKiB;
    case Workload::mix_l2:
    case Workload::mix_l2_read:
        return 128 * kKiB;
    case Workload::mix_l3:
    case Workload::mix_l3_read:
        return 4 * kMiB;
    default:
        return 8 * kMiB; // the arena
    }
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
    static std::size_t source_offset(const Call& call, const Arena& arena) {
        return static_cast<std::size_t>(call.source - arena.source());
    }
    static std::size_t destination_offset(const Call& call, const Arena& arena) {
        return static_cast<std::size_t>(call.destination - arena.destination());
    }
    std::size_t source_offset(const Call& call) const { return source_offset(call, arena); }
    std::size_t destination_offset(const Call& call) const {
        return destination_offset(call, arena);
    }
    /// Of trials of a workload: the share of each size.
    std::map<std::size_t, double> shares(Stopwatch& stopwatch, Workload workload) {
        std::vector<std::size_t> sizes;
        for (int i = 0; i < 20; ++i) {
            for (const Call& call : trial(stopwatch, workload)) sizes.push_back(call.bytes);
        }
        std::map<std::size_t, double> shares;
        for (const std::size_t size : sizes)
            shares[size] += 1.0 / static_cast<double>(sizes.size());
        return shares;
    }

    const Arena arena{8 * kMiB};
    const Machine machine = machine_with(32 * kKiB, 512 * kKiB, 16 * kMiB);
};

} // namespace

// --- Unpredictable sizes -------------------------------------------------------------------------

// Branch predictors learn calls that are repeated.
TEST_F(Mix, stays_in_half_of_its_cache_and_makes_new_calls_in_each_trial) {
    Stopwatch stopwatch = of_the_fleet();
    std::vector<Workload> workloads = kMix;
    workloads.insert(workloads.end(),
                     {Workload::spread, Workload::mix_memory, Workload::mix_memory_read});
    for (const Workload workload : workloads) {
        const std::size_t side = side_of(workload);
        const bool in_memory = side == arena.bytes();
        std::size_t furthest = 0, largest = 0, alike = 0, count = 0;
        std::set<std::vector<std::size_t>> trials;       // sizes alone: they are what is learnt
        for (int i = 0; i < (in_memory ? 1 : 90); ++i) { // the whole plan
            std::vector<std::size_t> sizes;
            for (const Call& call : trial(stopwatch, workload)) {
                const std::size_t source = source_offset(call), to = destination_offset(call);
                ASSERT_LE(source + call.bytes, side);
                ASSERT_LE(to + call.bytes, side);
                furthest = std::max({furthest, source, to});
                largest = std::max(largest, call.bytes);
                alike += source == to;
                ++count;
                sizes.push_back(call.bytes);
            }
            EXPECT_TRUE(trials.insert(sizes).second || i >= 87) << "an earlier one again: " << i;
        }
        EXPECT_GT(furthest, side * 3 / 4) << name_of(workload);
        EXPECT_LE(largest, kLargestMixed);
        EXPECT_GT(largest, workload == Workload::spread ? 62 : kLargestMixed / 2);
        EXPECT_LT(alike, count / 100) << "source and destination are not drawn apart";
    }
}

TEST_F(Mix, makes_do_with_the_caches_and_the_arena_there_are) {
    const Arena small(kMiB);
    const struct {
        const Arena& arena;
        Machine machine;
        Workload workload;
        std::size_t side;
    } cases[] = {
        {small, machine, Workload::mix_l3, small.bytes()},
        {arena, Machine{}, Workload::mix_l1, 8 * kKiB}, // the usual ones
        {arena, Machine{}, Workload::mix_l3, 8 * kMiB},
        // without a third level, the second one is there
        {arena, machine_with(32 * kKiB, 512 * kKiB, 0), Workload::mix_l3, 128 * kKiB},
    };
    for (const auto& [where, machine, workload, side] : cases) {
        Stopwatch stopwatch(where, kLargestMixed, 0,
                            {machine.caches, fleet_statistics(), kLargestMixed, 1});
        for (int i = 0; i < 90; ++i) {
            for (const Call& call : trial(stopwatch, workload)) {
                ASSERT_LE(source_offset(call, where) + call.bytes, side);
                ASSERT_LE(destination_offset(call, where) + call.bytes, side);
            }
        }
    }
}

TEST_F(Mix, has_the_sizes_of_the_distribution_up_to_the_largest) {
    Stopwatch stopwatch = make("3:0.25,100:0.0625,7:0.1875,2000:0.5");
    for (const Workload workload : {Workload::mix_l1, Workload::page_end}) {
        auto found = shares(stopwatch, workload);
        ASSERT_EQ(found.size(), 3u);
        EXPECT_NEAR(found[3], 0.5, 0.02);
        EXPECT_NEAR(found[100], 0.125, 0.02);
    }
    Stopwatch short_ones = make("8:0.2,100:0.2,101:0.6", 100);
    for (const Call& call : trial(short_ones, Workload::mix_l2)) ASSERT_LE(call.bytes, 100u);
}

TEST_F(Mix, spreads_alike_over_all_sizes_of_up_to_63_bytes_whatever_the_distribution) {
    Stopwatch stopwatch = make("3:0.25,100:0.75");
    const auto found = shares(stopwatch, Workload::spread);
    ASSERT_EQ(found.size(), 63u);
    ASSERT_EQ(found.begin()->first, 1u);
    ASSERT_EQ(found.rbegin()->first, 63u);
    for (const auto& [size, share] : found) EXPECT_NEAR(share, 1 / 63.0, 0.004) << size;
}

TEST_F(Mix, is_as_aligned_as_the_distribution_says_and_no_more) {
    Stopwatch stopwatch = make("8:1\n0:1\n16:0.5,64:0.5\n");
    int lines = 0, count = 0;
    for (const Call& call : trial(stopwatch, Workload::mix_l2)) {
        for (const std::size_t offset : {source_offset(call), destination_offset(call)}) {
            // odd multiples: 16 but not 32, or 64 but not 128
            ASSERT_TRUE(offset % 32 == 16 || offset % 128 == 64) << offset;
            lines += offset % 128 == 64;
            ++count;
        }
    }
    EXPECT_NEAR(static_cast<double>(lines) / count, 0.5, 0.05);
}

TEST_F(Mix, makes_the_same_calls_for_the_same_seed_and_others_for_each_workload) {
    Stopwatch one = of_the_fleet(5), two = of_the_fleet(5), other = of_the_fleet(6);
    std::set<std::vector<std::size_t>> sizes;
    for (const Workload workload : kMix) {
        const std::vector<Call> made = trial(one, workload);
        EXPECT_TRUE(made == trial(two, workload));
        EXPECT_FALSE(made == trial(other, workload));
        std::vector<std::size_t> of_these;
        for (const Call& call : made) of_these.push_back(call.bytes);
        EXPECT_TRUE(sizes.insert(of_these).second) << name_of(workload);
    }
    // whichever working set came before
    Stopwatch before = of_the_fleet(), without = of_the_fleet();
    EXPECT_EQ(trial(before, Workload::mix_memory).size(), 6000u);
    EXPECT_EQ(trial(before, Workload::mix_l3), trial(without, Workload::mix_l3));
}

// --- One size ------------------------------------------------------------------------------------

TEST_F(Mix, goes_through_the_fixed_sizes_at_every_misalignment_in_the_same_places_for_a_round) {
    Stopwatch stopwatch = of_the_fleet();
    for (const Workload workload : kFixed) {
        const std::vector<Call> made = trial(stopwatch, workload, 7);
        EXPECT_TRUE(made == trial(stopwatch, workload, 7));
        EXPECT_FALSE(made == trial(stopwatch, workload, 8));
        std::vector<std::size_t> sizes;
        std::map<std::size_t, int> counts;
        std::set<std::size_t> sources, destinations;
        for (const Call& call : made) {
            if (sizes.empty() || sizes.back() != call.bytes) sizes.push_back(call.bytes);
            ++counts[call.bytes];
            sources.insert(source_offset(call) % 64);
            destinations.insert(destination_offset(call) % 64);
            ASSERT_LE(source_offset(call) + call.bytes, 3 * 4096u);
            ASSERT_LE(destination_offset(call) + call.bytes, 3 * 4096u);
            // no load can be mistaken for one behind a store in flight
            const auto apart = static_cast<std::size_t>(call.destination - call.source) % 4096;
            ASSERT_GE(apart, 1024u);
            ASSERT_LE(apart, 3072u);
        }
        EXPECT_EQ(sizes, fixed_sizes());
        for (const auto& [size, count] : counts) EXPECT_EQ(count, counts[1]);
        EXPECT_EQ(sources.size(), 64u);
        EXPECT_EQ(destinations.size(), 64u);
    }
}

TEST_F(Mix, times_one_fixed_size_alone_and_moves_it_through_the_page_from_round_to_round) {
    Stopwatch stopwatch = of_the_fleet();
    std::set<std::size_t> lines;
    for (std::uint64_t round = 0; round < 64; ++round) {
        calls.clear();
        stopwatch.time(kRemember, Workload::fixed, 20, round);
        ASSERT_GT(calls.size(), 100u);
        for (const Call& call : calls) ASSERT_EQ(call.bytes, 20u);
        lines.insert(source_offset(calls.front()) / 64);
    }
    EXPECT_GE(lines.size(), 60u);
}

// Where no line is in a cache before the copy in front of it has come by.
TEST_F(Mix, walks_through_memory_with_one_small_size_after_the_other_and_does_not_come_back) {
    Stopwatch stopwatch = of_the_fleet();
    const char* last_end = nullptr;
    for (std::uint64_t round = 0; round < 6; ++round) {
        const std::vector<Call> made = trial(stopwatch, kFixedWalk[round % 2], round);
        std::vector<std::size_t> sizes;
        for (std::size_t i = 0; i < made.size(); ++i) {
            const Call& call = made[i];
            const auto apart = static_cast<std::size_t>(call.destination - call.source) % 4096;
            ASSERT_GE(apart, 1024u);
            ASSERT_LE(apart, 3072u);
            if (i > 0 && made[i - 1].bytes == call.bytes) {
                ASSERT_EQ(call.source, made[i - 1].source + call.bytes);
                ASSERT_EQ(call.destination, made[i - 1].destination + call.bytes);
                continue;
            }
            if (last_end) {
                ASSERT_GE(call.source + 63, last_end);
            }
            if (i > 0) last_end = made[i - 1].source;
            sizes.push_back(call.bytes);
        }
        last_end = made.back().source;
        EXPECT_EQ(sizes, walked_sizes());
    }
}

// --- Page ends -----------------------------------------------------------------------------------

namespace {

const PageEnds& page_ends_of(Stopwatch& stopwatch) {
    stopwatch.prepare(Workload::page_end);
    return *stopwatch.buffers().page_ends;
}

/// Which stretch of a side a call lies in, and how many bytes of it are left behind the call.
struct Place {
    std::size_t stretch, left;
};

Place place_in(const PageEnds& ends, const char* first_stretch, const char* at, std::size_t bytes) {
    const auto offset = static_cast<std::size_t>(at - first_stretch);
    const std::size_t inside = offset % ends.stride();
    EXPECT_LE(inside + bytes, ends.stretch_bytes());
    return {offset / ends.stride(), ends.stretch_bytes() - inside - bytes};
}

/// Whether each page of both sides is in memory.
std::vector<bool> pages_there(const PageEnds& ends) {
    const std::size_t bytes = 2 * PageEnds::kStretches * ends.stride();
    std::vector<unsigned char> there(bytes / page_size());
    EXPECT_EQ(mincore(const_cast<char*>(ends.source()), bytes, there.data()), 0);
    std::vector<bool> result;
    for (const unsigned char flag : there) result.push_back(flag & 1);
    return result;
}

/// Of stretches that are touched and pages behind them that are not.
std::vector<bool> only_stretches_there(const PageEnds& ends) {
    std::vector<bool> there(2 * PageEnds::kStretches * ends.stride() / page_size(), true);
    const std::size_t pages = ends.stride() / page_size();
    for (std::size_t i = pages - 1; i < there.size(); i += pages) there[i] = false;
    return there;
}

} // namespace

TEST_F(Mix, ends_every_other_source_and_every_other_copy_with_the_page) {
    Stopwatch stopwatch = of_the_fleet();
    const PageEnds& ends = page_ends_of(stopwatch);
    for (const Workload workload : kPageEnd) {
        std::set<std::size_t> sources, destinations, left;
        std::size_t at_source = 0, count = 0, empty = 0;
        for (int i = 0; i < 10; ++i) {
            for (const Call& call : trial(stopwatch, workload)) {
                const Place from = place_in(ends, ends.source(), call.source, call.bytes);
                const Place to = place_in(ends, ends.destination(), call.destination, call.bytes);
                ASSERT_LT(from.stretch, PageEnds::kStretches);
                ASSERT_LT(to.stretch, PageEnds::kStretches);
                ASSERT_NE(from.left < 64, to.left < 64);
                at_source += from.left < 64;
                empty += call.bytes == 0;
                sources.insert(from.stretch);
                destinations.insert(to.stretch);
                left.insert(std::min(from.left, to.left));
                ++count;
            }
        }
        EXPECT_NEAR(static_cast<double>(at_source) / static_cast<double>(count), 0.5, 0.05);
        EXPECT_EQ(sources.size(), PageEnds::kStretches);
        EXPECT_EQ(destinations.size(), PageEnds::kStretches);
        EXPECT_EQ(left.size(), 64u);
        EXPECT_GT(empty, 0u) << "copies of nothing stand there, too";
    }
}

// Or the timing would make the situation go away.
TEST_F(Mix, touches_no_page_behind_a_page_end_with_any_copy) {
    const Cpu cpu = read_cpu();
    const auto space = copies_of(
        asterope_small_copies, [&](std::string_view feature) { return has_feature(cpu, feature); });
    const asterope_candidate large = variants(asterope_copies)[0].copy;
    Stopwatch stopwatch = of_the_fleet();
    ASSERT_EQ(pages_there(page_ends_of(stopwatch)), only_stretches_there(page_ends_of(stopwatch)));
    for (const Workload workload : kPageEnd) {
        stopwatch.time({libc_copy()}, workload, 0, 0);
        for (const asterope_copy* copy : space) {
            EXPECT_GT(stopwatch.time(small_copy(copy->small, 0, large), workload, 0, 0), 0);
        }
    }
    EXPECT_EQ(pages_there(page_ends_of(stopwatch)), only_stretches_there(page_ends_of(stopwatch)));
}

TEST(PageEndsOf, any_length_are_whole_pages_in_front_of_one_that_is_untouched_or_forbidden) {
    for (const std::size_t bytes : {std::size_t{1}, page_size(), page_size() + 1}) {
        const PageEnds ends(bytes);
        EXPECT_EQ(ends.stretch_bytes(), bytes > page_size() ? 2 * page_size() : page_size());
        EXPECT_EQ(pages_there(ends), only_stretches_there(ends));
        for (std::size_t i = 0; i < PageEnds::kStretches; ++i) {
            char* behind = ends.destination() + i * ends.stride() + ends.stretch_bytes();
            const auto touch = [&] {
                *behind = 1;
                std::_Exit(pages_there(ends) == only_stretches_there(ends) ? 1 : 0);
            };
            if (i % 2 == 0) {
                EXPECT_EXIT(touch(), ::testing::KilledBySignal(SIGSEGV), "");
            } else {
                EXPECT_EXIT(touch(), ::testing::ExitedWithCode(0), "") << "it is seen";
            }
        }
    }
}

// --- All of them ---------------------------------------------------------------------------------

TEST_F(Mix, makes_as_many_calls_as_it_says_and_some_to_warm_up_with_distance_and_large_copy) {
    Stopwatch stopwatch = of_the_fleet();
    const asterope_candidate large = variants(asterope_copies)[1].copy;
    for (const auto& workloads : {kMix, kFixed, kFixedWalk, kPageEnd}) {
        for (const Workload workload : workloads) {
            calls.clear();
            last_large = nullptr;
            stopwatch.time(small_copy(remember_small, 1920, large), workload, 0, 0);
            EXPECT_GT(calls.size(), fixed_calls(workload));
            EXPECT_LT(calls.size(), fixed_calls(workload) * 5 / 4);
            EXPECT_EQ(calls.back().distance, 1920u);
            EXPECT_EQ(last_large, large);
        }
    }
}

TEST_F(Mix, makes_the_same_calls_of_a_set_with_zero_for_the_source) {
    const asterope_candidate large = variants(asterope_copies)[1].copy;
    const TimedCopy set = small_copy(remember_small, 1920, large, "", Operation::set);
    // Each stopwatch has page ends of its own.
    const auto place = [&](Stopwatch& stopwatch, Workload workload, const Call& call) {
        const bool at_end = workload == Workload::page_end || workload == Workload::page_end_read;
        return call.destination -
               (at_end ? page_ends_of(stopwatch).destination() : arena.destination());
    };
    for (const auto& workloads : {kMix, kFixed, kFixedWalk, kPageEnd}) {
        for (const Workload workload : workloads) {
            Stopwatch of_copies = of_the_fleet(), of_sets = of_the_fleet();
            const std::vector<Call> copies = trial(of_copies, workload, 3);
            calls.clear();
            of_sets.time(set, workload, 0, 3);
            ASSERT_EQ(calls.size(), copies.size());
            for (std::size_t i = 0; i < calls.size(); ++i) {
                ASSERT_EQ(calls[i].bytes, copies[i].bytes) << name_of(workload);
                ASSERT_EQ(place(of_sets, workload, calls[i]), place(of_copies, workload, copies[i]))
                    << name_of(workload);
                ASSERT_EQ(calls[i].source, nullptr);
            }
            EXPECT_EQ(calls.back().distance, 1920u);
            EXPECT_EQ(last_large, large);
        }
    }
}

TEST_F(Mix, reads_the_copies_where_it_says_so) {
    Stopwatch stopwatch = of_the_fleet();
    const PageEnds& ends = page_ends_of(stopwatch);
    // What copies nothing writes nothing: what touches the destination now reads it, and dies.
    const auto run = [&](Workload workload) {
        mprotect(arena.destination(), arena.bytes(), PROT_NONE);
        mprotect(ends.destination(), PageEnds::kStretches * ends.stride(), PROT_NONE);
        stopwatch.time(kRemember, workload, 0, 0);
        std::_Exit(0);
    };
    for (const WorkloadFacts& facts : kWorkloads) {
        if (facts.family != WorkloadFamily::small_copies) continue;
        const Workload workload = *find_workload(facts.name);
        if (facts.reads) {
            EXPECT_EXIT(run(workload), ::testing::KilledBySignal(SIGSEGV), "") << facts.name;
        } else {
            EXPECT_EXIT(run(workload), ::testing::ExitedWithCode(0), "") << facts.name;
        }
    }
}

// --- By bytes, and in memory ---------------------------------------------------------------------

TEST_F(Mix, draws_sizes_by_their_bytes_where_bytes_count) {
    // 8 bytes nine times as often as 72: as many bytes of each
    Stopwatch stopwatch = by_bytes("8:0.9,72:0.1");
    std::size_t large = 0;
    const std::vector<Call> calls = trial(stopwatch, Workload::mix_l2);
    for (const Call& call : calls) large += call.bytes == 72;
    EXPECT_NEAR(static_cast<double>(large) / static_cast<double>(calls.size()), 0.5, 0.05);
    EXPECT_NEAR(stopwatch.buffers().sequences.at(2).mean_bytes, 40, 0.5);
}

TEST_F(Mix, has_no_plan_where_nothing_fits_and_no_page_ends_where_bytes_count) {
    Stopwatch stopwatch = by_bytes("100000:1");
    for (const Workload by_calls : {Workload::page_end, Workload::spread}) {
        EXPECT_FALSE(stopwatch.prepare(by_calls));
        EXPECT_TRUE(of_the_fleet().prepare(by_calls));
    }
    EXPECT_FALSE(stopwatch.prepare(Workload::mix_l1));
    EXPECT_FALSE(stopwatch.prepare(Workload::mix_l2_read));
    EXPECT_TRUE(stopwatch.prepare(Workload::mix_l3));
    EXPECT_TRUE(stopwatch.prepare(Workload::mix_memory_read));
}

TEST_F(Mix, copies_all_that_the_last_cache_holds_before_bytes_in_memory_are_timed) {
    const Machine small = machine_with(32 * kKiB, 512 * kKiB, 4 * kMiB);
    Stopwatch stopwatch(
        arena, kLargestMixed, 0,
        {small.caches, parse_statistics("65536:1", "test"), kMiB, 1, Weighting::bytes});
    std::size_t bytes = 0;
    for (const Call& call : trial(stopwatch, Workload::mix_memory)) bytes += call.bytes;
    EXPECT_GE(bytes, 5 * kMiB + 3 * kMiB); // what is timed included
}
