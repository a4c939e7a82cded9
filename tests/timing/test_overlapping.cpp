// Timed moves have buffers that overlap as told, lie inside the arena, and are cached.
#include "timing/workloads/overlapping.hpp"

#include "timing/made_calls.hpp"

TEST(Overlaps, are_all_shifts_up_and_down_that_are_less_than_the_size) {
    std::set<std::pair<std::size_t, std::ptrdiff_t>> found;
    const std::ptrdiff_t shifts[] = {1, 64, 4096};
    for (const Overlap& one : overlaps_of({64, 4096, 8192}, shifts)) {
        found.insert({one.size, one.shift});
    }
    EXPECT_EQ(found.size(), 2u * (1 + 2 + 3));
    for (const std::ptrdiff_t shift : {1, -1}) EXPECT_EQ(found.count({64, shift}), 1u);
    for (const std::ptrdiff_t shift : {64, -64}) EXPECT_EQ(found.count({4096, shift}), 1u);
    for (const std::ptrdiff_t shift : {4096, -4096}) EXPECT_EQ(found.count({8192, shift}), 1u);
}

TEST(OverlapSamples, move_by_the_shift_in_one_place_of_the_arena_alike_in_one_round) {
    const Arena arena(2 * kMiB);
    const auto sample = [&](const Overlap& overlap, std::uint64_t round) {
        calls.clear();
        time_overlap(arena, remember, overlap, round);
        return calls;
    };
    EXPECT_EQ(sample({4096, -8}, 3), sample({4096, -8}, 3));
    EXPECT_NE(sample({4096, -8}, 3), sample({4096, -8}, 4));
    for (const Overlap& overlap : overlaps_of({512, 64 << 10, kMiB}, kPageShifts)) {
        std::set<std::size_t> misalignments;
        for (std::uint64_t round = 0; round < 200; ++round) {
            for (const Call& call : sample(overlap, round)) {
                ASSERT_EQ(call.bytes, overlap.size);
                ASSERT_EQ(call.destination - call.source, overlap.shift);
                ASSERT_LT(std::abs(call.source - calls.front().source), 64);
                for (const char* begin : {call.destination, call.source}) {
                    ASSERT_GE(begin, arena.destination());
                    ASSERT_LE(begin + call.bytes, arena.destination() + arena.bytes());
                }
                misalignments.insert(misalignment(call.source));
            }
        }
        EXPECT_EQ(misalignments.size(), 64u);
    }
}

TEST(OverlapSamples, of_a_workload_are_those_of_all_sizes_and_its_shifts) {
    using Moves = std::set<std::pair<std::size_t, std::ptrdiff_t>>;
    const Arena arena(2 * kMiB);
    Stopwatch stopwatch(arena, 128);
    const auto expect = [&](Workload workload, std::span<const std::ptrdiff_t> shifts) {
        Moves found, expected;
        for (const Call& call : calls_of(stopwatch, {remember}, workload, 0, 0)) {
            found.insert({call.bytes, call.destination - call.source});
        }
        for (const Overlap& one : overlaps_of(kOverlapSizes, shifts)) {
            expected.insert({one.size, one.shift});
        }
        EXPECT_EQ(found, expected);
        EXPECT_GT(calls.size(), fixed_calls(workload)); // with those that are not timed
    };
    expect(Workload::overlapping, kShifts);
    expect(Workload::overlapping_pages, kPageShifts);
}
