// P2329's experiment: the parameters and the paper's rows, where churn leaves the data, and that
// copy and move leave the same elements.
#include "bench/apps/locality.hpp"

#include <cstdint>
#include <sched.h>

#include "bench/bench_run.hpp"
#include "space/spoiled_copies.hpp"
#include "support/unit_test.hpp"
#include "timing/clock.hpp"
#include "timing/timed_copy.hpp"

namespace {

/// A small system that was churned and accessed by `copy`, or by move.
LocalitySystem used(const Locality& parameters, CopyFunction copy, std::uint64_t seed = 1) {
    start_clock(false);
    LocalitySystem system(parameters);
    system.run(copy, seed);
    return system;
}

std::size_t copies_made = 0, bytes_copied = 0;
std::size_t copies_within_lines = 0; ///< from and to as few lines as so many bytes need

void* counting_copy(void* destination, const void* source, std::size_t bytes, std::size_t) {
    const auto fits = [&](const void* at) {
        const std::size_t offset = reinterpret_cast<std::uintptr_t>(at) % 64;
        return (offset + bytes + 63) / 64 == (bytes + 63) / 64;
    };
    ++copies_made;
    bytes_copied += bytes;
    copies_within_lines += fits(source) && fits(destination);
    return std::memcpy(destination, source, bytes);
}

/// Spoils the last byte, once in a while.
int bad_calls = 0;
constexpr CopyFunction bad_copy =
    spoiled<[](Asked a) { a.to[a.bytes - 1] ^= ++bad_calls % 50 == 0; }>;

/// systemSize, numSubsystems, elemsPerSubsys, elemSize, churnCount, accessCount, repCount
std::vector<std::size_t> figures(const Locality& row) {
    return {row.systemSize, row.numSubsystems, row.elemsPerSubsys, row.elemSize,
            row.churnCount, row.accessCount,   row.repCount};
}
const Locality kShapes[] = {{8192, 16, 4, 128, 1, 4, 3},
                            {8064, 21, 4, 96, 2, 1, 2},
                            {35, 5, 7, 1, 1, 1, 1},
                            {3003, 3, 77, 13, 3, 2, 4},
                            {640, 1, 10, 64, 1, 1, 2},
                            {60000, 6, 1, 10000, 1, 1, 2},
                            {8192, 16, 4, 128, 2, 1, 3, true},
                            {8064, 21, 4, 96, 2, 1, 2, true, true},
                            {60, 1, 3, 20, 1, 1, 2, false, true},
                            {3003, 3, 77, 13, 3, 2, 4, false, true},
                            {410, 5, 2, 41, 1, 1, 2, false, true}};

} // namespace

// 32 MiB do not divide into elements of 96 bytes, the paper's: the rest stays unused.
TEST(LocalityParameters, any_one_of_the_first_four_is_computed_and_counts_have_defaults) {
    const std::pair<LocalityRequest, std::vector<std::size_t>> cases[] = {
        {{.numSubsystems = 16, .elemsPerSubsys = 4, .elemSize = 128},
         {8192, 16, 4, 128, 1, 4, 4096}},
        {{.systemSize = 8192, .elemsPerSubsys = 4, .elemSize = 128}, {8192, 16, 4, 128}},
        {{.systemSize = 8192, .numSubsystems = 16, .elemSize = 128}, {8192, 16, 4, 128}},
        {{.systemSize = 8192, .numSubsystems = 16, .elemsPerSubsys = 4}, {8192, 16, 4, 128}},
        {{.systemSize = 32 * kMiB, .elemsPerSubsys = 4, .elemSize = 96}, {32 * kMiB, 87381, 4, 96}},
        {{.systemSize = 512, .numSubsystems = 4, .elemSize = 128}, {512, 4, 1, 128}},
        {{kMiB, 2, {}, 64, 5, 6, 7}, {kMiB, 2, 8192, 64, 5, 6, 7}},
        {{kGiB, 2, {}, 64}, {kGiB, 2, kGiB / 128, 64, 1, 4, 2}}};
    for (const auto& [request, expected] : cases) {
        std::vector found = figures(solve(request));
        found.resize(expected.size());
        EXPECT_EQ(found, expected);
    }
}

