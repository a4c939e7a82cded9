// Workloads: the places of each call's buffers. The duration of a call is not tested here.
#include "timing/made_calls.hpp"

namespace {

const Workload kWalks[] = {Workload::cold_walk, Workload::consume_walk, Workload::fetch_walk};

/// A copy that may choose by what it finds in the caches.
const TimedCopy kChoosing{.function = remember, .chooses = true};

} // namespace

// In every slot, where they are few, and every place of a round. A destination up to 63 bytes past
// its source, modulo a page, stalls loads behind stores.
TEST_P(SampleBuffers, are_as_many_and_long_as_asked_at_every_misalignment_and_never_alias) {
    const auto misalignments = [](const std::vector<Call>& made) {
        std::vector<std::pair<std::size_t, std::size_t>> pairs;
        for (const Call& call : made) {
            pairs.emplace_back(misalignment(call.source), misalignment(call.destination));
        }
        return pairs;
    };
    for (const Workload workload : kOfOneSize) {
        SCOPED_TRACE(name_of(workload));
        if (!is_timed_at(GetParam(), workload)) continue;
        // Enough for every misalignment of either side; hot, at one size, for most pairs of them.
        const std::uint64_t rounds = GetParam() == 128 && workload == Workload::hot ? 4096 : 128;
        calibrate(workload);
        const std::size_t timed = stopwatch.calibration(GetParam(), workload).calls;
        EXPECT_GE(timed, 1u);
        const bool hot = workload == Workload::hot || workload == Workload::hot_read;
        const bool fresh = facts_of(workload).fresh;
        // where walks do not come by
        const bool on_slots = workload == Workload::cold || workload == Workload::consume ||
                              workload == Workload::fetch;
        const std::size_t end = on_slots ? stopwatch.buffers().slot_bytes : arena.bytes();
        // one call before fetch's brings the destination into the caches
        const bool fetches = workload == Workload::fetch || workload == Workload::lookup;
        // the walks of producers have no stride that a load would teach
        const bool leads_in = facts_of(workload).walks && !facts_of(workload).writes_source;
        const std::size_t untimed = hot        ? std::max<std::size_t>(3, timed / 8)
                                    : leads_in ? kLeadIn
                                               : fetches;
        const char *lowest = arena.source() + arena.bytes(), *highest = arena.source();
        std::set<std::size_t> sources, destinations;
        std::set<std::pair<std::size_t, std::size_t>> pairs;
        for (std::uint64_t round = 0; round < rounds; ++round) {
            ASSERT_EQ(sample(workload, round, {remember, 1920}).size(), timed + untimed);
            // blocks of malloc lie 16 bytes past a page on both sides
            const auto wrong = std::ranges::find_if(calls, [&](const Call& call) {
                return call.bytes != GetParam() || call.distance != 1920 ||
                       (!fresh && (!inside(call, arena, end) || !far_apart(call)));
            });
            ASSERT_TRUE(wrong == calls.end()) << wrong - calls.begin() << ": " << apart(*wrong);
            const auto [first, last] = std::ranges::minmax_element(calls, {}, &Call::source);
            lowest = std::min(lowest, first->source);
            highest = std::max(highest, last->source);
            const auto [source, destination] = misalignments({calls.front()}).front();
            sources.insert(source);
            destinations.insert(destination);
            pairs.emplace(source, destination);
        }
        // hot ones stay in one place, but for the places of the rounds and the misalignments
        EXPECT_TRUE(!hot || highest - lowest <= 4096 + 64);
        EXPECT_EQ(sources.size(), 64u);
        EXPECT_EQ(destinations.size(), fresh ? 1u : 64u);
        EXPECT_TRUE(fresh || pairs.size() > rounds / 2) << pairs.size();
        const std::vector<Call> before = sample(workload, 7);
        EXPECT_NE(misalignments(before), misalignments(sample(workload, 8)));
        EXPECT_EQ(misalignments(before), misalignments(sample(workload, 7)));
        EXPECT_TRUE(!hot || before == calls);
    }
}

// Beside a libc that takes no time, each copy is hopeless.
TEST_P(SampleBuffers, are_as_few_as_the_untimed_ones_for_a_hopeless_hot_copy) {
    for (const Workload workload : {Workload::hot, Workload::hot_read}) {
        stopwatch.set_calibration(GetParam(), workload, {800, 1e-18});
        EXPECT_EQ(sample(workload, 0).size(), 100u + 100u);
        stopwatch.set_calibration(GetParam(), workload, {2, 1e-18});
        EXPECT_EQ(sample(workload, 1).size(), 3u + 2u);
        stopwatch.set_calibration(GetParam(), workload, {800, 1e3});
        EXPECT_EQ(sample(workload, 2).size(), 100u + 800u);
    }
}

TEST_P(SampleBuffers, are_few_untimed_ones_where_the_sample_before_left_them_cached_alike) {
    calibrate(Workload::cold);
    for (const Workload workload : {Workload::hot, Workload::hot_read}) {
        stopwatch.set_calibration(GetParam(), workload, {4, 1e3});
        const auto untimed = [&](std::uint64_t round, int cache_effect = 0) {
            return sample(workload, round, {remember, 0, cache_effect}).size() - 4;
        };
        EXPECT_EQ(untimed(0), 3u);
        EXPECT_EQ(untimed(0), 1u);
        EXPECT_EQ(untimed(1), 3u) << "in another place";
        EXPECT_EQ(untimed(1, 1), 3u) << "after a copy of another cache effect";
        EXPECT_EQ(untimed(1, 1), 1u);
        sample(workload, 1, kChoosing);
        EXPECT_EQ(untimed(1, 1), 3u) << "after a copy of any cache effect";
        sample(Workload::cold, 1);
        EXPECT_EQ(untimed(1), 3u) << "after another workload";
    }
}

