// The workloads of small copies: which calls are made, and where.
#include "timing/stopwatch.hpp"

#include "support/unit_test.hpp"
#include "timing/mixed_calls.hpp"

namespace {

/// Half of what the cache of a workload holds is for sources and destinations, a half of that each.
std::size_t side_of(Workload workload) {
    const std::string_view name = name_of(workload);
    return name.starts_with("mix_l1") || name == "spread" ? 8 * kKiB
           : name.starts_with("mix_l2")                   ? 128 * kKiB
           : name.starts_with("mix_l3")                   ? 4 * kMiB
                                                          : 8 * kMiB; // the arena
}

/// So far that no load can be mistaken for one behind a store in flight.
bool far_apart(const Call& call) {
    const auto distance = static_cast<std::size_t>(call.destination - call.source) % 4096;
    return 1024 <= distance && distance <= 3072;
}

} // namespace

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
                ASSERT_LE(call.source + call.bytes, where.source() + side);
                ASSERT_LE(call.destination + call.bytes, where.destination() + side);
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
            ASSERT_TRUE(far_apart(call));
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
            ASSERT_TRUE(far_apart(call));
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
