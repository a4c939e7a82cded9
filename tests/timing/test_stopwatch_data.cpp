// Workloads: the data that is read after a copy, written before it, set, or touched first.
#include <fstream>
#include <pthread.h>
#include <sys/mman.h>

#include "timing/buffer_access.hpp"
#include "timing/made_calls.hpp"
#include "timing/workloads/look_up.hpp"

namespace {

std::mt19937 filled;
std::uint64_t sum_expected;

/// A copy that fills in what was never there before and sums it up, as a reader must.
void* fill(void* destination, const void*, std::size_t bytes, std::size_t) {
    auto* at = static_cast<char*>(destination);
    std::generate_n(at, bytes, [] { return static_cast<char>(filled()); });
    sum_expected += read_copy(at, bytes);
    return destination;
}

TEST_P(SampleBuffers, are_read_whole_after_each_copy_by_hot_read_and_consume_alone) {
    for (const Workload workload : {Workload::hot_read, Workload::consume, Workload::hot,
                                    Workload::cold, Workload::produce, Workload::aliased}) {
        calibrate(workload);
        for (const Operation operation : {Operation::copy, Operation::set}) {
            if (operation == Operation::set && facts_of(workload).sets == 0) continue;
            for (std::uint64_t round = 0; round < 3; ++round) {
                sum_expected = 0;
                const std::uint64_t before = stopwatch.buffers().sum_read;
                sample(workload, round, {.function = fill, .operation = operation});
                ASSERT_NE(sum_expected, 0u);
                const bool reads = workload == Workload::hot_read || workload == Workload::consume;
                ASSERT_EQ(stopwatch.buffers().sum_read - before, reads ? sum_expected : 0)
                    << name_of(operation) << ' ' << name_of(workload);
            }
        }
    }
}

// Every line of the other data begins with 1, so that the sum counts the lines. Untimed reads bring
// the near ones into the second cache; settling the caches leaves all as it is later.
TEST(Bystander, reads_all_near_lines_after_each_copy_and_as_many_far_ones_as_were_copied) {
    const Arena arena(32 * kMiB);
    Stopwatch stopwatch(arena, 2 * kMiB, 4 * kMiB, {caches_of(32 * kKiB, 256 * kKiB, 4 * kMiB)});
    constexpr std::size_t kNear = 128 * kKiB / 64, kFar = kMiB / 64;
    for (const std::size_t size : {64 * kKiB, 64 * kKiB + 63, 2 * kMiB}) {
        stopwatch.set_calibration(size, Workload::bystander, {3, 0});
        for (std::uint64_t round = 0; round < 4; ++round) {
            const std::uint64_t before = stopwatch.buffers().sum_read;
            calls_of(stopwatch, {remember}, Workload::bystander, size, round);
            const std::size_t each = kNear + std::min(size / 64, kFar);
            const std::size_t settling = round || size != 64 * kKiB ? 0 : 5 * kMiB / size + 1;
            EXPECT_EQ(calls.size(), settling + 3);
            EXPECT_EQ(stopwatch.buffers().sum_read - before,
                      (settling > 0) * kNear + settling * each + kNear + 3 * each);
        }
    }
}

TEST_P(SampleBuffers, of_sets_are_those_of_copies_and_get_zero_for_the_source) {
    Stopwatch of_sets(arena, kLargest, 0, {}, Operation::set);
    const TimedCopy set{.function = remember, .argument = 640, .operation = Operation::set};
    for (const Workload workload : kSets) {
        if (facts_of(workload).fresh) continue; // its destinations are elsewhere each time
        SCOPED_TRACE(name_of(workload));
        stopwatch.set_calibration(GetParam(), workload, {9, 0});
        of_sets.set_calibration(GetParam(), workload, {9, 0});
        for (std::uint64_t round = 0; round < 20; ++round) {
            std::vector<Call> expected = sample(workload, round, {remember, 640});
            for (Call& call : expected) call.source = nullptr;
            ASSERT_EQ(calls_of(of_sets, set, workload, GetParam(), round), expected);
        }
    }
}

// What libc's copy would leave there is the source, which has no long runs of zeros.
TEST_P(SampleBuffers, of_sets_are_calibrated_by_zeros_of_libcs_memset) {
    if (!std::set<std::size_t>{1, 1024, 2 * kMiB}.contains(GetParam())) return; // as slow at any
    Stopwatch of_sets(arena, kLargest, 0, {}, Operation::set);
    for (const Workload workload : kSets) {
        if (facts_of(workload).fresh) continue; // its destinations are elsewhere each time
        std::memset(arena.destination(), 0x5A, arena.bytes());
        std::memset(arena.writable_source(), 0x5A, arena.bytes());
        of_sets.calibrate(GetParam(), workload, sample_seconds(workload));
        EXPECT_GE(of_sets.calibration(GetParam(), workload).calls, 1u);
        const std::string_view all(arena.destination(), arena.bytes());
        const auto zeros = static_cast<std::size_t>(std::count(all.begin(), all.end(), '\0'));
        EXPECT_GE(zeros, GetParam()) << name_of(workload);
        EXPECT_EQ(all.find_first_not_of("\x5A\0", 0, 2), all.npos) << name_of(workload);
    }
}

// Or it would be consume again.
TEST_P(SampleBuffers, of_fetch_are_many_sources_and_one_destination_a_half_page_apart) {
    for (const Workload workload : {Workload::fetch, Workload::fetch_walk, Workload::lookup}) {
        calibrate(workload);
        const std::size_t untimed = facts_of(workload).walks ? kLeadIn : 1;
        for (std::uint64_t round = 0; round < 3; ++round) {
            const std::vector<Call> made = sample(workload, round);
            ASSERT_EQ(made.size(), stopwatch.calibration(GetParam(), workload).calls + untimed);
            const auto [first, last] = std::ranges::minmax_element(made, {}, &Call::destination);
            EXPECT_LT(last->destination - first->destination, 4096 + 64);
            EXPECT_LE(last->destination + GetParam(), arena.destination() + arena.bytes());
            std::set<const char*> sources;
            for (const Call& call : made) {
                EXPECT_TRUE(sources.insert(call.source).second);
                EXPECT_NEAR(static_cast<double>(apart(call)), static_cast<double>(kPhase), 63);
            }
        }
    }
}

std::vector<std::string> sources_seen;

/// A copy that keeps its source's content, then spoils it: what is right next time was written
/// since.
void* look_and_spoil(void* destination, const void* source, std::size_t bytes, std::size_t) {
    sources_seen.emplace_back(static_cast<const char*>(source), bytes);
    std::memset(const_cast<void*>(source), 0xEE, bytes);
    return remember(destination, source, bytes, 0);
}

// The clock costs as much as a small copy: they are written in groups; and what was written must
// still be in the first cache.
TEST_P(SampleBuffers, of_produce_hold_what_was_written_before_each_group_of_few_copies) {
    calibrate(Workload::produce);
    std::set<std::string> seen;
    const std::size_t most = std::clamp<std::size_t>(16384 / GetParam(), 1, 32);
    for (std::uint64_t round = 0; round < 20; ++round) {
        sources_seen.clear();
        const std::vector<Call> made = sample(Workload::produce, round, {look_and_spoil});
        ASSERT_EQ(made.size(), stopwatch.calibration(GetParam(), Workload::produce).calls);
        for (const std::string& content : sources_seen) {
            std::uint64_t first = 0;
            std::memcpy(&first, content.data(), std::min<std::size_t>(8, content.size()));
            for (std::size_t at = 0; at < content.size(); at += 8) {
                const std::uint64_t word = first + at / 8;
                const std::size_t bytes = std::min<std::size_t>(8, content.size() - at);
                ASSERT_EQ(std::memcmp(content.data() + at, &word, bytes), 0) << at;
            }
            ASSERT_TRUE(GetParam() < 8 || seen.insert(content.substr(0, 64)).second) << "again";
        }
        for (std::size_t i = 0; i < made.size(); ++i) {
            const std::size_t first = i / most * most;
            // within its group, each has a stretch of its own: it is written before all copies
            for (std::size_t j = first; j < i; ++j) {
                ASSERT_GE(std::abs(made[i].source - made[j].source),
                          static_cast<std::ptrdiff_t>(GetParam()));
            }
            // and the next group begins in the first one's place again
            ASSERT_GE(made[i].source + kLargest + 3 * 4096, arena.source() + arena.bytes());
            ASSERT_LT(std::abs(made[first].source - made[0].source), 4096 + 64);
        }
    }
}

/// A copy that finds only the header's page of its destination there, and leaves one byte on each.
void* look_and_touch(void* destination, const void* source, std::size_t bytes, std::size_t) {
    auto* to = static_cast<char*>(destination);
    char* page = to - reinterpret_cast<std::uintptr_t>(to) % 4096;
    EXPECT_EQ(to - page, 16) << "behind the header of a block";
    for (char* const header = page; page < to + bytes; page += 4096) {
        unsigned char there = 1;
        EXPECT_EQ(mincore(page, 4096, &there), 0);
        EXPECT_EQ(there & 1, page == header);
        *std::max(page, to) = 1;
    }
    return remember(destination, source, bytes, 0);
}

TEST_P(SampleBuffers, of_fresh_copies_go_to_pages_that_nobody_has_touched) {
    for (const Workload workload : {Workload::fresh, Workload::fresh_hot, Workload::fresh_small}) {
        calibrate(workload);
        for (std::uint64_t round = 0; round < 5; ++round) {
            EXPECT_EQ(sample(workload, round, {look_and_touch}).size(),
                      stopwatch.calibration(GetParam(), workload).calls);
        }
    }
    stopwatch.set_calibration(GetParam(), Workload::fresh_hot, {5, 0});
    for (const Call& call : sample(Workload::fresh_hot, 3)) {
        EXPECT_LT(std::abs(call.source - calls.back().source), 4096) << "but for its place";
    }
}

/// The bytes of this process's mappings.
std::size_t mapped_bytes() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * page_size();
}

