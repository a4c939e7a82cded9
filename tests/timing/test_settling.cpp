// Workloads: the untimed calls that settle the caches before a sample of another cache effect, and
// mapped sources.
#include "timing/made_calls.hpp"

namespace {

/// How many untimed calls come before a sample of another cache effect.
class Settling : public ::testing::Test {
  protected:
    static constexpr std::size_t kCache = kMiB, kLargest = 256 << 10, kTimed = 5;

    std::size_t untimed(Workload workload, std::size_t size, int effect, std::uint64_t round = 0) {
        stopwatch.set_calibration(size, workload, {kTimed, 0});
        return calls_of(stopwatch, {remember, 640, effect}, workload, size, round).size() - kTimed;
    }

    static constexpr std::size_t kSizes[] = {kSettledFrom, 100000, kLargest};
    static constexpr std::size_t kSmall = kSettledFrom - 1;
    const Arena arena{16 * kMiB};
    Stopwatch stopwatch{arena, kLargest, kCache};
};

// Behind it the sample is what it is without: the misalignments of its round from the first on.
TEST_F(Settling, copies_more_than_the_last_cache_holds_when_the_cache_effect_changes) {
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

TEST_F(Settling, is_done_once_for_all_samples_of_one_cache_effect_and_again_after_cached_ones) {
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
    EXPECT_EQ(untimed(Workload::cold, kSettledFrom, 0), 0u);
    untimed(Workload::cold, kSmall, 1);
    EXPECT_GT(untimed(Workload::cold, kSettledFrom, 0), 0u);
}

// A cache of hundreds of megabytes, of which a process gets a part, is not filled.
TEST_F(Settling, fills_a_last_cache_of_up_to_64_mib_and_copies_16_mib_before_a_larger_one) {
    for (const auto& [cache, least] : {std::pair{32 * kMiB, 40 * kMiB},
                                       {64 * kMiB, 64 * kMiB},
                                       {65 * kMiB, 16 * kMiB},
                                       {480 * kMiB, 16 * kMiB}}) {
        Stopwatch patient(arena, kLargest, cache);
        patient.set_calibration(kLargest, Workload::cold, {kTimed, 0});
        const std::size_t all =
            calls_of(patient, {remember, 0, 1}, Workload::cold, kLargest, 0).size();
        const std::size_t bytes = (all - kTimed) * kLargest;
        EXPECT_GE(bytes, least) << cache;
        EXPECT_LE(bytes, least + kLargest) << cache;
    }
}

// Behind the copies that settle the caches, a large copy into fresh memory finds the pages that a
// copy like it has given back.
TEST_F(Settling, of_large_copies_into_fresh_memory_ends_with_one_like_them) {
    Stopwatch large(arena, kPagesSettledFrom, kCache);
    const auto fresh_calls = [&](Workload workload, std::size_t size, int effect, int pages) {
        TimedCopy copy{remember, 640, effect};
        copy.pages = pages;
        large.set_calibration(size, workload, {kTimed, 0});
        calls_of(large, copy, workload, size, 0);
        const auto is_fresh = [&](const Call& call) {
            return call.bytes == size && !inside(call, arena, arena.bytes());
        };
        const auto first = std::ranges::find_if(calls, is_fresh);
        EXPECT_TRUE(std::all_of(first, calls.end(), is_fresh)) << "the caches settle behind it";
        return calls.end() - first;
    };
    constexpr std::ptrdiff_t kAll = kTimed;
    for (const Workload workload : {Workload::fresh, Workload::fresh_hot, Workload::fresh_huge}) {
        for (const int pages : {0, 1, 7}) {
            EXPECT_EQ(fresh_calls(workload, kPagesSettledFrom, 0, pages), kAll + 1);
            for (const int effect : {0, 1}) {
                EXPECT_EQ(fresh_calls(workload, kPagesSettledFrom, effect, pages), kAll);
                EXPECT_EQ(fresh_calls(workload, kPagesSettledFrom - 1, effect, 2), kAll);
            }
        }
    }
    EXPECT_EQ(fresh_calls(Workload::fresh, kPagesSettledFrom, 1, 7), kAll + 1);
}

/// The call sites of a sample, as copies that choose tell them apart: by the return address, and by
/// the stack in steps of 64 KiB.
std::vector<std::pair<void*, std::uintptr_t>> sites;
[[gnu::noinline]] void* remember_site(void* destination, const void* source, std::size_t bytes,
                                      std::size_t distance) {
    const auto stack = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    sites.emplace_back(__builtin_return_address(0), stack >> 16);
    return remember(destination, source, bytes, distance);
}

// A trial takes 12 times, which lie between 13 calls in a row.
TEST_F(Settling, ends_with_untimed_calls_from_one_site_where_a_copy_chooses_its_stores_by_that) {
    Stopwatch large(arena, kMiB, kCache);
    const auto calls_at = [&](Workload workload, std::size_t size, bool chooses) {
        TimedCopy copy{remember_site};
        copy.chooses = chooses;
        large.set_calibration(size, workload, {kTimed, 0});
        calls_of(large, copy, workload, size, 0); // settles the caches
        sites.clear();
        return calls_of(large, copy, workload, size, 0).size();
    };
    for (const Workload workload : kOnSlots) {
        for (const std::size_t size : {kSensingMinimum - 1, kSensingMinimum, kLargest, kMiB}) {
            const bool heeded = size >= kSensingMinimum && size < kHeededBelow;
            const std::size_t others = calls_at(workload, size, false);
            const std::size_t all = calls_at(workload, size, true);
            EXPECT_EQ(all >= others + 13, heeded) << name_of(workload) << ' ' << size;
            EXPECT_TRUE(heeded || all == others) << name_of(workload) << ' ' << size;
            EXPECT_EQ(std::set(sites.begin(), sites.end()).size(), 1u) << name_of(workload);
        }
    }
    for (const Workload workload : {Workload::fetch, Workload::fresh}) {
        EXPECT_EQ(calls_at(workload, kLargest, true), calls_at(workload, kLargest, false));
    }
}

using MappedSource = TemporaryFolder;

TEST_F(MappedSource, is_read_as_any_source_is_inside_the_map) {
    constexpr std::size_t kLargest = 100000;
    const std::size_t needed = source_bytes_needed(kLargest);
    // the last is longer than the arena
    for (const std::size_t bytes :
         {needed, needed + 4095, 2 * needed + 1, 3 * kMiB + 17, 16 * kMiB}) {
        put("map", std::string(bytes, 'm'));
        const Arena arena(8 * kMiB, SourceMap((folder / "map").string(), kLargest));
        Stopwatch stopwatch(arena, kLargest);
        for (const Workload workload :
             {Workload::hot, Workload::hot_read, Workload::cold, Workload::consume,
              Workload::aliased, Workload::cold_walk, Workload::fetch_walk}) {
            const bool aliased = workload == Workload::aliased;
            const bool cold = workload == Workload::cold || workload == Workload::consume;
            std::set<std::size_t> misalignments, distances;
            for (const std::size_t size :
                 {std::size_t{1}, std::size_t{128}, std::size_t{8192}, kLargest}) {
                stopwatch.set_calibration(size, workload, {5, 0});
                std::size_t low = bytes, high = 0;
                for (std::uint64_t round = 0; round < 200; ++round) {
                    ASSERT_FALSE(calls_of(stopwatch, {remember}, workload, size, round).empty());
                    for (const Call& call : calls) {
                        ASSERT_TRUE(inside(call, arena, bytes)) << name_of(workload);
                        ASSERT_TRUE(aliased ? apart(call) < 256 : far_apart(call));
                        const auto offset = static_cast<std::size_t>(call.source - arena.source());
                        misalignments.insert(misalignment(call.source));
                        distances.insert(apart(call));
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
            // some 200 draws of 256
            EXPECT_TRUE(!aliased || distances.size() >= 180) << distances.size();
        }
    }
}

} // namespace
