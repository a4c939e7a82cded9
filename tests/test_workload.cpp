// Workloads: where the buffers of each call lie. How long a call takes is nobody's business here.
#include "workload.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

#include "clock.hpp"
#include "error.hpp"

using namespace asterope;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

struct Call {
    const char *destination, *source;
    std::size_t bytes, distance;
    bool operator==(const Call& other) const {
        return destination == other.destination && source == other.source;
    }
};

std::vector<Call> calls;

/// A copy that copies nothing and remembers what it was asked for.
void* remember(void* destination, const void* source, std::size_t bytes, std::size_t distance) {
    calls.push_back(
        {static_cast<const char*>(destination), static_cast<const char*>(source), bytes, distance});
    return destination;
}

class Buffers : public ::testing::TestWithParam<std::size_t> {
  protected:
    static constexpr std::size_t kLargest = 2 * kMiB;

    void SetUp() override { start_clock(false, 0); }

    /// The calls of one trial; the untimed ones of the hot workload first.
    std::vector<Call> trial(Workload workload, std::uint64_t round, std::size_t distance = 0) {
        calls.clear();
        stopwatch.time(remember, distance, GetParam(), workload, round);
        return calls;
    }
    void calibrate(Workload workload) {
        stopwatch.calibrate(GetParam(), workload, trial_seconds(workload));
    }

    const Arena arena{32 * kMiB};
    Stopwatch stopwatch{arena, kLargest};
};

std::size_t misalignment(const char* address) {
    return reinterpret_cast<std::uintptr_t>(address) % 64;
}

} // namespace

TEST(ParseWorkload, knows_hot_cold_and_both) {
    EXPECT_EQ(parse_workload("hot"), std::vector<Workload>{Workload::hot});
    EXPECT_EQ(parse_workload("cold"), std::vector<Workload>{Workload::cold});
    EXPECT_EQ(parse_workload("balanced"), (std::vector<Workload>{Workload::hot, Workload::cold}));
    // what is for small copies only cannot be asked for
    for (const char* text : {"", "Hot", "warm", "hot,cold", "balanced ", "mix_l1", "fixed_read"}) {
        EXPECT_THROW(parse_workload(text), BadInput) << text;
    }
    for (const Workload workload : parse_workload("balanced")) {
        EXPECT_EQ(parse_workload(name_of(workload)), std::vector<Workload>{workload});
    }
}

TEST(NameOf, is_another_for_each_workload) {
    std::set<std::string_view> names;
    for (const Workload workload :
         {Workload::hot, Workload::cold, Workload::mix_l1, Workload::mix_l2, Workload::mix_l3,
          Workload::mix_l1_read, Workload::mix_l2_read, Workload::mix_l3_read, Workload::fixed,
          Workload::fixed_read}) {
        EXPECT_TRUE(names.insert(name_of(workload)).second) << name_of(workload);
    }
    EXPECT_EQ(name_of(Workload::mix_l3_read), "mix_l3_read");
}

TEST_P(Buffers, lie_inside_the_arena) {
    for (const Workload workload : parse_workload("balanced")) {
        calibrate(workload);
        for (std::uint64_t round = 0; round < 200; ++round) {
            for (const Call& call : trial(workload, round)) {
                ASSERT_GE(call.source, arena.source());
                ASSERT_LE(call.source + call.bytes, arena.source() + arena.bytes());
                ASSERT_GE(call.destination, arena.destination());
                ASSERT_LE(call.destination + call.bytes, arena.destination() + arena.bytes());
            }
        }
    }
}

TEST_P(Buffers, are_as_long_and_prefetched_as_far_as_asked) {
    for (const Workload workload : parse_workload("balanced")) {
        calibrate(workload);
        for (const Call& call : trial(workload, 3, 1920)) {
            ASSERT_EQ(call.bytes, GetParam());
            ASSERT_EQ(call.distance, 1920u);
        }
    }
}

TEST_P(Buffers, number_as_many_as_the_calibration_says) {
    calibrate(Workload::cold);
    EXPECT_EQ(trial(Workload::cold, 0).size(), stopwatch.calls(GetParam(), Workload::cold));
    calibrate(Workload::hot);
    const std::size_t timed = stopwatch.calls(GetParam(), Workload::hot);
    EXPECT_GT(trial(Workload::hot, 0).size(), timed); // and some to warm up
    EXPECT_GE(timed, 1u);
}