TEST(LocalityParameters, that_make_no_system_are_refused_by_name) {
    constexpr std::size_t huge = std::size_t{1} << 40;
    const std::pair<LocalityRequest, const char*> refused[] = {
        {{.systemSize = 8192, .numSubsystems = 16, .elemsPerSubsys = 4, .elemSize = 128},
         "all of systemSize"},
        {{.systemSize = 8192, .elemSize = 128}, "too few of systemSize"},
        {{}, "none of systemSize"},
        {{.systemSize = 0, .numSubsystems = 1, .elemSize = 1}, "systemSize is 0"},
        {{.systemSize = 64, .numSubsystems = 1, .elemSize = 1, .repCount = 0}, "repCount is 0"},
        {{.systemSize = 511, .numSubsystems = 4, .elemSize = 128}, "511 B is less than the 512 B"},
        {{.numSubsystems = huge, .elemsPerSubsys = huge, .elemSize = 2}, "too large"},
    };
    for (const auto& [request, part] : refused) {
        const std::string said = refusal_of([&, &request = request] { solve(request); });
        EXPECT_TRUE(mentions(said, part));
    }
}

TEST(LocalityPreset, has_the_rows_of_the_papers_tests) {
    for (const int test : {1, 2}) {
        const std::vector<Locality> rows = preset(test, {});
        ASSERT_EQ(rows.size(), 130u); // as many as the published results have
        const std::size_t bytes = test == 1 ? 128 : 96, first = test == 1 ? 16 : 21;
        for (const Locality& row : rows) {
            EXPECT_EQ(row.elemSize, bytes);
            EXPECT_EQ(row.churnCount, 1u);
            EXPECT_EQ(row.accessCount, 4u);
            EXPECT_GE(row.numSubsystems, 2u);
        }
        EXPECT_EQ(figures(rows.front()), figures({8192, first, 4, bytes, 1, 4, 4096}));
        EXPECT_EQ(figures(rows.back()), figures({32 * kMiB, 2, 131072, bytes, 1, 4, 2}));
    }
}

TEST(LocalityPreset, has_test_3_scaled_to_the_memory) {
    const std::size_t memory = 8 * 1024 * kMiB;
    const std::vector<Locality> rows = preset(3, {}, memory);
    ASSERT_EQ(rows.size(), 16u); // four systems in four ways
    EXPECT_EQ(rows.front().systemSize, 512 * kMiB);
    EXPECT_EQ(rows.back().systemSize, 4096 * kMiB);
    for (const Locality& row : rows) {
        EXPECT_EQ((std::vector{row.elemSize, row.churnCount, row.accessCount, row.repCount}),
                  (std::vector<std::size_t>{64, 1, 8, 5}));
        EXPECT_LE(memory_of(row), memory);
    }
    EXPECT_TRUE(mentions(refusal_of([] { preset(3, {}, 8192); }), "no such row"));
}

TEST(LocalitySystem, copy_leaves_the_data_where_it_was_and_move_scatters_it) {
    const Locality& shape = kShapes[0];
    EXPECT_EQ(LocalitySystem(shape).gaps(), 0u);
    EXPECT_EQ(used(shape, libc_copy()).gaps(), 0u);
    LocalitySystem moved = used(shape, nullptr);
    // 48 pairs of neighbours, of which one in 16 stays together by chance
    EXPECT_GT(moved.gaps(), 24u);
    moved.lay_out();
    EXPECT_EQ(moved.gaps(), 0u);
    EXPECT_EQ(moved.checksum(), LocalitySystem(shape).checksum());
}

