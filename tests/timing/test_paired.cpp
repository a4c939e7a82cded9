// Paired rounds: everybody once a round in changing orders, and slow phases cancel out.
#include "timing/paired.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <set>
#include <utility>

#include "support/random_figures.hpp"

using namespace asterope;

namespace {

struct TimedCall {
    int entrant;
    Workload workload;
    std::uint64_t round;
    bool operator==(const TimedCall& other) const {
        return entrant == other.entrant && workload == other.workload && round == other.round;
    }
};

std::vector<TimedCall> calls_of(const std::vector<int>& entrants,
                                const std::vector<Workload>& workloads, int rounds,
                                std::uint64_t first_round) {
    std::vector<TimedCall> calls;
    const Paired paired(entrants, workloads, rounds, first_round,
                        [&](int entrant, Workload workload, std::uint64_t round) {
                            calls.push_back({entrant, workload, round});
                            return 1.0;
                        });
    return calls;
}

const std::vector<Workload> kBoth = {Workload::hot, Workload::cold};

} // namespace

TEST(Paired, runs_everybody_once_a_round_and_workload) {
    const std::vector<TimedCall> calls = calls_of({4, 7, -1}, kBoth, 10, 100);
    ASSERT_EQ(calls.size(), 3u * 2 * 10);
    for (std::size_t i = 0; i < calls.size(); i += 3) {
        const std::set<int> entrants = {calls[i].entrant, calls[i + 1].entrant,
                                        calls[i + 2].entrant};
        EXPECT_EQ(entrants, (std::set<int>{-1, 4, 7}));
        for (std::size_t j = i; j < i + 3; ++j) {
            EXPECT_EQ(calls[j].round, 100 + i / 6);
            EXPECT_EQ(calls[j].workload, i % 6 == 0 ? Workload::hot : Workload::cold);
        }
    }
}

// In rotation everybody would always follow the same other.
TEST(Paired, lets_everybody_follow_everybody) {
    const std::vector<TimedCall> calls = calls_of({0, 1, 2, 3}, {Workload::hot}, 40, 0);
    std::set<std::pair<int, int>> neighbours;
    std::set<int> first;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if (i % 4 == 0) {
            first.insert(calls[i].entrant);
        } else {
            neighbours.insert({calls[i - 1].entrant, calls[i].entrant});
        }
    }
    EXPECT_EQ(neighbours.size(), 4u * 3);
    EXPECT_EQ(first.size(), 4u);
}

TEST(Paired, runs_companies_one_after_the_other_and_begins_with_the_last_ones) {
    std::vector<TimedCall> calls;
    const auto cache_effect = [](int entrant) { return entrant == 4 || entrant < 0; };
    const Paired paired(
        {4, 7, -1, 5, 6}, kBoth, 12, 0,
        [&](int entrant, Workload workload, std::uint64_t round) {
            calls.push_back({entrant, workload, round});
            return entrant == 7 ? 2.0 : 1.0;
        },
        cache_effect);
    ASSERT_EQ(calls.size(), 5u * 2 * 12);
    int changes = 0;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if (i > 0) changes += cache_effect(calls[i].entrant) != cache_effect(calls[i - 1].entrant);
        if (i % 5 != 0) continue;
        std::set<int> turn;
        for (std::size_t j = i; j < i + 5; ++j) turn.insert(calls[j].entrant);
        EXPECT_EQ(turn, (std::set<int>{-1, 4, 5, 6, 7})) << "somebody is lost";
    }
    EXPECT_EQ(changes, 2 * 12); // one each turn, none between two
    EXPECT_NEAR(paired.ratio(7, 4, Workload::cold).median, 2, 1e-12);
}

// Each turn is disturbed twice before it may count.
TEST(Paired, repeats_a_disturbed_turn_in_the_same_order_and_counts_only_its_last_try) {
    std::vector<TimedCall> quiet = calls_of({4, 7, -1}, kBoth, 10, 100), calls;
    int tries = 0;
    const Paired paired(
        {4, 7, -1}, kBoth, 10, 100,
        [&](int entrant, Workload workload, std::uint64_t round) {
            calls.push_back({entrant, workload, round});
            const double seconds = entrant == 7 ? 2.0 : 1.0;
            return tries % 3 == 2 ? seconds : 50 * seconds + tries * (entrant + 2);
        },
        nullptr, [&] { return tries++ % 3 != 2; });
    EXPECT_EQ(tries, 3 * 20);
    ASSERT_EQ(calls.size(), 3 * quiet.size());
    for (std::size_t i = 0; i < calls.size(); ++i) {
        EXPECT_TRUE(calls[i] == quiet[i / 9 * 3 + i % 3]) << i;
    }
    for (const Workload workload : kBoth) {
        const Estimate ratio = paired.ratio(7, 4, workload);
        EXPECT_NEAR(ratio.low, 2, 1e-12);
        EXPECT_NEAR(ratio.high, 2, 1e-12);
        EXPECT_NEAR(paired.seconds(-1, workload), 1, 1e-12);
    }
}