TEST_P(Buffers, are_misaligned_alike_for_all_copies_of_a_round) {
    for (const Workload workload : parse_workload("balanced")) {
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

TEST_P(Buffers, take_every_misalignment_on_either_side) {
    for (const Workload workload : parse_workload("balanced")) {
        calibrate(workload);
        std::set<std::size_t> sources, destinations;
        std::set<std::pair<std::size_t, std::size_t>> pairs;
        for (std::uint64_t round = 0; round < 4096; ++round) {
            const Call call = trial(workload, round).front();
            sources.insert(misalignment(call.source));
            destinations.insert(misalignment(call.destination));
            pairs.insert({misalignment(call.source), misalignment(call.destination)});
        }
        EXPECT_EQ(sources.size(), 64u);
        EXPECT_EQ(destinations.size(), 64u);
        EXPECT_GT(pairs.size(), 64u * 64 / 2);
    }
}

// A destination up to 63 bytes past its source, modulo a page, stalls loads behind stores.
TEST_P(Buffers, never_alias_in_their_page_offsets) {
    for (const Workload workload : parse_workload("balanced")) {
        calibrate(workload);
        for (std::uint64_t round = 0; round < 100; ++round) {
            for (const Call& call : trial(workload, round)) {
                const auto apart = static_cast<std::size_t>(call.destination - call.source) % 4096;
                ASSERT_GE(apart, 1024u);
                ASSERT_LE(apart, 3072u);
            }
        }
    }
}

TEST_P(Buffers, of_hot_copies_stay_in_one_place) {
    calibrate(Workload::hot);
    const char *lowest = arena.source() + arena.bytes(), *highest = arena.source();
    for (std::uint64_t round = 0; round < 100; ++round) {
        for (const Call& call : trial(Workload::hot, round)) {
            lowest = std::min(lowest, call.source);
            highest = std::max(highest, call.source);
        }
    }
    EXPECT_LE(highest - lowest, 4096 + 64); // the places of the rounds, and the misalignments
}

TEST_P(Buffers, of_cold_copies_come_round_only_after_the_whole_arena) {
    calibrate(Workload::cold);
    std::vector<Call> all;
    for (std::uint64_t round = 0; all.size() < 4096; ++round) {
        const std::vector<Call> more = trial(Workload::cold, round);
        all.insert(all.end(), more.begin(), more.end());
    }
    // Until the first slot comes again, the copies overlap nowhere and cover most of the arena,
    // or, where they are small, are spread over it.
    std::vector<const char*> begins;
    const auto slot = [](const char* address) { return address - misalignment(address); };
    for (const Call& call : all) {
        if (!begins.empty() && slot(call.source) == begins.front()) break;
        begins.push_back(slot(call.source));
    }
    const auto slots = begins.size();
    std::sort(begins.begin(), begins.end());
    for (std::size_t i = 1; i < begins.size(); ++i) {
        ASSERT_GE(begins[i] - begins[i - 1], static_cast<std::ptrdiff_t>(GetParam() + 63));
    }
    EXPECT_GE(begins.back() - begins.front(),
              static_cast<std::ptrdiff_t>(arena.bytes() - 4 * kLargest - 2 * kMiB));
    if (slots < all.size()) {
        EXPECT_GE(slots * (GetParam() + 4096), arena.bytes() - 2 * kLargest);
    }
}

// The hardware prefetchers would fetch the next copy's buffers were it the neighbour.
TEST_P(Buffers, of_cold_copies_are_not_visited_in_order) {
    calibrate(Workload::cold);
    std::vector<Call> all;
    for (std::uint64_t round = 0; all.size() < 50; ++round) {
        const std::vector<Call> more = trial(Workload::cold, round);
        all.insert(all.end(), more.begin(), more.end());
    }
    for (std::size_t i = 1; i < all.size(); ++i) {
        const auto apart = std::abs(all[i].source - all[i - 1].source);
        ASSERT_GT(apart, static_cast<std::ptrdiff_t>(GetParam() + 4096));
    }
}

TEST_P(Buffers, of_cold_copies_are_not_those_of_hot_ones) {
    calibrate(Workload::hot);
    calibrate(Workload::cold);
    const char* hot = arena.source() + arena.bytes();
    for (std::uint64_t round = 0; round < 64; ++round) {
        for (const Call& call : trial(Workload::hot, round)) hot = std::min(hot, call.source);
    }
    for (std::uint64_t round = 0; round < 200; ++round) {
        for (const Call& call : trial(Workload::cold, round)) {
            ASSERT_LE(call.source + call.bytes, hot);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(, Buffers, ::testing::Values(1, 128, 1024, 8192, 100000, 2 * kMiB),
                         ::testing::PrintToStringParamName());