TEST(LocalitySystem, packed_elements_take_as_few_lines_as_they_can_and_lie_no_further_apart) {
    const std::pair<std::size_t, std::size_t> lines_by_size[] = {
        {20, 22}, {32, 32}, {40, 64}, {64, 64}, {65, 65}, {96, 96}, {100, 128}};
    for (const auto& [size, lines] : lines_by_size) {
        Locality shape{8 * 64 * size, 8, 64, size, 1, 1, 1};
        const auto keeps_to_lines = [&](bool packed) {
            shape.packed = packed;
            copies_within_lines = 0;
            used(shape, counting_copy);
            return copies_within_lines >= 64u * 7; // the others come from or go to the hole
        };
        EXPECT_EQ(keeps_to_lines(false), lines == size) << size;
        EXPECT_TRUE(keeps_to_lines(true)) << size;
        EXPECT_EQ(memory_of(shape), 8 * (64 * 32 + lines * 64) + 8 * 64 * 4 + size) << size;
        EXPECT_EQ(LocalitySystem(shape).gaps(), 0u) << size;
    }
}

TEST(LocalitySystem, copy_and_move_leave_the_same_elements) {
    for (const Locality& shape : kShapes) {
        const std::uint64_t moved = used(shape, nullptr).checksum();
        EXPECT_EQ(used(shape, libc_copy()).checksum(), moved) << shape.systemSize;
        EXPECT_NE(moved, LocalitySystem(shape).checksum()) << shape.systemSize;
    }
}

TEST(LocalitySystem, the_checksum_tells_other_orders_and_bad_copies) {
    std::set<std::uint64_t> sums;
    for (const std::uint64_t seed : {1, 2, 3}) {
        sums.insert(used(kShapes[0], libc_copy(), seed).checksum());
    }
    sums.insert(used(kShapes[0], bad_copy).checksum());
    EXPECT_EQ(sums.size(), 4u);
}

TEST(LocalitySystem, every_element_is_copied_once_a_churn) {
    copies_made = bytes_copied = 0;
    const Locality& shape = kShapes[1];
    used(shape, counting_copy);
    // and one a rank waits elsewhere
    const std::size_t churns = shape.churnCount * shape.repCount;
    EXPECT_EQ(copies_made, churns * shape.elemsPerSubsys * (shape.numSubsystems + 1));
    EXPECT_EQ(bytes_copied, copies_made * shape.elemSize);
}

/// Of libc's copy, this one as the routine's, move, and a copy over threads.
std::vector<Cell> compared(CopyFunction ours, int rounds) {
    cpu_set_t before;
    sched_getaffinity(0, sizeof before, &before);
    BenchRun run(Machine{},
                 {{"libc", "", libc_copy()},
                  {"ours", "", ours, false, {}, nullptr, true},
                  {"move", "", nullptr},
                  {"crowd", "", libc_copy(), true}},
                 rounds);
    run.start(-1);
    sched_setaffinity(0, sizeof before, &before);
    run.plan(1);
    return run.measure(locality_job(kShapes[0]));
}

TEST(LocalityComparison, has_libc_the_routine_and_move_in_the_whole_and_in_both_steps) {
    const std::vector<Cell> cells = compared(libc_copy(), 5);
    ASSERT_EQ(cells.size(), 3u); // both, churn, access
    for (const Cell& cell : cells) {
        ASSERT_EQ(cell.copies.size(), 4u);
        EXPECT_EQ(cell.copies[2].copy, "move");
        for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(cell.copies[i].rival, i % 2 == 0);
        for (const CopyResult& copy : cell.copies) {
            EXPECT_GT(copy.ratio.low, 0);
            EXPECT_GE(cells[0].find(copy.copy)->seconds, copy.seconds);
        }
    }
}

TEST(LocalityComparison, fails_where_a_routine_copies_wrong) {
    EXPECT_TRUE(mentions(refusal_of<Failure>([] { compared(bad_copy, 3); }), "checksums disagree"));
}
