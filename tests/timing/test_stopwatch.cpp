// Workloads: where the buffers of each call lie. How long a call takes is not tested here.
#include "timing/workload.hpp"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <sys/mman.h>

#include "base/error.hpp"
#include "search/objective.hpp"
#include "support/remembered_calls.hpp"
#include "support/temporary_folder.hpp"
#include "support/units.hpp"
#include "timing/clock.hpp"
#include "timing/stopwatch.hpp"
#include "timing/workloads/look_up.hpp"

using namespace asterope;

namespace {

const std::vector<Workload> kOfOneSize = [] {
    std::vector<Workload> workloads(kMeasured.begin(), kMeasured.end());
    workloads.push_back(Workload::fresh);
    workloads.push_back(Workload::fresh_hot);
    workloads.push_back(Workload::bystander);
    return workloads;
}();
const std::vector<Workload> kOnSlots = {Workload::cold, Workload::consume, Workload::produce};
const std::vector<Workload> kWalks = {Workload::cold_walk, Workload::consume_walk,
                                      Workload::fetch_walk};
const std::vector<Workload> kFetches = {Workload::fetch, Workload::fetch_walk, Workload::lookup};

/// Whether a copy reads its source, of `source_bytes`, and writes the arena, and nothing beside.
bool inside(const Call& call, const Arena& arena, std::size_t source_bytes) {
    return call.source >= arena.source() &&
           call.source + call.bytes <= arena.source() + source_bytes &&
           call.destination >= arena.destination() &&
           call.destination + call.bytes <= arena.destination() + arena.bytes();
}

/// How far the destination lies past the source, modulo a page.
std::size_t apart(const Call& call) {
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

std::size_t misalignment(const char* address) {
    return reinterpret_cast<std::uintptr_t>(address) % 64;
}

} // namespace

// In every slot, where they are few, and every place of a round. A destination up to 63 bytes past
// its source, modulo a page, stalls loads behind stores.
TEST_P(TrialBuffers, are_as_many_and_as_long_as_asked_inside_the_arena_and_never_alias) {
    for (const Workload workload : kOfOneSize) {
        calibrate(workload);
        const std::size_t timed = stopwatch.calls(GetParam(), workload);
        EXPECT_GE(timed, 1u);
        const bool hot = workload == Workload::hot || workload == Workload::hot_read;
        // one call before fetch's brings the destination into the caches
        const bool fetches = workload == Workload::fetch || workload == Workload::lookup;
        const std::size_t untimed = hot                        ? std::max<std::size_t>(3, timed / 8)
                                    : facts_of(workload).walks ? kLeadIn
                                                               : fetches;
        const char *lowest = arena.source() + arena.bytes(), *highest = arena.source();
        for (std::uint64_t round = 0; round < 100; ++round) {
            ASSERT_EQ(trial(workload, round, 1920).size(), timed + untimed) << name_of(workload);
            for (const Call& call : calls) {
                ASSERT_EQ(call.bytes, GetParam());
                ASSERT_EQ(call.distance, 1920u);
                ASSERT_TRUE(facts_of(workload).fresh || inside(call, arena, arena.bytes()));
                ASSERT_GE(apart(call), 1024u);
                ASSERT_LE(apart(call), 3072u);
                lowest = std::min(lowest, call.source);
                highest = std::max(highest, call.source);
            }
        }
        // hot ones stay in one place, but for the places of the rounds and the misalignments
        EXPECT_TRUE(!hot || highest - lowest <= 4096 + 64);
    }
}

// Beside a libc that takes no time, everybody is hopeless.
TEST_P(TrialBuffers, are_as_few_as_the_untimed_ones_for_a_hopeless_hot_copy) {
    for (const Workload workload : {Workload::hot, Workload::hot_read}) {
        stopwatch.set_calibration(GetParam(), workload, {800, 1e-18});
        EXPECT_EQ(trial(workload, 0).size(), 100u + 100u);
        stopwatch.set_calibration(GetParam(), workload, {2, 1e-18});
        EXPECT_EQ(trial(workload, 0).size(), 3u + 2u);
        stopwatch.set_calibration(GetParam(), workload, {800, 1e3});
        EXPECT_EQ(trial(workload, 0).size(), 100u + 800u);
    }
}

// What stores past the caches where it finds its destination uncached must show that it goes on so.
TEST_P(TrialBuffers, of_a_hot_copy_that_chooses_begin_cached_uncached_and_untouched_in_turn) {
    calibrate(Workload::hot);
    TimedCopy chooses{remember, 0};
    chooses.chooses = true;
    std::set<const char*> uncached;
    for (std::uint64_t round = 0; round < 6; ++round) {
        const std::vector<Call> usual = trial(Workload::hot, round);
        calls.clear();
        stopwatch.time(chooses, Workload::hot, GetParam(), round);
        const bool one_more = GetParam() >= 16 * kKiB && round % 3 == 2;
        ASSERT_EQ(calls.size(), usual.size() + one_more);
        const char* to = calls.front().destination;
        const bool there = to == usual.front().destination;
        EXPECT_EQ(there, GetParam() < 16 * kKiB || round % 3 == 0) << round;
        EXPECT_EQ(inside(calls.front(), arena, arena.bytes()), !one_more) << round;
        EXPECT_TRUE(there || one_more || uncached.insert(to).second);
        for (const Call& call : calls) EXPECT_LT(std::abs(call.destination - to), 64);
    }
}

// And whoever knows the cache knows what cannot be hot in it.
TEST_P(TrialBuffers, need_no_untimed_call_where_they_outgrow_the_cache) {
    Stopwatch knows(arena, kLargest, 2 * GetParam());
    Stopwatch small(arena, kLargest, 2 * GetParam() - 1);
    for (Stopwatch* one : {&knows, &small}) {
        one->set_calibration(GetParam(), Workload::hot, {5, 0});
        one->time({remember, 0}, Workload::hot, GetParam(), 0); // settles
        calls.clear();
        one->time({remember, 0}, Workload::hot, GetParam(), 1);
        EXPECT_EQ(calls.size(), one == &knows ? 3u + 5u : 5u);
    }
}

TEST_P(TrialBuffers, are_misaligned_alike_for_all_copies_of_a_round) {
    for (const Workload workload : kOfOneSize) {
        calibrate(workload);
        const std::vector<Call> one = trial(workload, 7), two = trial(workload, 7);
        ASSERT_EQ(one.size(), two.size());
        for (std::size_t i = 0; i < one.size(); ++i) {
            ASSERT_EQ(misalignment(one[i].source), misalignment(two[i].source));
            ASSERT_EQ(misalignment(one[i].destination), misalignment(two[i].destination));
        }
    }
    EXPECT_TRUE(trial(Workload::hot, 7) == trial(Workload::hot, 7));
    EXPECT_FALSE(trial(Workload::hot, 7) == trial(Workload::hot, 8));
}

TEST_P(TrialBuffers, take_every_misalignment_on_either_side) {
    // reading and writing large buffers takes its time
    const std::uint64_t rounds = GetParam() > kMiB ? 512 : 4096;
    for (const Workload workload : kOfOneSize) {
        calibrate(workload);
        std::set<std::size_t> sources, destinations;
        std::set<std::pair<std::size_t, std::size_t>> pairs;
        for (std::uint64_t round = 0; round < rounds; ++round) {
            const Call call = trial(workload, round).front();
            sources.insert(misalignment(call.source));
            destinations.insert(misalignment(call.destination));
            pairs.insert({misalignment(call.source), misalignment(call.destination)});
        }
        EXPECT_EQ(sources.size(), 64u);
        EXPECT_EQ(destinations.size(), 64u);
        EXPECT_GT(pairs.size(), rounds / 2);
    }
}

TEST_P(TrialBuffers, of_aliasing_copies_lie_just_past_their_sources_modulo_a_page) {
    calibrate(Workload::hot);
    std::set<std::size_t> distances;
    for (std::uint64_t round = 0; round < 100; ++round) {
        for (const Call& call : trial(Workload::aliased, round)) {
            ASSERT_GE(apart(call), 1u);
            ASSERT_LE(apart(call), 63u);
            distances.insert(apart(call));
        }
    }
    EXPECT_GE(distances.size(), 60u);
}

// The hardware prefetchers would fetch the next copy's buffers were it the neighbour.
TEST_P(TrialBuffers, of_cold_copies_jump_and_come_round_only_after_the_whole_arena) {
    const std::size_t slots_end = stopwatch.buffers().slot_bytes;
    for (const Workload workload : kOnSlots) {
        calibrate(workload);
        // enough for the large ones to come round
        const std::vector<Call> all = first_calls(workload, GetParam() > kMiB ? 64 : 4096);
        for (std::size_t i = 1; i < 50; ++i) {
            ASSERT_GT(std::abs(all[i].destination - all[i - 1].destination),
                      static_cast<std::ptrdiff_t>(GetParam() + 4096));
        }
        // Until the first slot comes again, the copies overlap nowhere and cover most of the arena,
        // or, where they are small, are spread over it. produce's sources are elsewhere.
        for (const bool source : {false, true}) {
            if (source && workload == Workload::produce) continue;
            std::vector<const char*> begins;
            for (const Call& call : all) {
                const char* address = source ? call.source : call.destination;
                address -= misalignment(address);
                if (!begins.empty() && address == begins.front()) break;
                begins.push_back(address);
            }
            const auto slots = begins.size();
            std::sort(begins.begin(), begins.end());
            for (std::size_t i = 1; i < begins.size(); ++i) {
                ASSERT_GE(begins[i] - begins[i - 1], static_cast<std::ptrdiff_t>(GetParam() + 63));
            }
            EXPECT_GE(begins.back() - begins.front(),
                      static_cast<std::ptrdiff_t>(slots_end - 4 * kLargest - 2 * kMiB));
            if (slots < all.size()) {
                EXPECT_GE(slots * (GetParam() + 4096), slots_end - 2 * kLargest);
            }
        }
    }
}

// A prefetcher learns strides by instruction, and another one runs on from block to block.
TEST_P(TrialBuffers, of_a_walk_lie_one_after_the_other_at_one_distance_on_both_sides) {
    settle();
    for (const Workload workload : kWalks) {
        stopwatch.set_calibration(GetParam(), workload, {4, 0});
        // they begin anew at the stretch's end
        std::size_t jumps = 0;
        for (std::uint64_t round = 0; round < 50; ++round) {
            const std::vector<Call> made = trial(workload, round);
            ASSERT_EQ(made.size(), kLeadIn + 4);
            for (std::size_t i = 1; i < made.size(); ++i) {
                const auto step = made[i].source - made[i - 1].source;
                if (workload != Workload::fetch_walk) {
                    ASSERT_EQ(made[i].destination - made[i - 1].destination, step);
                }
                if (step < 0) {
                    ++jumps;
                    continue;
                }
                ASSERT_GE(step, static_cast<std::ptrdiff_t>(GetParam()));
                ASSERT_LE(step, static_cast<std::ptrdiff_t>(GetParam() + 64));
                ASSERT_EQ(step, static_cast<std::ptrdiff_t>(walked_stride(GetParam())));
            }
        }
        EXPECT_LE(jumps, 1 + 50 * (kLeadIn + 4) * walked_stride(GetParam()) / (4 * kMiB));
    }
}

// Or they would be found in a cache: by the next walk of whatever workload, and by cold ones.
TEST_P(TrialBuffers, of_a_walk_come_again_only_after_their_whole_stretch_where_no_slots_are) {
    const std::size_t stretch = stopwatch.buffers().cold_bytes - stopwatch.buffers().slot_bytes;
    EXPECT_GE(stretch, arena.bytes() / 4);
    settle();
    std::size_t walked = 0;
    const char* last = nullptr;
    const std::size_t enough = stretch - 2 * (GetParam() + 4096);
    for (std::uint64_t round = 0; walked < enough; ++round) {
        const Workload workload = kWalks[round % kWalks.size()];
        stopwatch.set_calibration(GetParam(), workload, {64, 0});
        for (const Call& call : trial(workload, round)) {
            if (walked >= enough) break;
            const auto place = static_cast<std::size_t>(call.source - arena.source());
            ASSERT_GE(place, stopwatch.buffers().slot_bytes);
            ASSERT_LE(place + GetParam(), stopwatch.buffers().cold_bytes);
            if (last) {
                ASSERT_GE(call.source, last) << "too early";
                walked += static_cast<std::size_t>(call.source - last);
            }
            last = call.source;
        }
    }
    for (const Workload workload : {Workload::cold, Workload::consume, Workload::fetch}) {
        calibrate(workload);
        for (std::uint64_t round = 0; round < 100; ++round) {
            for (const Call& call : trial(workload, round)) {
                ASSERT_LE(call.source + GetParam(),
                          arena.source() + stopwatch.buffers().slot_bytes);
            }
        }
    }
}

// --- Readers -------------------------------------------------------------------------------------

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

} // namespace

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