// `ulimit -s` may allow little more.
TEST(DepthOfSamples, stays_within_two_mebibytes_of_stack) {
    const auto time_last = [](void*) -> void* {
        const Arena arena(8 * kMiB);
        Stopwatch stopwatch(arena, kMiB / 2);
        for (const Workload workload : kOfOneSize) {
            stopwatch.set_calibration(kMiB / 2, workload, {1, 0});
            stopwatch.time({remember}, workload, kMiB / 2, 0);
        }
        return nullptr;
    };
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 2 * kMiB);
    pthread_t thread;
    ASSERT_EQ(pthread_create(&thread, &small, time_last, nullptr), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&small);
}

// They add to what the arena takes, which leaves room for those of two kinds of pages.
TEST(FreshSources, take_half_a_side_of_the_arena_for_each_kind_of_pages_and_none_for_sets) {
    const Arena arena(32 * kMiB);
    constexpr std::size_t kSize = 2 * kMiB;
    for (const Operation operation : {Operation::copy, Operation::set}) {
        Stopwatch stopwatch(arena, kSize, 64 * kMiB, {}, operation);
        const std::size_t before = mapped_bytes();
        for (const Workload workload : {Workload::fresh, Workload::fresh_hot, Workload::fresh_huge,
                                        Workload::fresh_small, Workload::fresh_read}) {
            stopwatch.set_calibration(kSize, workload, {3, 0});
            calls_of(stopwatch, {.function = remember, .operation = operation}, workload, kSize, 0);
        }
        const std::size_t kinds = operation == Operation::copy ? 2 : 0;
        const std::size_t taken = mapped_bytes() - before;
        EXPECT_GE(taken, kinds * arena.bytes() / 2);
        EXPECT_LE(taken, kinds * arena.bytes() / 2 + 2 * kMiB);
    }
}

TEST(IsTimedAt, leaves_out_sizes_beyond_the_bounds_of_the_table) {
    const std::tuple<Workload, std::size_t, bool> rows[] = {
        {Workload::fresh, 65535, false},       {Workload::fresh, 65536, true},
        {Workload::fresh, kGiB << 10, true},   {Workload::cold_walk, 1, true},
        {Workload::cold_walk, 2 * kMiB, true}, {Workload::cold_walk, 2 * kMiB + 1, false},
        {Workload::lookup, 1023, false},       {Workload::lookup, 1024, true},
        {Workload::lookup, 65536, true},       {Workload::lookup, 65537, false},
        {Workload::bystander, 65535, false},   {Workload::bystander, 65536, true}};
    for (const auto& [workload, size, is_timed] : rows) {
        EXPECT_EQ(is_timed_at(size, workload), is_timed) << name_of(workload) << ' ' << size;
    }
}

// A lookup waits for a chain: each line says which one comes next.
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
