// The best over several machines is found where it is known, and luck does not pass for merit.
#include "merge/ranking.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "support/random_figures.hpp"

namespace asterope {
namespace {

const Weights kHot = {{Workload::hot, 1}};
const Weights kMix = {{Workload::hot, 0.5}, {Workload::cold, 0.5}};

/// One machine: by name, libc's time over the candidate's under hot and under cold.
MeasuredGains machine(const std::map<std::string, std::pair<double, double>>& ratios,
                      std::size_t rounds = 9) {
    MeasuredGains gains;
    for (const auto& [name, ratio] : ratios) {
        gains[Workload::hot][name] = {std::log(ratio.first), 0.002, rounds, 0, 0};
        gains[Workload::cold][name] = {std::log(ratio.second), 0.002, rounds, 0, 0};
    }
    return gains;
}

const std::map<std::string, std::size_t> kPlaces = {{"a", 0}, {"b", 1}, {"c", 2}};

std::vector<std::string> names(const std::vector<Ranked>& ranked) {
    std::vector<std::string> names;
    for (const Ranked& one : ranked) names.push_back(one.name);
    return names;
}

TEST(Rank, takes_the_best_geometric_mean_although_it_is_nobodys_own_winner) {
    const MeasuredGains one = machine({{"a", {2, 1}}, {"b", {1.8, 1}}, {"c", {1, 1}}}),
                        two = machine({{"a", {1, 1}}, {"b", {1.8, 1}}, {"c", {2, 1}}});
    const auto ranked = rank({&one, &two}, kHot, "", kPlaces);
    EXPECT_EQ(ranked.front().name, "b");
    EXPECT_NEAR(ranked.front().mean, std::log(1.8), 1e-12);
    EXPECT_NEAR(ranked.front().scores[1], std::log(1.8), 1e-12);
    EXPECT_EQ(ranked.size(), 3u);
}

TEST(Rank, weighs_the_workloads) {
    const MeasuredGains one = machine({{"a", {1.5, 1}}, {"b", {1.2, 1.4}}});
    EXPECT_EQ(rank({&one, &one}, kHot, "", kPlaces).front().name, "a");
    EXPECT_EQ(rank({&one, &one}, kMix, "", kPlaces).front().name, "b");
}

TEST(Rank, leaves_out_whom_one_machine_did_not_measure) {
    const MeasuredGains one = machine({{"a", {3, 3}}, {"b", {1, 1}}}),
                        two = machine({{"b", {1, 1}}});
    EXPECT_EQ(names(rank({&one, &two}, kHot, "", kPlaces)), std::vector<std::string>{"b"});
    MeasuredGains hot_only = one;
    hot_only.erase(Workload::cold);
    EXPECT_TRUE(rank({&one, &hot_only}, kMix, "", kPlaces).empty());
    EXPECT_TRUE(rank({}, kHot, "", kPlaces).empty());
}

TEST(Rank, leaves_out_whom_it_has_no_place_for) {
    const MeasuredGains one = machine({{"unknown", {3, 3}}, {"b", {1, 1}}});
    EXPECT_EQ(names(rank({&one}, kHot, "", kPlaces)), std::vector<std::string>{"b"});
}

TEST(Rank, lets_nobody_win_who_loses_to_libc_on_one_machine_while_another_does_not) {
    const MeasuredGains one = machine({{"a", {2, 1.5}}, {"b", {1.1, 1}}}),
                        two = machine({{"a", {2, 0.9}}, {"b", {1.1, 1}}});
    EXPECT_EQ(rank({&one, &two}, kMix, "", kPlaces).front().name, "b");
    EXPECT_EQ(rank({&one, &two}, kMix, "", kPlaces, {0, {}}).front().name, "a");
}

TEST(Rank, gives_ties_to_the_favourite_else_to_the_simplest) {
    const MeasuredGains one = machine({{"a", {1.500, 1}}, {"b", {1.507, 1}}, {"c", {1.508, 1}}});
    EXPECT_EQ(rank({&one, &one}, kHot, "", kPlaces).front().name, "a");
    EXPECT_EQ(rank({&one, &one}, kHot, "b", kPlaces).front().name, "b");
    EXPECT_TRUE(rank({&one, &one}, kHot, "b", kPlaces)[1].tied);
}

TEST(Rank, gives_a_favourite_nothing_that_is_no_tie) {
    const MeasuredGains one = machine({{"a", {1.4, 1}}, {"b", {1.5, 1}}});
    EXPECT_EQ(rank({&one, &one}, kHot, "a", kPlaces).front().name, "b");
    EXPECT_FALSE(rank({&one, &one}, kHot, "a", kPlaces)[1].tied);
}

TEST(Rank, prefers_who_was_timed_often_to_who_looked_good_once) {
    MeasuredGains one = machine({{"a", {1.3, 1}}}), lucky = machine({{"b", {2, 1}}}, 1);
    one[Workload::hot]["b"] = lucky[Workload::hot]["b"];
    EXPECT_EQ(rank({&one, &one}, kHot, "", kPlaces).front().name, "a");
}

TEST(Rank, takes_somebody_timed_once_where_there_is_nobody_else) {
    const MeasuredGains one = machine({{"a", {1.3, 1}}, {"b", {1.5, 1}}}, 1);
    EXPECT_EQ(rank({&one, &one}, kHot, "", kPlaces).front().name, "b");
}

TEST(Rank, loses_little_by_noise_among_hundreds_of_candidates) {
    noise::Random random(1);
    constexpr int kCandidates = 300;
    std::map<std::string, std::size_t> places;
    std::vector<double> truth;
    for (int i = 0; i < kCandidates; ++i) {
        places['c' + std::to_string(i)] = static_cast<std::size_t>(i);
        truth.push_back(0.2 * noise::uniform(random));
    }
    double regret = 0;
    constexpr int kTries = 50;
    for (int i = 0; i < kTries; ++i) {
        std::vector<MeasuredGains> machines(3);
        for (MeasuredGains& one : machines) {
            for (const auto& [name, place] : places) {
                const std::size_t rounds = place % 3 ? 3 : 12;
                const double error = 0.03 / std::sqrt(static_cast<double>(rounds));
                one[Workload::hot][name] = {truth[place] + error * noise::normal(random), error,
                                            rounds, 0, 0};
            }
        }
        const auto ranked = rank({&machines[0], &machines[1], &machines[2]}, kHot, "", places);
        const double best = *std::max_element(truth.begin(), truth.end());
        regret += (best - truth[places.at(ranked.front().name)]) / kTries;
    }
    EXPECT_LT(regret, 0.015);
}

} // namespace
} // namespace asterope