// --- Sets ----------------------------------------------------------------------------------------

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

// --- Writers ------------------------------------------------------------------------------------

namespace {

std::vector<std::string> sources_seen;

/// A copy that keeps its source's content, then spoils it: what is right next time was written
/// since.
void* look_and_spoil(void* destination, const void* source, std::size_t bytes, std::size_t) {
    sources_seen.emplace_back(static_cast<const char*>(source), bytes);
    std::memset(const_cast<void*>(source), 0xEE, bytes);
    return destination;
}

} // namespace

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

TEST_P(TrialBuffers, are_not_written_to_by_the_others) {
    for (const Workload workload : {Workload::hot, Workload::hot_read, Workload::cold,
                                    Workload::consume, Workload::aliased}) {
        calibrate(workload);
        std::memset(arena.writable_source(), 0x5A, arena.bytes());
        stopwatch.time({remember, 0}, workload, GetParam(), 0);
        const std::string_view all(arena.source(), arena.bytes());
        EXPECT_EQ(all.find_first_not_of('\x5A'), all.npos) << name_of(workload);
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

// --- Fresh destinations --------------------------------------------------------------------------

namespace {

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

} // namespace

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

// --- Companies -----------------------------------------------------------------------------------

namespace {

/// How many untimed calls come before a trial of another cache effect.
class Settling : public ::testing::Test {
  protected:
    static constexpr std::size_t kCache = kMiB, kLargest = 256 << 10;

    void SetUp() override {
        start_clock(false, 0);
        for (const Workload workload : kMeasured) {
            for (const std::size_t size : kSizes) stopwatch.calibrate(size, workload, 20e-6);
        }
        stopwatch.calibrate(kSmall, Workload::cold, 20e-6);
    }

    std::size_t untimed(Workload workload, std::size_t size, int cache_effect,
                        std::uint64_t round = 0) {
        calls.clear();
        stopwatch.time({remember, 640, cache_effect}, workload, size, round);
        return calls.size() - stopwatch.calls(size, workload);
    }

    static constexpr std::size_t kSizes[] = {kSettledFrom, 100000, kLargest};
    static constexpr std::size_t kSmall = kSettledFrom - 1;
    const Arena arena{16 * kMiB};
    Stopwatch stopwatch{arena, kLargest, kCache};
};

} // namespace

// Behind it the trial is what it is without: the misalignments of its round from the first on.
TEST_F(Settling, copies_more_than_the_last_cache_holds_when_the_company_changes) {
    for (const Workload workload : kOnSlots) {
        for (const std::size_t size : kSizes) {
            for (std::uint64_t round = 0; round < 20; ++round) {
                const int cache_effect = 1 + static_cast<int>(round); // never the last one's
                const std::size_t before = untimed(workload, size, cache_effect, round);
                EXPECT_GE(before * size, kCache) << name_of(workload) << ' ' << size;
                EXPECT_LE(before * size, kCache + kCache / 4 + size) << name_of(workload);
                for (std::size_t i = 0; i < calls.size(); ++i) {
                    ASSERT_TRUE(inside(calls[i], arena, arena.bytes()));
                    ASSERT_EQ(calls[i].bytes, size);
                    ASSERT_EQ(calls[i].distance, 640u) << "not the copy that comes next";
                    if (i < before) continue;
                    const Misalignment past = asterope::misalignment(round + i - before);
                    ASSERT_EQ(misalignment(calls[i].source), past.source);
                    ASSERT_EQ(misalignment(calls[i].destination), past.destination);
                }
            }
        }
    }
}

TEST_F(Settling, is_done_once_for_all_trials_of_one_company_and_again_after_a_cached_workload) {
    for (const Workload cached : {Workload::hot, Workload::hot_read, Workload::aliased}) {
        for (const Workload first : kOnSlots) {
            untimed(cached, kLargest, 1);
            EXPECT_GE(untimed(first, kLargest, 1) * kLargest, kCache) << name_of(first);
            for (const std::size_t size : kSizes) {
                for (const Workload workload : kOnSlots) {
                    EXPECT_EQ(untimed(workload, size, 1), 0u) << name_of(workload) << ' ' << size;
                }
            }
        }
    }
}

TEST_F(Settling, is_not_for_small_sizes) {
    for (const int cache_effect : {0, 1, 1, 0}) {
        EXPECT_EQ(untimed(Workload::cold, kSmall, cache_effect), 0u);
    }
    // It is for the larger one that follows, if that is of another cache effect.
    untimed(Workload::cold, kSmall, 0);
    EXPECT_EQ(untimed(Workload::cold, kSettledFrom, 0), 0u);
    untimed(Workload::cold, kSmall, 1);
    EXPECT_GT(untimed(Workload::cold, kSettledFrom, 0), 0u);
}

// Some machines report a cache of hundreds of megabytes, of which a process gets a part.
TEST_F(Settling, ends_after_64_mib) {
    Stopwatch patient(arena, kLargest, std::size_t{480} << 20);
    patient.calibrate(kLargest, Workload::cold, 20e-6);
    calls.clear();
    patient.time({remember, 0, 1}, Workload::cold, kLargest, 0);
    const std::size_t bytes = (calls.size() - patient.calls(kLargest, Workload::cold)) * kLargest;
    EXPECT_GE(bytes, 64 * kMiB);
    EXPECT_LE(bytes, 64 * kMiB + kLargest);
}

// --- Mapped sources ------------------------------------------------------------------------------

namespace {

using MappedSource = TemporaryFolder;

} // namespace

TEST_F(MappedSource, is_read_as_any_source_is_inside_the_map_and_stays_as_it_is) {
    start_clock(false, 0);
    constexpr std::size_t kLargest = 100000;
    const std::size_t needed = source_bytes_needed(kLargest);
    const auto content_at = [](std::size_t i) { return static_cast<char>(i * 2654435761u >> 13); };
    // the last is longer than the arena
    for (const std::size_t bytes :
         {needed, needed + 4095, 2 * needed + 1, 3 * kMiB + 17, 16 * kMiB}) {
        std::string text(bytes, '\0');
        for (std::size_t i = 0; i < bytes; ++i) text[i] = content_at(i);
        put("map", text);
        const Arena arena(8 * kMiB, SourceMap((folder / "map").string(), kLargest));
        Stopwatch stopwatch(arena, kLargest);
        for (const Workload workload :
             {Workload::hot, Workload::hot_read, Workload::cold, Workload::consume,
              Workload::aliased, Workload::cold_walk, Workload::fetch_walk}) {
            const bool aliased = workload == Workload::aliased;
            const bool cold = workload == Workload::cold || workload == Workload::consume;
            std::set<std::size_t> misalignments;
            for (const std::size_t size :
                 {std::size_t{1}, std::size_t{128}, std::size_t{8192}, kLargest}) {
                stopwatch.calibrate(size, aliased ? Workload::hot : workload, 10e-6);
                std::size_t low = bytes, high = 0;
                for (std::uint64_t round = 0; round < 200; ++round) {
                    calls.clear();
                    stopwatch.time({remember, 0}, workload, size, round);
                    ASSERT_FALSE(calls.empty());
                    for (const Call& call : calls) {
                        ASSERT_TRUE(inside(call, arena, bytes)) << name_of(workload);
                        ASSERT_GE(apart(call), aliased ? 1u : 1024u);
                        ASSERT_LE(apart(call), aliased ? 63u : 3072u);
                        const auto offset = static_cast<std::size_t>(call.source - arena.source());
                        for (const std::size_t i : {std::size_t{0}, size / 2, size - 1}) {
                            ASSERT_EQ(call.source[i], content_at(offset + i));
                        }
                        misalignments.insert(misalignment(call.source));
                        low = std::min(low, offset);
                        high = std::max(high, offset + size);
                    }
                }
                if (facts_of(workload).walks) {
                    EXPECT_GT(high - low, std::min(bytes / 2, 200 * kLeadIn * size));
                } else if (!cold) {
                    EXPECT_LE(high - low, size + 4096 + 64) << "not in one place";
                } else if (bytes == 16 * kMiB) {
                    EXPECT_LT(low, kMiB) << "not all over the map";
                    EXPECT_GT(high, bytes - kMiB);
                }
            }
            EXPECT_EQ(misalignments.size(), 64u) << name_of(workload);
        }
        EXPECT_TRUE(content(folder / "map") == text) << "the file was written to";
    }
}

INSTANTIATE_TEST_SUITE_P(, TrialBuffers, ::testing::Values(1, 128, 1024, 8192, 100000, 2 * kMiB),
                         ::testing::PrintToStringParamName());
