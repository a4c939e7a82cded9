// The workloads of small copies: their calls, and the places of these.
#include "timing/made_calls.hpp"

// Half of what the cache of a workload holds is for sources and destinations, a half of that each.
// Branch predictors learn calls that are repeated.
TEST_F(Mix, stays_in_half_of_its_cache_and_makes_new_calls_in_each_sample) {
    const Arena small(kMiB);
    const struct {
        const Arena& arena;
        std::vector<Cache> caches;
        Workload workload;
        std::size_t side;
    } rows[] = {
        {arena, caches, Workload::mix_l1, 8 * kKiB},
        {arena, caches, Workload::mix_l1_read, 8 * kKiB},
        {arena, caches, Workload::spread, 8 * kKiB},
        {arena, caches, Workload::mix_l2, 128 * kKiB},
        {arena, caches, Workload::mix_l2_read, 128 * kKiB},
        {arena, caches, Workload::mix_l3, 4 * kMiB},
        {arena, caches, Workload::mix_l3_read, 4 * kMiB},
        {arena, caches, Workload::mix_memory, arena.bytes()},
        {arena, caches, Workload::mix_memory_read, arena.bytes()},
        {small, caches, Workload::mix_l3, small.bytes()},
        {arena, {}, Workload::mix_l1, 8 * kKiB}, // the usual ones
        {arena, {}, Workload::mix_l3, 8 * kMiB},
        // without a third level, the second one is there
        {arena, caches_of(32 * kKiB, 512 * kKiB, 0), Workload::mix_l3, 128 * kKiB},
    };
    for (const auto& [arena, caches, workload, side] : rows) {
        SCOPED_TRACE(name_of(workload));
        Stopwatch stopwatch(arena, kLargestMixed, 0, {caches});
        const int plan = facts_of(workload).level == 4 ? 1 : 90; // the whole of it
        std::size_t furthest = 0, largest = 0, alike = 0, count = 0;
        std::set<std::vector<std::size_t>> samples; // sizes alone: they are what is learnt
        for (int i = 0; i < plan; ++i) {
            std::vector<std::size_t> sizes;
            for (const Call& call : sample(stopwatch, workload)) {
                ASSERT_TRUE(inside(call, arena, side));
                const auto source = static_cast<std::size_t>(call.source - arena.source());
                const auto to = static_cast<std::size_t>(call.destination - arena.destination());
                ASSERT_LE(to + call.bytes, side);
                furthest = std::max({furthest, source, to});
                largest = std::max(largest, call.bytes);
                alike += source == to;
                ++count;
                sizes.push_back(call.bytes);
            }
            EXPECT_TRUE(samples.insert(sizes).second || i >= 87) << "an earlier one again: " << i;
        }
        EXPECT_GT(furthest, side * 3 / 4);
        EXPECT_LE(largest, kLargestMixed);
        EXPECT_GT(largest, workload == Workload::spread ? 62 : kLargestMixed / 2);
        EXPECT_LT(alike, count / 100) << "source and destination are not drawn apart";
    }
}

TEST_F(Mix, has_the_sizes_of_the_distribution_by_calls_or_by_bytes_up_to_the_largest) {
    using Shares = std::map<std::size_t, double>;
    const Shares sizes = {{3, 0.5}, {7, 0.375}, {100, 0.125}}, halves = {{8, 0.5}, {72, 0.5}};
    Shares alike;
    for (std::size_t size = 1; size <= 63; ++size) alike[size] = 1 / 63.0;
    const struct {
        const char* statistics;
        Workload workload;
        Weighting weighting;
        std::size_t largest;
        const Shares& shares;
    } rows[] = {
        {"3:0.25,100:0.0625,7:0.1875,2000:0.5", Workload::mix_l1, Weighting::calls, 1000, sizes},
        {"3:0.25,100:0.0625,7:0.1875,2000:0.5", Workload::page_end, Weighting::calls, 1000, sizes},
        {"8:0.2,72:0.2,73:0.6", Workload::mix_l2, Weighting::calls, 72, halves},
        {"8:0.9,72:0.1", Workload::mix_l2, Weighting::bytes, kMiB, halves}, // as many bytes of each
        {"3:0.25,100:0.75", Workload::spread, Weighting::calls, 1000, alike},
    };
    for (const auto& [statistics, workload, weighting, largest, shares] : rows) {
        SCOPED_TRACE(name_of(workload) + ' ' + statistics);
        Stopwatch stopwatch = make({.statistics = parse_statistics(statistics, "test"),
                                    .largest = largest,
                                    .weighting = weighting});
        Shares found;
        double count = 0;
        for (int i = 0; i < 20; ++i) {
            count += static_cast<double>(sample(stopwatch, workload).size());
            for (const Call& call : calls) ++found[call.bytes];
        }
        ASSERT_EQ(found.size(), shares.size());
        for (const auto& [size, share] : shares) {
            EXPECT_NEAR(found[size] / count, share, share < 0.1 ? 0.004 : 0.02) << size;
        }
        if (weighting == Weighting::bytes) {
            EXPECT_NEAR(stopwatch.buffers().sequences.at(2).mean_bytes, 40, 0.5);
        }
    }
}

