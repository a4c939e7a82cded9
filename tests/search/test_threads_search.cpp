// Several threads are taken if they beat one thread by more than the noise. The fewest such threads
// are taken, from sizes on at which they won.
#include "search/threads_search.hpp"

#include "search/race_track.hpp"

namespace {

TEST(AllShares, are_of_one_thread_powers_of_two_of_them_and_all_there_may_be_the_even_one_first) {
    const std::pair<unsigned, std::vector<unsigned>> cases[] = {
        {1, {1}}, {2, {1, 2}}, {3, {1, 2, 3}}, {4, {1, 2, 4}}, {12, {1, 2, 4, 8, 12}}};
    for (const auto& [most, counts] : cases) {
        std::vector<unsigned> found;
        for (const ThreadShare& share : all_shares(most)) {
            if (share.chunk == 0) found.push_back(share.threads);
        }
        EXPECT_EQ(found, counts);
    }
    EXPECT_EQ(all_shares(2),
              (std::vector<ThreadShare>{{}, {2, 0}, {2, 64 * kKiB}, {2, 256 * kKiB}, {2, kMiB}}));
}

TEST(AllShares, are_tried_where_there_are_chunks_for_everybody) {
    EXPECT_TRUE(is_tried(ThreadShare{2, 0}, 256 * kKiB));
    EXPECT_TRUE(is_tried(ThreadShare{2, 64 * kKiB}, 256 * kKiB));
    EXPECT_FALSE(is_tried(ThreadShare{2, 128 * kKiB}, 256 * kKiB));
    EXPECT_FALSE(is_tried(ThreadShare{}, 256 * kKiB)) << "one thread shares nothing";
}

SizeResult search_on(const TimedCopies& timings, const Weights& weights = races::kMean) {
    return race_beside_first(all_entrants(4), 8 * kMiB, weights, 15, timings);
}

TEST(SearchShares, takes_the_fewest_threads_that_lead_and_lose_little) {
    const Weights cold = {{Workload::hot, 0}, {Workload::cold, 1}, {Workload::consume, 0}};
    const struct {
        const char* rule;
        races::Truths truths; ///< one thread's time over that of several: entrants from 1 on
        bool taken;
        std::size_t best; ///< of several; where one thread is taken, for the record
        Weights weights = races::kMean;
    } cases[] = {
        {"one leads", {{1.2, 1.2, 1.2}, {1.2, 1.8, 1.5}, {1.1, 1.1, 1.1}}, true, 1},
        {"a tie", {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, false, 0},
        {"less than 1 %", {{1.008, 1.008, 1.008}, {1, 1, 1}, {1, 1, 1}}, false, 0},
        {"more than 1 %", {{1.05, 1.05, 1.05}, {1, 1, 1}, {1, 1, 1}}, true, 0},
        {"all lose", {{0.5, 0.5, 0.5}, {0.7, 0.7, 0.7}, {0.6, 0.6, 0.6}}, false, 1},
        {"two tie", {{1.5, 1.5, 1.5}, {1.2, 1.2, 1.2}, {1.51, 1.51, 1.51}}, true, 0},
        {"more threads lead", {{1.5, 1.5, 1.5}, {1.2, 1.2, 1.2}, {1.6, 1.6, 1.6}}, true, 2},
        {"all lose much somewhere", {{0.6, 1.5, 1.5}, {0.6, 1.5, 1.5}, {0.6, 1.5, 1.5}}, false, 0},
        {"but one", {{0.6, 1.5, 1.5}, {1.1, 1.1, 1.1}, {0.6, 1.5, 1.5}}, true, 1},
        {"where it does not count", {{0.5, 1.5, 0.5}, {1, 1, 1}, {1, 1, 1}}, true, 0, cold},
    };
    for (const auto& [rule, truths, taken, best, weights] : cases) {
        races::Truths with_one = {{1, 1, 1}};
        with_one.insert(with_one.end(), truths.begin(), truths.end());
        KnownMachine machine(races::ratios(with_one));
        const SizeResult found = search_on(machine, weights);
        EXPECT_EQ(found.size, 8 * kMiB);
        EXPECT_EQ(found.winner() > 0, taken) << rule;
        const Finalist& first = found.finalists[taken ? 0 : 1]; // of several
        EXPECT_EQ(first.candidate, Entrant(best + 1)) << rule;
        EXPECT_NEAR(first.workloads.at(Workload::hot).ratio.median, truths[best][0], 1e-6) << rule;
        EXPECT_NEAR(first.workloads.at(Workload::cold).libc_ns, kLibcSeconds * 1e9, 1e-3) << rule;
    }
}

TEST(SearchShares, times_one_thread_in_the_place_of_libc) {
    struct Names : Timings {
        Sample sample(const SampleRequest& asked) override {
            EXPECT_EQ(asked.size, 8 * kMiB);
            ++seen[asked.copy.name];
            return {1000};
        }
        std::map<std::string, int> seen;
    } names;
    const std::vector<TimedCopy> copies = {
        {.name = "one"}, {.name = "a"}, {.name = "b"}, {.name = "c"}};
    search_on({names, copies, {.name = "libc"}});
    EXPECT_EQ(names.seen.count("libc"), 0u);
    EXPECT_EQ(names.seen["one"], 3 * names.seen["a"]) << "itself, and libc's two names";
}

std::size_t distances_seen;

void* plain_copy(void* destination, const void* source, std::size_t bytes, std::size_t distance) {
    __atomic_fetch_add(&distances_seen, distance, __ATOMIC_RELAXED);
    return std::memcpy(destination, source, bytes);
}

TEST(CopyOverThreads, copies_right_and_hands_the_distance_to_each_chunk) {
    const bool shared = asterope_start_threads() > 1;
    std::vector<char> source(kMiB), destination(kMiB);
    std::iota(source.begin(), source.end(), '\0');
    for (const std::size_t chunk : {std::size_t{0}, 64 * kKiB}) {
        const asterope_share share{2, chunk, &plain_copy, 7};
        std::fill(destination.begin(), destination.end(), 'x');
        distances_seen = 0;
        EXPECT_EQ(asterope_copy_over_threads(destination.data(), source.data(), kMiB,
                                             reinterpret_cast<std::size_t>(&share)),
                  destination.data());
        EXPECT_EQ(source, destination);
        EXPECT_EQ(distances_seen, 7u * (!shared ? 1 : chunk ? 16 : 2));
    }
}

} // namespace