TEST(Paired, ratio_is_exact_however_slow_the_machine_is_in_some_rounds) {
    const double seconds[] = {2e-6, 1e-6};
    const Paired paired({0, 1}, {Workload::hot}, 15, 0,
                        [&](int entrant, Workload, std::uint64_t round) {
                            return seconds[entrant] * (round % 3 == 0 ? 40.0 : 1.0);
                        });
    const Estimate ratio = paired.ratio(0, 1, Workload::hot);
    EXPECT_NEAR(ratio.median, 2, 1e-12);
    EXPECT_NEAR(ratio.low, 2, 1e-12);
    EXPECT_NEAR(ratio.high, 2, 1e-12);
    EXPECT_NEAR(paired.ratio(1, 0, Workload::hot).median, 0.5, 1e-12);
    EXPECT_NEAR(paired.seconds(0, Workload::hot), 2e-6, 1e-15);
}

// Times double from round to round; entrant 1 is twice and four times as fast.
TEST(Paired, compares_each_part_of_a_trial_by_itself_and_within_its_round) {
    const Paired paired({0, 1, 2}, 9, [](int entrant, std::uint64_t round) {
        const double all = static_cast<double>(1 << round);
        if (entrant == 2) return std::vector{all * 1.25, all};
        return entrant == 1 ? std::vector{all / 2, all / 4} : std::vector{all, all};
    });
    const struct {
        int under;
        std::size_t part;
        double ratio;
    } rows[] = {{1, 0, 2}, {1, 1, 4}, {2, 0, 0.8}, {2, 1, 1}};
    for (const auto& [under, part, ratio] : rows) {
        EXPECT_NEAR(paired.ratio(0, under, part).low, ratio, 1e-9);
        EXPECT_NEAR(paired.ratio(0, under, part).high, ratio, 1e-9);
    }
    EXPECT_NEAR(paired.seconds(0), 16, 1e-9); // of 1, 2, ... 256
    EXPECT_NEAR(paired.seconds(1, 1), 4, 1e-9);
}

TEST(Paired, mean_over_workloads_counts_each_by_its_weight) {
    const Paired paired({0, 1}, kBoth, 9, 0, [](int entrant, Workload workload, std::uint64_t) {
        if (entrant == 1) return 1.0;
        return workload == Workload::hot ? 8.0 : 0.5;
    });
    const auto mean = [&](double hot, double cold) {
        return std::exp(
            paired.mean_log_ratio(0, 1, {{Workload::hot, hot}, {Workload::cold, cold}}).median);
    };
    EXPECT_NEAR(mean(1, 0), 8, 1e-12);
    EXPECT_NEAR(mean(0, 1), 0.5, 1e-12);
    EXPECT_NEAR(mean(0.5, 0.5), 2, 1e-12);
    EXPECT_NEAR(mean(0.25, 0.75), 1, 1e-12); // 8^(1/4) * 2^(-3/4)
}

// Slow hot rounds are not slow cold ones: the mean is taken in each round, before the median.
TEST(Paired, mean_over_workloads_is_of_each_round) {
    const Paired paired({0, 1}, kBoth, 3, 0,
                        [](int entrant, Workload workload, std::uint64_t round) {
                            if (entrant == 1) return 1.0;
                            const double hot[] = {1, 4, 16}, cold[] = {16, 4, 1};
                            return workload == Workload::hot ? hot[round] : cold[round];
                        });
    const Estimate mean =
        paired.mean_log_ratio(0, 1, {{Workload::hot, 0.5}, {Workload::cold, 0.5}});
    EXPECT_NEAR(std::exp(mean.low), 4, 1e-12);
    EXPECT_NEAR(std::exp(mean.high), 4, 1e-12);
}
