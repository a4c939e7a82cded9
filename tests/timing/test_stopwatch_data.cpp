// Workloads: what is read after a copy, written before it, set, and touched for the first time.
#include "timing/stopwatch.hpp"

#include <sys/mman.h>

#include "support/unit_test.hpp"
#include "timing/trial_buffers.hpp"
#include "timing/workloads/look_up.hpp"

namespace {

std::uint64_t filled, sum_expected;

/// A copy that fills in what was never there before and sums it up byte by byte, as a reader must.
void* fill(void* destination, const void*, std::size_t bytes, std::size_t) {
    auto* at = static_cast<unsigned char*>(destination);
    for (std::size_t i = 0; i < bytes; ++i) {
        filled = filled * 6364136223846793005u + 1442695040888963407u;
        at[i] = static_cast<unsigned char>(filled >> 56);
        sum_expected += i < bytes / 8 * 8 ? std::uint64_t{at[i]} << (8 * (i % 8)) : at[i];
    }
    return destination;
}

TEST_P(TrialBuffers, are_read_whole_after_each_copy_by_hot_read_and_consume_alone) {
    for (const Workload workload : {Workload::hot_read, Workload::consume, Workload::hot,
                                    Workload::cold, Workload::produce, Workload::aliased}) {
        calibrate(workload);
        const bool reads = workload == Workload::hot_read || workload == Workload::consume;
        for (const Operation operation : {Operation::copy, Operation::set}) {
            if (operation == Operation::set && facts_of(workload).sets == 0) continue;
            for (std::uint64_t round = 0; round < 3; ++round) {
                sum_expected = 0;
                const std::uint64_t before = stopwatch.buffers().sum_read;
                stopwatch.time({.function = fill, .operation = operation}, workload, GetParam(),
                               round);
                ASSERT_NE(sum_expected, 0u);
                ASSERT_EQ(stopwatch.buffers().sum_read - before, reads ? sum_expected : 0)
                    << name_of(operation) << ' ' << name_of(workload);
            }
        }
    }
}

// Every line of the other data begins with 1, so that the sum counts the lines. What is not timed
// brings the near ones into the second cache; what settles the caches leaves all as it is later.
TEST(Bystander, reads_all_near_lines_after_each_copy_and_as_many_far_ones_as_were_copied) {
    start_clock(false, 0);
    const Arena arena(32 * kMiB);
    const std::vector<Cache> caches = {{1, "data", 32 * kKiB, 64, 8, 1},
                                       {2, "unified", 256 * kKiB, 64, 8, 1},
                                       {3, "unified", 4 * kMiB, 64, 16, 2}};
    Stopwatch stopwatch(arena, 2 * kMiB, 4 * kMiB, {caches});
    constexpr std::size_t kNear = 128 * kKiB / 64, kFar = kMiB / 64;
    for (const std::size_t size : {64 * kKiB, 64 * kKiB + 63, 2 * kMiB}) {
        stopwatch.set_calibration(size, Workload::bystander, {3, 0});
        std::uint64_t before = 0;
        for (std::uint64_t round = 0; round < 4; ++round) {
            before = stopwatch.buffers().sum_read;
            calls.clear();
            stopwatch.time({remember, 0}, Workload::bystander, size, round);
            const std::size_t each = kNear + std::min(size / 64, kFar);
            const std::size_t settling = round || size != 64 * kKiB ? 0 : 5 * kMiB / size + 1;
            EXPECT_EQ(calls.size(), settling + 3);
            EXPECT_EQ(stopwatch.buffers().sum_read - before,
                      (settling > 0) * kNear + settling * each + kNear + 3 * each);
        }
    }
}

TEST_P(TrialBuffers, of_sets_are_those_of_copies_and_get_zero_for_the_source) {
    Stopwatch of_sets(arena, kLargest, 0, {}, Operation::set);
    for (const Workload workload : kSets) {
        stopwatch.set_calibration(GetParam(), workload, {9, 0});
        of_sets.set_calibration(GetParam(), workload, {9, 0});
        for (std::uint64_t round = 0; round < 20; ++round) {
            const std::vector<Call> copies = trial(workload, round, 640);
            calls.clear();
            of_sets.time({.function = remember, .distance = 640, .operation = Operation::set},
                         workload, GetParam(), round);
            ASSERT_EQ(calls.size(), copies.size()) << name_of(workload);
            for (std::size_t i = 0; i < calls.size(); ++i) {
                ASSERT_EQ(calls[i].destination, copies[i].destination) << name_of(workload);
                ASSERT_EQ(calls[i].source, nullptr);
                ASSERT_EQ(calls[i].bytes, GetParam());
                ASSERT_EQ(calls[i].distance, 640u);
            }
        }
    }
}

// What libc's copy would leave there is the source, which has no long runs of zeros.
TEST_P(TrialBuffers, of_sets_are_calibrated_by_zeros_of_libcs_memset) {
    Stopwatch of_sets(arena, kLargest, 0, {}, Operation::set);
    for (const Workload workload : kSets) {
        std::memset(arena.destination(), 0x5A, arena.bytes());
        std::memset(arena.writable_source(), 0x5A, arena.bytes());
        of_sets.calibrate(GetParam(), workload, trial_seconds(workload));
        EXPECT_GE(of_sets.calls(GetParam(), workload), 1u);
        const std::string_view all(arena.destination(), arena.bytes());
        const auto zeros = static_cast<std::size_t>(std::count(all.begin(), all.end(), '\0'));
        EXPECT_GE(zeros, GetParam()) << name_of(workload);
        const std::string_view nothing_else("\x5A\0", 2);
        EXPECT_EQ(all.find_first_not_of(nothing_else), all.npos) << name_of(workload);
    }
}

std::vector<std::string> sources_seen;

/// A copy that keeps its source's content, then spoils it: what is right next time was written
/// since.
void* look_and_spoil(void* destination, const void* source, std::size_t bytes, std::size_t) {
    sources_seen.emplace_back(static_cast<const char*>(source), bytes);
    std::memset(const_cast<void*>(source), 0xEE, bytes);
    return destination;
}

// Or it would be consume again.
TEST_P(TrialBuffers, of_fetch_are_many_sources_and_one_destination_a_half_page_apart) {
    for (std::uint64_t round = 0; round < 9; ++round) {
        const Workload workload = kFetches[round % kFetches.size()];
        calibrate(workload);
        const std::vector<Call> made = trial(workload, round);
        const std::size_t untimed = facts_of(workload).walks ? kLeadIn : 1;
        ASSERT_EQ(made.size(), stopwatch.calls(GetParam(), workload) + untimed);
        const auto [first, last] =
            std::minmax_element(made.begin(), made.end(), [](const Call& a, const Call& b) {
                return a.destination < b.destination;
            });
        EXPECT_LT(last->destination - first->destination, 4096 + 64);
        EXPECT_LE(last->destination + GetParam(), arena.destination() + arena.bytes());
        std::set<const char*> sources;
        for (const Call& call : made) {
            EXPECT_TRUE(sources.insert(call.source).second);
            EXPECT_NEAR(static_cast<double>(apart(call)), static_cast<double>(kPhase), 63);
        }
    }
}

TEST_P(TrialBuffers, of_produce_hold_what_was_written_before_each_copy) {
    calibrate(Workload::produce);
    std::set<std::string> seen;
    for (std::uint64_t round = 0; round < 3; ++round) {
        sources_seen.clear();
        stopwatch.time({look_and_spoil, 0}, Workload::produce, GetParam(), round);
        for (const std::string& content : sources_seen) {
            std::uint64_t first = 0, word = 0;
            std::memcpy(&first, content.data(), std::min<std::size_t>(8, content.size()));
            for (std::size_t at = 0; at < content.size(); at += 8) {
                const std::size_t bytes = std::min<std::size_t>(8, content.size() - at);
                word = first + at / 8;
                ASSERT_EQ(std::memcmp(content.data() + at, &word, bytes), 0) << at;
            }
            if (GetParam() >= 8) {
                ASSERT_TRUE(seen.insert(content).second) << "written before";
            }
        }
        ASSERT_EQ(sources_seen.size(), stopwatch.calls(GetParam(), Workload::produce));
    }
}

// The clock costs as much as a small copy; and what was written must still be in the first cache.
TEST_P(TrialBuffers, of_produce_are_written_in_groups_that_stay_in_the_first_cache) {
    calibrate(Workload::produce);
    const auto overlap = [&](const Call& one, const Call& other) {
        return one.source < other.source + GetParam() && other.source < one.source + GetParam();
    };
    const std::size_t most = std::clamp<std::size_t>(16384 / GetParam(), 1, 32);
    for (std::uint64_t round = 0; round < 20; ++round) {
        const std::vector<Call> made = trial(Workload::produce, round);
        for (std::size_t first = 0; first < made.size(); first += most) {
            const std::size_t last = std::min(first + most, made.size());
            for (std::size_t i = first; i < last; ++i) {
                // within its group, each has a stretch of its own: it is written before all copies
                for (std::size_t j = first; j < i; ++j) ASSERT_FALSE(overlap(made[i], made[j]));
                // and the next group begins in the first one's place again
                const auto past = made[i].source - (arena.source() + arena.bytes());
                ASSERT_GE(past, -static_cast<std::ptrdiff_t>(kLargest + 3 * 4096));
            }
            const auto apart = made[first].source - made[0].source;
            ASSERT_LT(std::abs(apart), 4096 + 64);
        }
    }
}

std::size_t fresh_calls, pages_touched;

/// A copy that looks whether any page of its destination is there, and leaves one byte on each.
void* look_and_touch(void* destination, const void*, std::size_t bytes, std::size_t) {
    auto* to = static_cast<char*>(destination);
    char* page = to - reinterpret_cast<std::uintptr_t>(to) % 4096;
    for (; page < to + bytes; page += 4096) {
        unsigned char there = 1;
        EXPECT_EQ(mincore(page, 4096, &there), 0);
        pages_touched += there & 1;
        *std::max(page, to) = 1;
    }
    ++fresh_calls;
    return destination;
}

TEST_P(TrialBuffers, of_fresh_copies_go_to_pages_that_nobody_has_touched) {
    for (const Workload workload : {Workload::fresh, Workload::fresh_hot}) {
        calibrate(workload);
        trial(workload, 0); // some calls settle the caches
        fresh_calls = pages_touched = 0;
        for (std::uint64_t round = 0; round < 5; ++round) {
            stopwatch.time({look_and_touch, 0}, workload, GetParam(), round);
        }
        EXPECT_EQ(fresh_calls, 5 * stopwatch.calls(GetParam(), workload));
        EXPECT_EQ(pages_touched, 0u);
    }
    stopwatch.set_calibration(GetParam(), Workload::fresh_hot, {5, 0});
    for (const Call& call : trial(Workload::fresh_hot, 3)) {
        EXPECT_LE(std::abs(call.source - calls.back().source), 64) << "but for the misalignment";
    }
}

TEST(IsTimedAt, leaves_out_sizes_beyond_the_bounds_of_the_table) {
    const struct {
        Workload workload;
        std::size_t least, most;
    } rows[] = {{Workload::fresh, kPage, std::size_t{1} << 40},
                {Workload::cold_walk, 1, 2 * kMiB},
                {Workload::lookup, 1024, 64 << 10},
                {Workload::bystander, 64 << 10, std::size_t{1} << 40},
                {Workload::hot, 1, std::size_t{1} << 40}};
    for (const auto& [workload, least, most] : rows) {
        EXPECT_TRUE(is_timed_at(least, workload) && is_timed_at(most, workload));
        EXPECT_EQ(is_timed_at(least - 1, workload), least == 1) << name_of(workload);
        EXPECT_EQ(is_timed_at(most + 1, workload), most > kMiB * kMiB - 1) << name_of(workload);
    }
}

// What a lookup waits for is a chain: each line says which one comes next.
TEST(LookUp, depends_on_as_many_lines_as_it_reads_all_over_the_table) {
    constexpr std::size_t kLines = 1000;
    std::vector<char> table(kLines * 64);
    fill_with_data(table.data(), table.size());
    std::set<std::size_t> read;
    for (std::uint64_t key = 1; key <= 40; ++key) {
        const std::uint64_t plain = look_up(table.data(), kLines, key);
        std::size_t decisive = 0;
        for (std::size_t line = 0; line < kLines; ++line) {
            table[line * 64] ^= 1;
            if (look_up(table.data(), kLines, key) != plain) {
                ++decisive;
                read.insert(line);
            }
            table[line * 64] ^= 1;
        }
        EXPECT_EQ(decisive, kLookUpLines) << key;
    }
    EXPECT_GE(read.size(), 120u);
    EXPECT_LT(*read.begin(), kLines / 10);
    EXPECT_GT(*read.rbegin(), kLines - kLines / 10);
    EXPECT_EQ(nothing_of(look_up(table.data(), kLines, 1)), 0u);
}

} // namespace