// What stores past the caches where it finds its destination uncached must show that it goes on so.
TEST_P(SampleBuffers,
       of_a_hot_copy_that_chooses_begin_cached_uncached_untouched_and_half_cached_in_turn) {
    calibrate(Workload::hot);
    std::set<const char*> uncached;
    for (std::uint64_t round = 0; round < 8; ++round) {
        const std::vector<Call> usual = sample(Workload::hot, round);
        sample(Workload::hot, round, kChoosing);
        const bool elsewhere = GetParam() >= 16 * kKiB && round % 4 != 0;
        const bool one_more = elsewhere && round % 4 == 2;
        const std::size_t part = stopwatch.calibration(GetParam(), Workload::hot).calls / 8;
        const std::size_t warm_up = std::max<std::size_t>(elsewhere ? 8 : 3, part);
        ASSERT_EQ(calls.size() + std::max<std::size_t>(3, part), usual.size() + warm_up + one_more);
        const char* to = calls.front().destination;
        const bool there = to == usual.front().destination;
        EXPECT_EQ(there, !elsewhere) << round;
        EXPECT_EQ(inside(calls.front(), arena, arena.bytes()), !one_more) << round;
        EXPECT_TRUE(there || one_more || uncached.insert(to).second);
        const std::ptrdiff_t moved = calls.front().source - usual.front().source;
        EXPECT_EQ(std::abs(moved) < 4096, !elsewhere || round % 4 > 1) << round;
        for (const Call& call : calls) EXPECT_LT(std::abs(call.destination - to), 64);
    }
}

// A stopwatch that knows the cache also knows which buffers cannot be hot in it.
TEST_P(SampleBuffers, need_no_untimed_call_where_they_outgrow_the_cache) {
    for (const std::size_t untimed : {3, 0}) {
        Stopwatch knows(arena, kLargest, 2 * GetParam() - (untimed == 0));
        knows.set_calibration(GetParam(), Workload::hot, {5, 0});
        calls_of(knows, {remember}, Workload::hot, GetParam(), 0); // settles
        EXPECT_EQ(calls_of(knows, {remember}, Workload::hot, GetParam(), 1).size(), untimed + 5);
    }
}

// The hardware prefetchers would fetch the next copy's buffers were it the neighbour.
TEST_P(SampleBuffers, of_cold_copies_jump_and_come_round_only_after_the_whole_arena) {
    const std::size_t slots_end = stopwatch.buffers().slot_bytes;
    for (const Workload workload : kOnSlots) {
        calibrate(workload);
        std::vector<Call> all; // enough for the large ones to come round
        for (std::uint64_t round = 0; all.size() < (GetParam() > kMiB ? 64 : 4096); ++round) {
            sample(workload, round);
            all.insert(all.end(), calls.begin(), calls.end());
        }
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
TEST_P(SampleBuffers, of_a_walk_lie_one_after_the_other_at_one_distance_on_both_sides) {
    calibrate(Workload::cold);
    const auto stride = static_cast<std::ptrdiff_t>(walked_stride(GetParam()));
    EXPECT_EQ(std::clamp<std::ptrdiff_t>(stride, GetParam(), GetParam() + 64), stride);
    for (const Workload workload : kWalks) {
        stopwatch.set_calibration(GetParam(), workload, {4, 0});
        // they begin anew at the stretch's end
        std::size_t jumps = 0;
        for (std::uint64_t round = 0; round < 50; ++round) {
            const std::vector<Call> made = sample(workload, round);
            ASSERT_EQ(made.size(), kLeadIn + 4);
            for (std::size_t i = 1; i < made.size(); ++i) {
                const auto step = made[i].source - made[i - 1].source;
                if (workload != Workload::fetch_walk) {
                    ASSERT_EQ(made[i].destination - made[i - 1].destination, step);
                }
                jumps += step < 0;
                ASSERT_TRUE(step < 0 || step == stride) << step;
            }
        }
        EXPECT_LE(jumps, 1 + 50 * (kLeadIn + 4) * walked_stride(GetParam()) / (4 * kMiB));
    }
}

// Otherwise the next walk of any workload would find them in a cache.
TEST_P(SampleBuffers, of_a_walk_come_again_only_after_their_whole_stretch_where_no_slots_are) {
    const std::size_t stretch = stopwatch.buffers().cold_bytes - stopwatch.buffers().slot_bytes;
    EXPECT_GE(stretch, arena.bytes() / 4);
    calibrate(Workload::cold);
    std::size_t walked = 0;
    const char* last = nullptr;
    const std::size_t enough = stretch - 2 * (GetParam() + 4096);
    for (std::uint64_t round = 0; walked < enough; ++round) {
        const Workload workload = kWalks[round % std::size(kWalks)];
        stopwatch.set_calibration(GetParam(), workload, {64, 0});
        for (const Call& call : sample(workload, round)) {
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
}

INSTANTIATE_TEST_SUITE_P(, SampleBuffers, ::testing::Values(1, 128, 1024, 8192, 100000, 2 * kMiB),
                         ::testing::PrintToStringParamName());