TEST_F(Mix, is_as_aligned_as_the_distribution_says_and_no_more) {
    Stopwatch stopwatch =
        make({.statistics = parse_statistics("8:1\n0:1\n16:0.5,64:0.5\n", "test")});
    int lines = 0, count = 0;
    for (const Call& call : sample(stopwatch, Workload::mix_l2)) {
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
    Stopwatch one = make({.seed = 5}), two = make({.seed = 5}), other = make({.seed = 6});
    std::set<std::vector<std::size_t>> sizes;
    for (const Workload workload :
         {Workload::mix_l1, Workload::mix_l2, Workload::mix_l3, Workload::mix_l1_read,
          Workload::mix_l2_read, Workload::mix_l3_read}) {
        const std::vector<Call> made = sample(one, workload);
        EXPECT_TRUE(made == sample(two, workload));
        EXPECT_FALSE(made == sample(other, workload));
        std::vector<std::size_t> of_these;
        for (const Call& call : made) of_these.push_back(call.bytes);
        EXPECT_TRUE(sizes.insert(of_these).second) << name_of(workload);
    }
    // whichever working set came before
    Stopwatch before = make(), without = make();
    sample(before, Workload::mix_memory);
    EXPECT_EQ(sample(before, Workload::mix_l3), sample(without, Workload::mix_l3));
}

TEST_F(Mix, goes_before_itself_untimed_where_another_workload_or_round_was_before) {
    Stopwatch stopwatch = make();
    for (const auto workload : {Workload::mix_l1, Workload::mix_l3, Workload::mix_memory}) {
        for (const int round : {3, 4}) {
            EXPECT_EQ(sample(stopwatch, workload, round).size(), 2 * 6000u) << round;
            EXPECT_EQ(sample(stopwatch, workload, round).size(), 6000u) << round;
        }
    }
}

TEST_F(Mix, goes_through_the_fixed_sizes_at_every_misalignment_in_the_same_places_for_a_round) {
    Stopwatch stopwatch = make();
    for (const Workload workload : {Workload::fixed, Workload::fixed_read}) {
        const std::vector<Call> made = sample(stopwatch, workload, 7);
        EXPECT_TRUE(made == sample(stopwatch, workload, 7));
        EXPECT_FALSE(made == sample(stopwatch, workload, 8));
        std::vector<std::size_t> sizes;
        std::map<std::size_t, int> counts;
        std::set<std::size_t> sources, destinations;
        for (const Call& call : made) {
            if (sizes.empty() || sizes.back() != call.bytes) sizes.push_back(call.bytes);
            ++counts[call.bytes];
            sources.insert(misalignment(call.source));
            destinations.insert(misalignment(call.destination));
            ASSERT_LE(source_offset(call) + call.bytes, 3 * kPage);
            ASSERT_LE(destination_offset(call) + call.bytes, 3 * kPage);
            ASSERT_TRUE(far_apart(call));
        }
        EXPECT_EQ(sizes, fixed_sizes());
        for (const auto& [size, count] : counts) EXPECT_EQ(count, counts[1]);
        EXPECT_EQ(sources.size(), 64u);
        EXPECT_EQ(destinations.size(), 64u);
    }
}

TEST_F(Mix, times_one_fixed_size_alone_and_moves_it_through_the_page_from_round_to_round) {
    Stopwatch stopwatch = make();
    std::set<std::size_t> lines;
    for (std::uint64_t round = 0; round < 64; ++round) {
        ASSERT_GT(sample(stopwatch, Workload::fixed, round, 20).size(), 100u);
        for (const Call& call : calls) ASSERT_EQ(call.bytes, 20u);
        lines.insert(source_offset(calls.front()) / 64);
    }
    EXPECT_GE(lines.size(), 60u);
}

// So a line is in a cache only after the copy in front of it has come by.
TEST_F(Mix, walks_through_memory_with_one_small_size_after_the_other_and_does_not_come_back) {
    Stopwatch stopwatch = make();
    const char* last_end = nullptr;
    for (std::uint64_t round = 0; round < 6; ++round) {
        const Workload workload = round % 2 ? Workload::fixed_walk_read : Workload::fixed_walk;
        std::vector<std::size_t> sizes;
        const Call* before = nullptr;
        const std::vector<Call> made = sample(stopwatch, workload, round);
        for (const Call& call : made) {
            ASSERT_TRUE(far_apart(call));
            if (before && before->bytes == call.bytes) {
                ASSERT_EQ(call.source, before->source + call.bytes);
                ASSERT_EQ(call.destination, before->destination + call.bytes);
            } else {
                ASSERT_GE(call.source + 63, last_end);
                if (before) last_end = before->source;
                sizes.push_back(call.bytes);
            }
            before = &call;
        }
        last_end = made.back().source;
        EXPECT_EQ(sizes, walked_sizes());
    }
}

TEST_F(Mix, has_no_plan_where_nothing_fits_and_no_page_ends_where_bytes_count) {
    Stopwatch stopwatch = make({.statistics = parse_statistics("100000:1", "test"),
                                .largest = kMiB,
                                .weighting = Weighting::bytes});
    for (const Workload none :
         {Workload::page_end, Workload::spread, Workload::mix_l1, Workload::mix_l2_read}) {
        EXPECT_FALSE(stopwatch.prepare(none)) << name_of(none);
        EXPECT_TRUE(make().prepare(none));
    }
    EXPECT_TRUE(stopwatch.prepare(Workload::mix_l3));
    EXPECT_TRUE(stopwatch.prepare(Workload::mix_memory_read));
}

TEST_F(Mix, copies_all_that_the_last_cache_holds_before_bytes_in_memory_are_timed) {
    Stopwatch stopwatch = make({.caches = caches_of(32 * kKiB, 512 * kKiB, 4 * kMiB),
                                .statistics = parse_statistics("65536:1", "test"),
                                .largest = kMiB,
                                .weighting = Weighting::bytes});
    std::size_t bytes = 0;
    for (const Call& call : sample(stopwatch, Workload::mix_memory)) bytes += call.bytes;
    EXPECT_GE(bytes, 5 * kMiB + 3 * kMiB); // what is timed included
}
