// The race on made-up machines: who is timed when, what counts, who wins and who ties.
#include "search/race.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <set>

#include "support/known_machine.hpp"

using namespace asterope;

namespace {

constexpr std::size_t kSize = 4096;

/// What there is to know of one entrant: libc's time over its own.
struct Truth {
    double hot, cold;
};

KnownMachine::Ratios ratios(const std::vector<Truth>& truths) {
    KnownMachine::Ratios ratios;
    for (const Truth& truth : truths) {
        ratios[Workload::hot].push_back(truth.hot);
        ratios[Workload::cold].push_back(truth.cold);
    }
    return ratios;
}

Weights weights(double hot, double cold) {
    return {{Workload::hot, hot}, {Workload::cold, cold}};
}

std::vector<Entrant> first(int count) {
    std::vector<Entrant> entrants;
    for (Entrant i = 0; i < count; ++i) entrants.push_back(i);
    return entrants;
}

/// A race over a machine of which the truth is known.
struct Track {
    Track(const std::vector<Truth>& truths, Weights weights)
        : machine(ratios(truths)), race(kSize, std::move(weights), random, machine) {}

    std::set<Workload> workloads() const {
        std::set<Workload> seen;
        for (const KnownMachine::Call& call : machine.calls) seen.insert(std::get<1>(call));
        return seen;
    }

    noise::Random random{1};
    KnownMachine machine;
    Race race;
};

Entrant winner_of(const std::vector<Truth>& truths, const Weights& weights,
                  Entrant favourite = kLibc) {
    Track track(truths, weights);
    const auto entrants = first(static_cast<int>(truths.size()));
    return track.race.run_off(entrants, 9, favourite).finalists.front().candidate;
}

} // namespace

// --- Samples -------------------------------------------------------------------------------------

TEST(Race, samples_every_entrant_as_often_as_asked) {
    Track track(std::vector<Truth>(60, {1, 1}), weights(1, 1));
    track.race.sample(first(60), 3);
    std::map<std::pair<Entrant, Workload>, int> samples;
    for (const auto& [size, workload, entrant, round] : track.machine.calls) {
        EXPECT_EQ(size, kSize);
        if (entrant >= 0) ++samples[{entrant, workload}];
    }
    ASSERT_EQ(samples.size(), 120u);
    for (const auto& [who, count] : samples) EXPECT_EQ(count, 3);
}

// What each candidate is compared with was timed at most half a heat away.
TEST(Race, times_libc_all_along) {
    Track track(std::vector<Truth>(100, {1, 1}), weights(1, 1));
    track.race.sample(first(100), 4);
    int since = 0;
    for (const auto& [size, workload, entrant, round] : track.machine.calls) {
        since = entrant < 0 ? 0 : since + 1;
        ASSERT_LE(since, 13);
    }
    EXPECT_EQ(std::get<2>(track.machine.calls.front()), kLibc);
    EXPECT_EQ(std::get<2>(track.machine.calls.back()), kLibc);
}

// Trials of one round lie in the same place: a candidate and the libc it is compared with do.
TEST(Race, times_libc_in_the_round_of_each_candidate) {
    Track track(std::vector<Truth>(100, {1, 1}), weights(1, 1));
    track.race.sample(first(100), 2);
    std::map<std::uint64_t, std::set<Workload>> workloads;
    std::map<std::uint64_t, int> libc;
    for (const auto& [size, workload, entrant, round] : track.machine.calls) {
        workloads[round].insert(workload);
        libc[round] += entrant < 0;
    }
    EXPECT_GT(workloads.size(), 8u);
    for (const auto& [round, seen] : workloads) {
        EXPECT_EQ(seen.size(), 1u);
        EXPECT_EQ(libc[round], 3);
    }
}

TEST(Race, samples_in_another_order_each_time) {
    Track track(std::vector<Truth>(20, {1, 1}), weights(1, 1));
    track.race.sample(first(20), 10);
    std::set<std::vector<Entrant>> orders;
    std::vector<Entrant> order;
    for (const KnownMachine::Call& call : track.machine.calls) {
        if (std::get<2>(call) < 0) continue;
        order.push_back(std::get<2>(call));
        if (order.size() == 20) {
            orders.insert(order);
            order.clear();
        }
    }
    EXPECT_EQ(orders.size(), 20u); // ten of each workload
}

TEST(Race, does_not_sample_a_workload_of_weight_0) {
    Track track({{1.1, 0.5}, {1, 2}}, weights(1, 0));
    track.race.sample(first(2), 5);
    EXPECT_EQ(track.workloads(), std::set<Workload>{Workload::hot});
}

// --- Ranks ---------------------------------------------------------------------------------------

TEST(Race, samples_what_is_told_late_only_when_asked_for_all_and_ranks_by_it_from_then_on) {
    KnownMachine::Ratios truth;
    truth[Workload::hot] = {1.0, 1.1};
    truth[Workload::fetch] = {1.5, 0.9};
    noise::Random random{1};
    KnownMachine machine(truth);
    Race race(kSize, Weights{{Workload::hot, 1}, {Workload::fetch, 1}}, random, machine);
    std::vector<Entrant> entrants = first(2);
    race.sample(entrants, 1);
    for (const auto& [size, workload, entrant, round] : machine.calls) {
        EXPECT_EQ(workload, Workload::hot);
    }
    race.rank(entrants);
    EXPECT_EQ(entrants, (std::vector<Entrant>{1, 0}));
    EXPECT_TRUE(race.acceptable(1));
    race.sample(entrants, 1, Race::Weighed::all);
    race.rank(entrants);
    EXPECT_EQ(entrants, (std::vector<Entrant>{0, 1}));
    EXPECT_FALSE(race.acceptable(1)) << "it loses a tenth under fetch";
}

TEST(Race, ranks_by_the_weighted_mean) {
    const std::vector<Truth> truths = {{1.1, 1.3}, {2, 0.9}, {1, 1}};
    const auto ranked = [&](double hot, double cold) {
        Track track(truths, weights(hot, cold));
        std::vector<Entrant> entrants = first(3);
        track.race.sample(entrants, 3);
        track.race.rank(entrants);
        return entrants;
    };
    EXPECT_EQ(ranked(1, 1), (std::vector<Entrant>{1, 0, 2})); // 1.34, 1.20, 1
    EXPECT_EQ(ranked(1, 3), (std::vector<Entrant>{0, 1, 2})); // 1.25, 1.10, 1
    EXPECT_EQ(ranked(0, 1), (std::vector<Entrant>{0, 2, 1})); // 1.3, 1, 0.9
}

TEST(Race, weighs_by_shares_of_the_sum) {
    for (const double scale : {0.001, 1.0, 300.0}) {
        Track track({{1.1, 1.3}}, weights(scale, 3 * scale));
        const SizeResult result = track.race.run_off({0}, 5, kLibc);
        EXPECT_NEAR(result.finalists.front().ratio, std::pow(1.1 * 1.3 * 1.3 * 1.3, 0.25), 1e-9);
    }
}

TEST(Race, accepts_who_loses_at_most_3_percent_in_each_workload_that_counts) {
    Track both({{0.98, 2}, {0.96, 2}, {2, 0.96}, {1, 1}}, weights(1, 1));
    both.race.sample(first(4), 3);
    EXPECT_TRUE(both.race.acceptable(0));
    EXPECT_FALSE(both.race.acceptable(1));
    EXPECT_FALSE(both.race.acceptable(2));
    EXPECT_TRUE(both.race.acceptable(3));
    Track hot({{0.96, 2}, {2, 0.1}}, weights(1, 0));
    hot.race.sample(first(2), 3);
    EXPECT_FALSE(hot.race.acceptable(0));
    EXPECT_TRUE(hot.race.acceptable(1));
}

TEST(Race, keeps_half_of_the_places_for_those_that_lose_nowhere) {
    std::vector<Truth> truths;
    for (int i = 0; i < 6; ++i) truths.push_back({0.9, 3 + 0.1 * i});
    for (int i = 0; i < 3; ++i) truths.push_back({1.01 + 0.1 * i, 1});
    Track track(truths, weights(1, 1));
    track.race.sample(first(9), 3);
    EXPECT_EQ(track.race.best(first(9), 4), (std::vector<Entrant>{5, 4, 8, 7}));
    EXPECT_EQ(track.race.best(first(9), 2), (std::vector<Entrant>{5, 8}));
    EXPECT_EQ(track.race.best(first(9), 1), std::vector<Entrant>{5});
    EXPECT_EQ(track.race.best(first(9), 100).size(), 9u);
    EXPECT_EQ(track.race.best(first(6), 4), (std::vector<Entrant>{5, 4, 3, 2})); // nobody to keep
}

// --- The run-off ---------------------------------------------------------------------------------

TEST(RunOff, has_everybody_and_libc_under_both_names_in_every_round) {
    Track track({{1, 1}, {1.1, 1}, {1.2, 1}}, weights(1, 1));
    track.race.sample(first(3), 2);
    const std::size_t before = track.machine.calls.size();
    std::uint64_t last = 0;
    for (const KnownMachine::Call& call : track.machine.calls) {
        last = std::max(last, std::get<3>(call));
    }
    track.race.run_off(first(3), 9, kLibc);
    std::map<std::pair<std::uint64_t, Workload>, std::multiset<Entrant>> rounds;
    for (std::size_t i = before; i < track.machine.calls.size(); ++i) {
        const auto& [size, workload, entrant, round] = track.machine.calls[i];
        rounds[{round, workload}].insert(entrant);
    }
    EXPECT_EQ(rounds.size(), 18u);
    for (const auto& [round, entrants] : rounds) {
        EXPECT_EQ(entrants, (std::multiset<Entrant>{kLibcAgain, kLibc, 0, 1, 2}));
        EXPECT_GT(round.first, last) << "the samples are not fresh";
    }
}

TEST(RunOff, measures_a_workload_of_weight_0_for_the_record) {
    Track track({{1.2, 0.5}, {1.1, 3}}, weights(1, 0));
    track.race.sample(first(2), 3);
    const SizeResult result = track.race.run_off(first(2), 9, kLibc);
    EXPECT_EQ(track.workloads().size(), 2u);
    ASSERT_EQ(result.finalists.size(), 2u);
    // Neither the mean nor the loss of half there matters.
    EXPECT_EQ(result.finalists[0].candidate, 0);
    EXPECT_NEAR(result.finalists[0].ratio, 1.2, 1e-9);
    EXPECT_NEAR(result.finalists[0].workloads.at(Workload::cold).ratio.median, 0.5, 1e-9);
    EXPECT_NEAR(result.finalists[1].workloads.at(Workload::cold).ratio.median, 3, 1e-9);
    EXPECT_EQ(result.noise_floor.count(Workload::cold), 1u);
    EXPECT_FALSE(result.finalists[1].tied);
}

TEST(RunOff, tells_size_rounds_and_times) {
    Track track({{1.25, 0.8}}, weights(1, 1));
    const SizeResult result = track.race.run_off({0}, 7, kLibc);
    EXPECT_EQ(result.size, kSize);
    EXPECT_EQ(result.rounds, 7);
    const Measured& cold = result.finalists.front().workloads.at(Workload::cold);
    EXPECT_NEAR(cold.seconds, kLibcSeconds / 0.8, 1e-12);
    EXPECT_NEAR(cold.libc_seconds, kLibcSeconds, 1e-12);
    EXPECT_NEAR(cold.ratio.low, 0.8, 1e-9);
    EXPECT_NEAR(result.noise_floor.at(Workload::hot).median, 1, 1e-9);
    EXPECT_TRUE(result.finalists.front().tied);
}

TEST(RunOff, lets_nobody_win_that_loses_where_another_does_not) {
    EXPECT_EQ(winner_of({{0.96, 3}, {1.01, 1.02}}, weights(1, 1)), 1);
    EXPECT_EQ(winner_of({{0.98, 3}, {1.01, 1.02}}, weights(1, 1)), 0); // less than 3 %
    EXPECT_EQ(winner_of({{0.96, 3}, {1.5, 0.96}}, weights(1, 1)), 0);  // both lose somewhere
    EXPECT_EQ(winner_of({{1.2, 0.3}, {1.1, 1.1}}, weights(1, 0)), 0);  // it does not count there
    // However little a workload counts, losing in it does.
    EXPECT_EQ(winner_of({{3, 0.9}, {1.01, 1.02}}, weights(99, 1)), 1);
}

TEST(RunOff, lets_weights_decide) {
    const std::vector<Truth> truths = {{1.6, 1}, {1, 1.3}};
    EXPECT_EQ(winner_of(truths, weights(1, 1)), 0);
    EXPECT_EQ(winner_of(truths, weights(1, 3)), 1);
}

TEST(RunOff, gives_ties_to_the_favourite_else_to_the_lowest_index) {
    const std::vector<Truth> truths = {{1.300, 1}, {1.305, 1}, {1.302, 1}};
    EXPECT_EQ(winner_of(truths, weights(1, 1)), 0);
    EXPECT_EQ(winner_of(truths, weights(1, 1), 2), 2);
    EXPECT_EQ(winner_of(truths, weights(1, 1), 1), 1);
}

TEST(RunOff, gives_ties_to_the_first_favourite_that_is_among_them) {
    const std::vector<Truth> truths = {{1.302, 1}, {1.305, 1}, {1.300, 1}, {1.2, 1}};
    const auto winner = [&](const std::vector<Entrant>& favourites) {
        Track track(truths, weights(1, 1));
        return track.race.run_offs(first(4), 9, {favourites}).front().finalists.front().candidate;
    };
    EXPECT_EQ(winner({2, 1}), 2);
    EXPECT_EQ(winner({1, 2}), 1);
    EXPECT_EQ(winner({3, 2, 1}), 2) << "the first of them is behind";
    EXPECT_EQ(winner({9, kLibc, 1}), 1) << "some of them do not run";
    EXPECT_EQ(winner({3}), 0);
    EXPECT_EQ(winner({}), 0);
}

TEST(RunOff, gives_a_real_lead_to_nobody_else) {
    const std::vector<Truth> truths = {{1.30, 1}, {1.37, 1}, {1.31, 1}};
    EXPECT_EQ(winner_of(truths, weights(1, 1), 0), 1);
    EXPECT_EQ(winner_of(truths, weights(1, 1), kLibc), 1);
}

// Two who are alike by the weights are a tie however they differ in each workload.
TEST(RunOff, measures_ties_by_the_weighted_mean) {
    const std::vector<Truth> truths = {{1.2, 1.2}, {1.44, 1.0}};
    EXPECT_EQ(winner_of(truths, weights(1, 1), 1), 1);
    EXPECT_EQ(winner_of(truths, weights(1, 1), 0), 0);
    EXPECT_EQ(winner_of(truths, weights(2, 1), 0), 1);
    EXPECT_EQ(winner_of({{1.2, 1}, {1.2, 9}}, weights(1, 0)), 0);
}

TEST(RunOff, does_not_let_a_favourite_win_that_loses_somewhere) {
    EXPECT_EQ(winner_of({{1.06, 1.0}, {0.96, 1.105}}, weights(1, 1), 1), 0);
}

TEST(RunOff, names_the_winner_first_and_the_others_by_falling_ratio) {
    Track track({{1.2, 1}, {1.5, 1}, {0.9, 9}, {1.3, 1}}, weights(1, 1));
    const SizeResult result = track.race.run_off(first(4), 5, kLibc);
    std::vector<Entrant> order;
    for (const Finalist& finalist : result.finalists) order.push_back(finalist.candidate);
    EXPECT_EQ(order, (std::vector<Entrant>{1, 3, 0, 2})); // 2 loses in the hot workload
}

// Nobody is better: how often the lead of the best of eight is called real.
TEST(RunOff, finds_a_tie_in_identical_work) {
    int won_by_luck = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        noise::Random random(seed);
        NoisyMachine machine(ratios(std::vector<Truth>(8, {1.1, 1.1})), 0.01, seed);
        Race race(kSize, weights(1, 1), random, machine);
        won_by_luck += race.run_off(first(8), 15, 0).finalists.front().candidate != 0;
    }
    EXPECT_LE(won_by_luck, 10);
}

TEST(RunOff, does_not_miss_a_real_difference) {
    int missed = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        noise::Random random(seed);
        std::vector<Truth> truths(8, {1.1, 1.1});
        truths[5] = {1.16, 1.16};
        NoisyMachine machine(ratios(truths), 0.01, seed);
        Race race(kSize, weights(1, 1), random, machine);
        missed += race.run_off(first(8), 15, 0).finalists.front().candidate != 5;
    }
    EXPECT_LE(missed, 5);
}

// --- What a winner rests on ----------------------------------------------------------------------

namespace {

/// How often an entrant was timed under these workloads.
std::size_t timed(const KnownMachine& machine, Entrant who, const std::set<Workload>& workloads) {
    return static_cast<std::size_t>(
        std::count_if(machine.calls.begin(), machine.calls.end(), [&](const auto& call) {
            return std::get<2>(call) == who && workloads.count(std::get<1>(call));
        }));
}

} // namespace

TEST(Proof, counts_how_often_the_winner_was_timed_where_it_counts) {
    Track both({{1, 1}, {1.5, 1.5}, {1.2, 1}}, weights(1, 1));
    both.race.sample(first(3), 4);
    both.race.sample({0, 1}, 3); // 2 was dropped
    const SizeResult result = both.race.run_off(first(3), 9, kLibc);
    ASSERT_EQ(result.finalists.front().candidate, 1);
    EXPECT_EQ(result.samples, 2u * (4 + 3 + 9));
    EXPECT_EQ(result.samples, timed(both.machine, 1, {Workload::hot, Workload::cold}));

    Track hot({{1, 1}, {1.5, 1.5}}, weights(1, 0));
    hot.race.sample(first(2), 4);
    const SizeResult alone = hot.race.run_off(first(2), 9, kLibc);
    EXPECT_EQ(alone.samples, 4u + 9);
    EXPECT_EQ(alone.samples, timed(hot.machine, 1, {Workload::hot}));
}

// The winner of a neighbouring size takes part without having been screened at this one.
TEST(Proof, counts_the_run_off_alone_for_who_joined_there) {
    Track track({{1, 1}, {1.5, 1.5}}, weights(1, 1));
    track.race.sample({0}, 4);
    EXPECT_EQ(track.race.run_off(first(2), 9, kLibc).samples, 2u * 9);
}

TEST(Proof, has_the_lead_over_the_runner_up_by_the_weights) {
    const auto lead = [](const std::vector<Truth>& truths, const Weights& weights) {
        Track track(truths, weights);
        const SizeResult result =
            track.race.run_off(first(static_cast<int>(truths.size())), 9, kLibc);
        EXPECT_NEAR(result.lead.low, result.lead.median, 1e-9); // nothing is random here
        EXPECT_NEAR(result.lead.high, result.lead.median, 1e-9);
        return result.lead.median;
    };
    const std::vector<Truth> truths = {{1, 1}, {1.5, 1.2}, {1.2, 1.1}};
    EXPECT_NEAR(lead(truths, weights(1, 1)), std::sqrt(1.5 / 1.2 * 1.2 / 1.1), 1e-9);
    EXPECT_NEAR(lead(truths, weights(1, 3)), std::pow(1.5 / 1.2, 0.25) * std::pow(1.2 / 1.1, 0.75),
                1e-9);
    EXPECT_NEAR(lead(truths, weights(1, 0)), 1.5 / 1.2, 1e-9);
    // The runner-up loses in one workload: its mean is better, and it may not win all the same.
    EXPECT_NEAR(lead({{1.2, 1.2}, {0.9, 3}}, weights(1, 1)), std::sqrt(1.2 * 1.2 / 0.9 / 3), 1e-9);
}

TEST(Proof, has_no_lead_for_who_ran_alone) {
    Track track({{1.5, 1.2}}, weights(1, 1));
    const Estimate lead = track.race.run_off({0}, 9, kLibc).lead;
    EXPECT_EQ(lead.median, 1);
    EXPECT_EQ(lead.low, 1);
    EXPECT_EQ(lead.high, 1);
}

TEST(Proof, has_a_lead_below_1_for_who_wins_a_tie_by_rule) {
    Track track({{1.300, 1}, {1.305, 1}}, weights(1, 0));
    const SizeResult result = track.race.run_off(first(2), 9, 0);
    ASSERT_EQ(result.finalists.front().candidate, 0);
    EXPECT_NEAR(result.lead.median, 1.300 / 1.305, 1e-9);
    EXPECT_TRUE(result.finalists[1].tied);
}

TEST(Proof, has_a_lead_for_each_objective) {
    noise::Random random(1);
    KnownMachine machine(ratios({{1.5, 1.0}, {1.2, 1.4}}));
    Race race(kSize, {weights(1, 0), weights(0, 1)}, random, machine);
    race.sample(first(2), 2);
    const auto results = race.run_offs(first(2), 9, {{}, {}});
    EXPECT_NEAR(results[0].lead.median, 1.5 / 1.2, 1e-9);
    EXPECT_NEAR(results[1].lead.median, 1.4 / 1.0, 1e-9);
    for (const SizeResult& result : results) EXPECT_EQ(result.samples, 2u + 9);
}

// Interruptions, lucky shots, slow phases and drift: the interval says how sure the lead is.
TEST(Proof, encloses_the_true_lead_as_often_as_it_says) {
    int missed = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        noise::Random random(seed);
        NoisyMachine machine(ratios({{1.1, 1.1}, {1.3, 1.3}}), 0.01, seed);
        Race race(kSize, weights(1, 1), random, machine);
        const Estimate lead = race.run_off(first(2), 15, kLibc).lead;
        missed += lead.low > 1.3 / 1.1 || lead.high < 1.3 / 1.1;
    }
    EXPECT_LE(missed, 15); // of 15 rounds the interval holds 96.5 %
    EXPECT_GE(missed, 1);  // and is no wider than it must be
}

// --- Companies -----------------------------------------------------------------------------------

namespace {

/// Who leaves the caches otherwise than libc does: every third.
int cache_effect(Entrant entrant) {
    return entrant >= 0 && entrant % 3 == 0 ? 1 : 0;
}

TimedCopies with_cache_effects(KnownMachine& machine) {
    static const std::vector<TimedCopy> copies = [] {
        std::vector<TimedCopy> some;
        for (Entrant i = 0; i < 100; ++i) {
            some.push_back({nullptr, 0, cache_effect(i), nullptr, std::to_string(i)});
        }
        return some;
    }();
    return {machine, copies, {.name = "libc"}};
}

/// The calls from the `begin`-th on, those of one round and workload together.
std::vector<std::vector<Entrant>> turns(const KnownMachine& machine, std::size_t begin = 0) {
    std::vector<std::vector<Entrant>> turns;
    for (std::size_t i = begin; i < machine.calls.size(); ++i) {
        const auto& [size, workload, entrant, round] = machine.calls[i];
        const bool first = i == begin || std::get<1>(machine.calls[i - 1]) != workload ||
                           std::get<3>(machine.calls[i - 1]) != round;
        if (first) turns.emplace_back();
        turns.back().push_back(entrant);
    }
    return turns;
}

/// Each turn has one change at most, and the next goes on with the cache effect that ended it.
void expect_companies_together(const std::vector<std::vector<Entrant>>& turns) {
    int last = 0;
    for (const std::vector<Entrant>& turn : turns) {
        int changes = 0, before = cache_effect(turn.front());
        EXPECT_EQ(before, last) << "the company changes between two turns";
        for (const Entrant entrant : turn) {
            const int own = cache_effect(entrant);
            changes += own != before;
            before = own;
        }
        EXPECT_EQ(changes, 1);
        last = before;
    }
}

} // namespace

TEST(Companies, are_sampled_one_after_the_other_with_libc_thrice_a_heat) {
    noise::Random random(1);
    KnownMachine machine(ratios(std::vector<Truth>(60, {1, 1})));
    Race race(kSize, weights(1, 1), random, with_cache_effects(machine));
    race.sample(first(60), 4);
    const auto heats = turns(machine);
    ASSERT_EQ(heats.size(), 3u * 2 * 4); // of 24, 24 and 12, twice four times
    expect_companies_together(heats);
    std::map<Entrant, int> samples;
    for (const std::vector<Entrant>& heat : heats) {
        EXPECT_EQ(std::count(heat.begin(), heat.end(), kLibc), 3);
        for (const Entrant entrant : heat) ++samples[entrant];
    }
    for (const Entrant entrant : first(60)) EXPECT_EQ(samples[entrant], 8) << entrant;
}

// Libc stands at the beginning, in the middle and at the end of its own cache effect.
TEST(Companies, have_libc_all_along_its_own) {
    noise::Random random(1);
    KnownMachine machine(ratios(std::vector<Truth>(24, {1, 1})));
    Race race(kSize, weights(1, 0), random, with_cache_effects(machine));
    race.sample(first(24), 6);
    for (const std::vector<Entrant>& heat : turns(machine)) {
        std::vector<Entrant> own;
        for (const Entrant entrant : heat) {
            if (cache_effect(entrant) == 0) own.push_back(entrant);
        }
        ASSERT_EQ(own.size(), 16u + 3);
        EXPECT_EQ(own.front(), kLibc);
        EXPECT_EQ(own.back(), kLibc);
        EXPECT_EQ(std::count(own.begin() + 1, own.end() - 1, kLibc), 1);
    }
}

TEST(Companies, keep_each_time_with_who_was_timed) {
    std::vector<Truth> truths;
    for (int i = 0; i < 30; ++i) truths.push_back({1 + 0.01 * (i * 7 % 30), 1});
    noise::Random random(1);
    KnownMachine machine(ratios(truths));
    Race race(kSize, weights(1, 0), random, with_cache_effects(machine));
    race.sample(first(30), 2);
    std::vector<Entrant> ranked = first(30);
    race.rank(ranked);
    for (std::size_t i = 1; i < ranked.size(); ++i) {
        EXPECT_GT(machine.ratio(ranked[i - 1], Workload::hot),
                  machine.ratio(ranked[i], Workload::hot));
    }
}

TEST(Companies, run_one_after_the_other_in_the_run_off) {
    noise::Random random(1);
    KnownMachine machine(ratios(std::vector<Truth>(8, {1, 1})));
    Race race(kSize, weights(1, 1), random, with_cache_effects(machine));
    race.run_off(first(8), 9, kLibc);
    const auto rounds = turns(machine);
    ASSERT_EQ(rounds.size(), 18u);
    expect_companies_together(rounds);
    for (const std::vector<Entrant>& round : rounds) {
        EXPECT_EQ(std::set<Entrant>(round.begin(), round.end()).size(), 10u);
        EXPECT_EQ(round.size(), 10u);
    }
}

// --- Disturbed rounds ----------------------------------------------------------------------------

namespace {

/// Every round is disturbed twice before it is quiet. In a disturbed try libc is far slower, and
/// who is timed late far faster.
class DisturbedMachine : public KnownMachine {
  public:
    using KnownMachine::KnownMachine;

    double seconds(std::size_t size, Workload workload, Entrant entrant,
                   std::uint64_t round) override {
        const double seconds = KnownMachine::seconds(size, workload, entrant, round);
        ++in_try_;
        if (is_quiet()) return seconds;
        return entrant < 0 ? 9 * seconds : seconds / static_cast<double>(in_try_);
    }

    bool disturbed() override {
        const std::vector<Call> round(calls.end() - in_try_, calls.end());
        if (is_quiet()) {
            quiet.insert(quiet.end(), round.begin(), round.end());
        } else {
            in_vain.push_back(round);
        }
        in_try_ = 0;
        return tries_++ % 3 != 2;
    }

    std::vector<Call> quiet;                ///< what counts
    std::vector<std::vector<Call>> in_vain; ///< by try

  private:
    bool is_quiet() const { return tries_ % 3 == 2; }

    int tries_ = 0;
    std::ptrdiff_t in_try_ = 0;
};

/// Remembers what it is told.
class StagedMachine : public KnownMachine {
  public:
    using KnownMachine::KnownMachine;

    void enter(Stage stage) override { stages.emplace_back(stage, calls.size()); }

    std::vector<std::pair<Stage, std::size_t>> stages; ///< and the calls before
};

/// 50 of which no two are alike.
std::vector<Truth> field() {
    std::vector<Truth> truths;
    for (int i = 0; i < 50; ++i) truths.push_back({1 + 0.01 * (i * 7 % 50), 1 + 0.01 * i});
    return truths;
}

} // namespace

TEST(DisturbedRounds, are_repeated_as_they_were) {
    noise::Random random(1);
    DisturbedMachine machine(ratios(field()));
    Race race(kSize, weights(1, 1), random, machine);
    race.sample(first(50), 2);
    race.run_off(first(6), 5, kLibc);
    // three heats a sample and workload; and a turn a round and workload
    ASSERT_EQ(machine.in_vain.size(), 2u * (3 * 2 * 2 + 5 * 2));
    std::size_t at = 0;
    for (std::size_t i = 0; i < machine.in_vain.size(); ++i) {
        const auto& round = machine.in_vain[i];
        const auto begin = machine.quiet.begin() + static_cast<std::ptrdiff_t>(at);
        ASSERT_LE(at + round.size(), machine.quiet.size());
        EXPECT_TRUE(std::equal(round.begin(), round.end(), begin)) << i;
        if (i % 2 == 1) at += round.size();
    }
    EXPECT_EQ(at, machine.quiet.size());
}

// What is drawn next does not depend on what was disturbed before.
TEST(DisturbedRounds, leave_all_others_as_they_would_have_been) {
    noise::Random random(1), same_random(1);
    DisturbedMachine disturbed(ratios(field()));
    KnownMachine quiet(ratios(field()));
    Race race(kSize, weights(1, 1), random, disturbed);
    Race quiet_race(kSize, weights(1, 1), same_random, quiet);
    for (Race* each : {&race, &quiet_race}) {
        each->sample(first(50), 2);
        each->run_off(first(6), 5, kLibc);
    }
    EXPECT_EQ(disturbed.quiet, quiet.calls);
}

TEST(DisturbedRounds, count_only_when_they_were_quiet) {
    noise::Random random(1);
    DisturbedMachine machine(ratios(field()));
    Race race(kSize, weights(1, 1), random, machine);
    race.sample(first(50), 3);
    std::vector<Entrant> ranked = first(50);
    race.rank(ranked);
    for (std::size_t i = 1; i < ranked.size(); ++i) {
        EXPECT_GE(machine.ratio(ranked[i - 1]), machine.ratio(ranked[i]) * (1 - 1e-9));
    }
    for (const Entrant entrant : first(50)) EXPECT_TRUE(race.acceptable(entrant));
    const SizeResult result = race.run_off(first(6), 9, kLibc);
    for (const Finalist& finalist : result.finalists) {
        EXPECT_NEAR(finalist.ratio, machine.ratio(finalist.candidate), 1e-9);
        const Estimate& hot = finalist.workloads.at(Workload::hot).ratio;
        EXPECT_NEAR(hot.low, machine.ratio(finalist.candidate, Workload::hot), 1e-9);
        EXPECT_NEAR(hot.high, machine.ratio(finalist.candidate, Workload::hot), 1e-9);
    }
}

TEST(Stages, are_told_before_their_first_trial) {
    noise::Random random(1);
    StagedMachine machine(ratios(field()));
    Race race(kSize, weights(1, 1), random, machine);
    race.sample(first(50), 1);
    const std::size_t screened = machine.calls.size();
    race.run_off(first(6), 5, kLibc);
    using Stage = Timings::Stage;
    EXPECT_EQ(machine.stages, (std::vector<std::pair<Stage, std::size_t>>{
                                  {Stage::screening, 0}, {Stage::run_off, screened}}));
}

// --- One kind of noise at a time -----------------------------------------------------------------

namespace {

/// A quiet machine with one trouble.
class TroubledMachine : public JitteryMachine {
  public:
    TroubledMachine(const std::vector<Truth>& truths, std::uint64_t seed)
        : JitteryMachine(ratios(truths), 0.002, seed) {}

    double seconds(std::size_t size, Workload workload, Entrant entrant,
                   std::uint64_t round) override {
        return JitteryMachine::seconds(size, workload, entrant, round) * trouble(entrant);
    }

  protected:
    /// How many times as long the trial takes.
    virtual double trouble(Entrant entrant) = 0;
};

/// Its frequency falls by a tenth from the first trial to the `trials`-th, as when it warms up.
class FallingMachine : public TroubledMachine {
  public:
    FallingMachine(const std::vector<Truth>& truths, std::uint64_t seed, std::size_t trials)
        : TroubledMachine(truths, seed), trials_(static_cast<double>(trials)) {}

  private:
    double trouble(Entrant) override {
        return 1 / (1 - 0.1 * static_cast<double>(calls.size()) / trials_);
    }

    double trials_;
};

constexpr Entrant kBest = 5, kLucky = 3;

/// One in a hundred trials of kLucky takes half as long, as when a counter is read too late.
class LuckyMachine : public TroubledMachine {
  public:
    using TroubledMachine::TroubledMachine;

  private:
    double trouble(Entrant entrant) override {
        return entrant == kLucky && noise::uniform(random_) < 0.01 ? 0.5 : 1;
    }
};

/// Every now and then everything takes 1.5 times as long for some rounds or part of one.
class PhasedMachine : public TroubledMachine {
  public:
    using TroubledMachine::TroubledMachine;

  private:
    double trouble(Entrant) override {
        if (left_ == 0) {
            slow_ = !slow_;
            left_ = 10 + static_cast<int>(90 * noise::uniform(random_));
        }
        --left_;
        return slow_ ? 1.5 : 1;
    }

    int left_ = 0;
    bool slow_ = false;
};

/// Interruptions so long that their mean would be infinite.
class InterruptedMachine : public TroubledMachine {
  public:
    using TroubledMachine::TroubledMachine;

  private:
    double trouble(Entrant) override { return 1 + 0.005 * std::abs(noise::cauchy(random_)); }
};

/// In four of five rounds nothing that is timed means anything. It may be watched, or not.
class StormyMachine : public TroubledMachine {
  public:
    StormyMachine(const std::vector<Truth>& truths, std::uint64_t seed, bool watched)
        : TroubledMachine(truths, seed), watched_(watched) {}

    bool disturbed() override {
        const bool was = stormy_;
        stormy_ = noise::uniform(random_) < 0.8;
        return watched_ && was;
    }

  private:
    double trouble(Entrant) override {
        return stormy_ ? std::exp(0.3 * noise::normal(random_)) : 1;
    }

    bool watched_, stormy_ = true;
};

/// Eight of which one leads by so much that no rule about ties may take its win.
std::vector<Truth> one_leads() {
    std::vector<Truth> truths(8, {1.1, 1.1});
    truths[kBest] = {1.13, 1.13};
    return truths;
}

/// Of `seeds` races among these, how often another than kBest won.
int wins_of_others(const std::function<std::unique_ptr<Timings>(std::uint64_t seed)>& machine,
                   int seeds) {
    int others = 0;
    for (int seed = 0; seed < seeds; ++seed) {
        const auto timings = machine(static_cast<std::uint64_t>(seed));
        noise::Random random(static_cast<std::uint64_t>(seed));
        Race race(kSize, weights(1, 1), random, *timings);
        race.sample(first(8), 3);
        others += race.run_off(first(8), 15, 0).finalists.front().candidate != kBest;
    }
    return others;
}

} // namespace

// Each heat is compared with the libc of its own: between the first and the last lie 10 %.
TEST(Drift, moves_nobody_in_the_ranks) {
    std::vector<Truth> truths;
    for (int i = 0; i < 96; ++i) truths.push_back({1 + 0.01 * (i * 7 % 96), 1});
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        FallingMachine machine(truths, seed, 3 * 4 * 27);
        noise::Random random(seed);
        Race race(kSize, weights(1, 0), random, machine);
        race.sample(first(96), 3);
        ASSERT_EQ(machine.calls.size(), 3u * 4 * 27);
        std::vector<Entrant> ranked = first(96);
        race.rank(ranked);
        for (std::size_t i = 0; i < ranked.size(); ++i) {
            const double expected = 1 + 0.01 * static_cast<double>(95 - i);
            EXPECT_NEAR(machine.ratio(ranked[i], Workload::hot), expected, 0.0101) << i;
        }
    }
}

TEST(Drift, moves_no_ratio_and_widens_no_interval) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        FallingMachine machine(one_leads(), seed, 15 * 2 * 10);
        noise::Random random(seed);
        Race race(kSize, weights(1, 1), random, machine);
        const SizeResult result = race.run_off(first(8), 15, 0);
        ASSERT_EQ(machine.calls.size(), 15u * 2 * 10);
        EXPECT_EQ(result.finalists.front().candidate, kBest);
        for (const Finalist& finalist : result.finalists) {
            const double truth = machine.ratio(finalist.candidate);
            EXPECT_NEAR(finalist.ratio / truth, 1, 0.005);
            for (const auto& [workload, measured] : finalist.workloads) {
                EXPECT_LT(measured.ratio.high / measured.ratio.low, 1.015);
            }
        }
    }
}

TEST(LuckyShots, help_nobody_into_the_run_off) {
    std::vector<Truth> truths = one_leads();
    truths[2] = {1.12, 1.12};
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        LuckyMachine machine(truths, seed);
        noise::Random random(seed);
        Race race(kSize, weights(1, 0), random, machine);
        race.sample(first(8), 7);
        EXPECT_EQ(race.best(first(8), 2), (std::vector<Entrant>{kBest, 2})) << seed;
    }
}

TEST(LuckyShots, win_no_run_off_and_tie_with_no_winner) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        LuckyMachine machine(one_leads(), seed);
        noise::Random random(seed);
        Race race(kSize, weights(1, 0), random, machine);
        const SizeResult result = race.run_off(first(8), 15, kLucky);
        EXPECT_EQ(result.finalists.front().candidate, kBest) << seed;
        for (const Finalist& finalist : result.finalists) {
            EXPECT_EQ(finalist.tied, finalist.candidate == kBest) << seed;
            EXPECT_NEAR(finalist.ratio, machine.ratio(finalist.candidate), 0.01) << seed;
        }
    }
}

TEST(SlowPhases, take_no_win_from_the_fastest) {
    const auto machine = [](std::uint64_t seed) {
        return std::make_unique<PhasedMachine>(one_leads(), seed);
    };
    EXPECT_LE(wins_of_others(machine, 200), 2);
}

TEST(Outliers, take_no_win_from_the_fastest) {
    const auto machine = [](std::uint64_t seed) {
        return std::make_unique<InterruptedMachine>(one_leads(), seed);
    };
    EXPECT_LE(wins_of_others(machine, 200), 5);
}

TEST(Outliers, leave_ratios_and_floor_where_they_are) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        InterruptedMachine machine(one_leads(), seed);
        noise::Random random(seed);
        Race race(kSize, weights(1, 1), random, machine);
        const SizeResult result = race.run_off(first(8), 31, kLibc);
        for (const Finalist& finalist : result.finalists) {
            EXPECT_NEAR(finalist.ratio / machine.ratio(finalist.candidate), 1, 0.02);
        }
        for (const auto& [workload, floor] : result.noise_floor) EXPECT_NEAR(floor.median, 1, 0.03);
    }
}

TEST(DisturbedRounds, would_choose_wrong_if_they_counted) {
    const auto machine = [](bool watched) {
        return [watched](std::uint64_t seed) {
            return std::make_unique<StormyMachine>(one_leads(), seed, watched);
        };
    };
    EXPECT_EQ(wins_of_others(machine(true), 100), 0);
    EXPECT_GE(wins_of_others(machine(false), 100), 50);
}

// With all of it at once: they may choose differently, but lose no more than a tie may cost.
TEST(RunOff, chooses_alike_whatever_the_noise) {
    std::vector<Truth> truths;
    for (int i = 0; i < 12; ++i) truths.push_back({1.1 + 0.005 * i, 1.1 + 0.005 * i});
    int apart = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        double least = 9, most = 0;
        for (const std::uint64_t run : {2 * seed, 2 * seed + 1}) {
            NoisyMachine machine(ratios(truths), 0.005, run);
            noise::Random random(run);
            Race race(kSize, weights(1, 1), random, machine);
            race.sample(first(12), 3);
            const Entrant won = race.run_off(first(12), 15, kLibc).finalists.front().candidate;
            least = std::min(least, machine.ratio(won));
            most = std::max(most, machine.ratio(won));
        }
        apart += most / least > 1.02;
    }
    EXPECT_LE(apart, 2);
}

// --- Several objectives at once ------------------------------------------------------------------

namespace {

/// A race for several objectives over hot, cold and consume.
struct Tracks {
    struct Truth {
        double hot, cold, consume;
    };

    Tracks(const std::vector<Truth>& truths, std::vector<Weights> objectives)
        : machine(ratios(truths)), race(kSize, std::move(objectives), random, machine) {}

    static KnownMachine::Ratios ratios(const std::vector<Truth>& truths) {
        KnownMachine::Ratios ratios;
        for (const Truth& truth : truths) {
            ratios[Workload::hot].push_back(truth.hot);
            ratios[Workload::cold].push_back(truth.cold);
            ratios[Workload::consume].push_back(truth.consume);
        }
        return ratios;
    }

    std::vector<Entrant> ranked(int count, std::size_t objective) const {
        std::vector<Entrant> entrants = first(count);
        race.rank(entrants, objective);
        return entrants;
    }

    noise::Random random{1};
    KnownMachine machine;
    Race race;
};

const Weights kHot = {{Workload::hot, 1}}, kCold = {{Workload::cold, 1}},
              kConsume = {{Workload::consume, 1}},
              kMean = {{Workload::hot, 1}, {Workload::cold, 1}, {Workload::consume, 1}};

/// 0 to 3 are good where data is cached, 4 to 7 where it is not, 8 to 11 where it is read; each
/// worse than the one before, none losing anywhere.
const std::vector<Tracks::Truth> kSpecialists = {{1.9, 1.1, 1.1}, {1.8, 1.1, 1.1}, {1.7, 1.1, 1.1},
                                                 {1.6, 1.1, 1.1}, {1.1, 1.9, 1.0}, {1.1, 1.8, 1.0},
                                                 {1.1, 1.7, 1.0}, {1.1, 1.6, 1.0}, {1.0, 1.0, 1.9},
                                                 {1.0, 1.0, 1.8}, {1.0, 1.0, 1.7}, {1.0, 1.0, 1.6}};

} // namespace

TEST(Objectives, rank_each_for_itself_from_the_same_samples) {
    Tracks tracks({{1.5, 1.0, 1.0}, {1.0, 1.6, 1.1}, {1.1, 1.1, 1.4}},
                  {kMean, kHot, kCold, kConsume});
    tracks.race.sample(first(3), 3);
    EXPECT_EQ(tracks.ranked(3, 0), (std::vector<Entrant>{1, 2, 0})); // 1.76, 1.69, 1.5
    EXPECT_EQ(tracks.ranked(3, 1), (std::vector<Entrant>{0, 2, 1}));
    EXPECT_EQ(tracks.ranked(3, 2), (std::vector<Entrant>{1, 2, 0}));
    EXPECT_EQ(tracks.ranked(3, 3), (std::vector<Entrant>{2, 1, 0}));
}

TEST(Objectives, accept_each_for_itself) {
    Tracks tracks({{0.9, 2, 1}, {2, 0.9, 1}}, {kMean, kHot, kCold});
    tracks.race.sample(first(2), 3);
    for (const Entrant entrant : first(2)) {
        EXPECT_FALSE(tracks.race.acceptable(entrant, 0));
        EXPECT_EQ(tracks.race.acceptable(entrant, 1), entrant == 1);
        EXPECT_EQ(tracks.race.acceptable(entrant, 2), entrant == 0);
    }
}

TEST(Objectives, sample_everybody_once_for_all) {
    Tracks tracks(kSpecialists, {kMean, kHot, kCold, kHot});
    tracks.race.sample(first(12), 2);
    std::map<std::pair<Entrant, Workload>, int> samples;
    for (const auto& [size, workload, entrant, round] : tracks.machine.calls) {
        if (entrant >= 0) ++samples[{entrant, workload}];
    }
    EXPECT_EQ(samples.size(), 36u);
    for (const auto& [who, count] : samples) EXPECT_EQ(count, 2);
}

TEST(Objectives, sample_what_counts_for_one_of_them_and_measure_the_rest_in_the_run_off) {
    const Weights hot = {{Workload::hot, 1}, {Workload::cold, 0}, {Workload::consume, 0}};
    Tracks tracks(kSpecialists, {hot, kCold});
    const auto workloads = [&] {
        std::set<Workload> seen;
        for (const auto& [size, workload, entrant, round] : tracks.machine.calls) {
            seen.insert(workload);
        }
        return seen;
    };
    tracks.race.sample(first(12), 1);
    EXPECT_EQ(workloads(), (std::set<Workload>{Workload::hot, Workload::cold}));
    const auto results = tracks.race.run_offs(first(12), 5, {{}, {}});
    EXPECT_EQ(workloads().size(), 3u);
    // The second does not name consume at all; its figures are there all the same.
    for (const SizeResult& result : results) {
        EXPECT_EQ(result.noise_floor.size(), 3u);
        for (const Finalist& finalist : result.finalists) {
            const double truth = tracks.machine.ratio(finalist.candidate, Workload::consume);
            EXPECT_NEAR(finalist.workloads.at(Workload::consume).ratio.median, truth, 1e-9);
        }
    }
}

TEST(Objectives, leave_all_places_to_the_first_and_share_half_as_many_more) {
    Tracks tracks(kSpecialists, {kHot, kCold, kConsume});
    tracks.race.sample(first(12), 3);
    EXPECT_EQ(tracks.race.best(first(12), 4), (std::vector<Entrant>{0, 1, 2, 3, 4, 8}));
    // two more places each, but 4 and 5 have theirs already
    EXPECT_EQ(tracks.race.best(first(12), 8), (std::vector<Entrant>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    Tracks other(kSpecialists, {kConsume, kCold});
    other.race.sample(first(12), 3);
    EXPECT_EQ(other.race.best(first(12), 4), (std::vector<Entrant>{8, 9, 10, 11, 4, 5}));
}

// Alone, the first would keep the same: its places are not for the others.
TEST(Objectives, take_no_place_from_the_first) {
    Tracks alone(kSpecialists, {kMean}), together(kSpecialists, {kMean, kHot, kCold, kConsume});
    alone.race.sample(first(12), 3);
    together.race.sample(first(12), 3);
    for (const std::size_t keep : {1, 2, 3, 5, 8, 12}) {
        const std::vector<Entrant> own = alone.race.best(first(12), keep);
        std::vector<Entrant> kept = together.race.best(first(12), keep);
        EXPECT_EQ(own.size(), keep);
        ASSERT_GE(kept.size(), keep);
        EXPECT_LE(kept.size(), keep + std::max<std::size_t>(3, keep / 2));
        kept.resize(keep);
        EXPECT_EQ(kept, own);
    }
}

TEST(Objectives, have_a_place_each_however_few_there_are) {
    Tracks tracks(kSpecialists, {kHot, kCold, kConsume});
    tracks.race.sample(first(12), 3);
    EXPECT_EQ(tracks.race.best(first(12), 1), (std::vector<Entrant>{0, 4, 8}));
}

TEST(Objectives, keep_nobody_twice) {
    Tracks tracks(kSpecialists, {kHot, kHot, kMean});
    tracks.race.sample(first(12), 3);
    for (const std::size_t keep : {1, 2, 3, 5, 8, 12, 100}) {
        const std::vector<Entrant> kept = tracks.race.best(first(12), keep);
        EXPECT_EQ(kept.front(), 0);
        EXPECT_EQ(std::set<Entrant>(kept.begin(), kept.end()).size(), kept.size());
    }
}

TEST(Objectives, time_everybody_once_a_round_and_choose_each_for_itself) {
    Tracks tracks(kSpecialists, {kMean, kHot, kCold, kConsume});
    const auto results = tracks.race.run_offs(first(12), 7, {{}, {}, {}, {}});
    std::map<std::tuple<std::uint64_t, Workload, Entrant>, int> timed;
    for (const auto& [size, workload, entrant, round] : tracks.machine.calls) {
        ++timed[{round, workload, entrant}];
    }
    EXPECT_EQ(timed.size(), 7u * 3 * 14);
    for (const auto& [what, count] : timed) EXPECT_EQ(count, 1);

    ASSERT_EQ(results.size(), 4u);
    EXPECT_EQ(results[0].finalists.front().candidate, 0);
    EXPECT_EQ(results[1].finalists.front().candidate, 0);
    EXPECT_EQ(results[2].finalists.front().candidate, 4);
    EXPECT_EQ(results[3].finalists.front().candidate, 8);
    EXPECT_NEAR(results[0].finalists.front().ratio, std::cbrt(1.9 * 1.1 * 1.1), 1e-9);
    EXPECT_NEAR(results[2].finalists.front().ratio, 1.9, 1e-9);
    for (const SizeResult& result : results) {
        EXPECT_EQ(result.size, kSize);
        EXPECT_EQ(result.rounds, 7);
        EXPECT_EQ(result.finalists.size(), 12u);
        EXPECT_EQ(result.noise_floor.size(), 3u);
    }
}

TEST(Objectives, break_ties_each_by_its_own_favourite) {
    Tracks tracks(std::vector<Tracks::Truth>(4, {1.2, 1.2, 1.2}), {kMean, kHot, kCold});
    const auto results = tracks.race.run_offs(first(4), 9, {{2}, {}, {3}});
    EXPECT_EQ(results[0].finalists.front().candidate, 2);
    EXPECT_EQ(results[1].finalists.front().candidate, 0);
    EXPECT_EQ(results[2].finalists.front().candidate, 3);
}

// What loses in one workload of the mix may win where that workload does not count.
TEST(Objectives, forbid_a_loss_only_where_it_counts) {
    Tracks tracks({{0.5, 3, 3}, {1.1, 1.1, 1.1}}, {kMean, kCold, kHot});
    const auto results = tracks.race.run_offs(first(2), 9, {{}, {}, {}});
    EXPECT_EQ(results[0].finalists.front().candidate, 1);
    EXPECT_EQ(results[1].finalists.front().candidate, 0);
    EXPECT_EQ(results[2].finalists.front().candidate, 1);
}

// As races of their own would: together they only cost less.
TEST(Objectives, choose_as_alone_on_a_noisy_machine) {
    int missed = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        noise::Random random(seed);
        NoisyMachine machine(Tracks::ratios(kSpecialists), 0.01, seed);
        Race race(kSize, {kMean, kHot, kCold, kConsume}, random, machine);
        race.sample(first(12), 3);
        const auto results = race.run_offs(race.best(first(12), 8), 15, {{}, {}, {}, {}});
        missed += results[1].finalists.front().candidate != 0;
        missed += results[2].finalists.front().candidate != 4;
        missed += results[3].finalists.front().candidate != 8;
    }
    EXPECT_LE(missed, 8);
}

namespace {

/// Entrant 0 lags 4 % behind entrant 1 in two rounds of three under each workload, and is far ahead
/// in the third, which is another one for each: by the medians it is behind, by the rounds' means
/// ahead.
class Alternating : public TimingsInSeconds {
  public:
    double seconds(std::size_t, Workload workload, Entrant entrant, std::uint64_t round) override {
        if (entrant < 0) return 1e-6;
        const bool ahead = round % 3 == (workload == Workload::hot ? 1u : 2u);
        const double lag = entrant == 1 ? 0 : ahead ? -0.2 : 0.04;
        return 1e-6 / 1.1 * std::exp(lag);
    }
};

} // namespace

// What is reported is the mean of the medians.
TEST(Race, ties_nothing_whose_reported_ratio_is_behind_by_more_than_a_tie_may_cost) {
    noise::Random random(1);
    Alternating timings;
    Race race(kSize, weights(1, 1), random, timings);
    const SizeResult result = race.run_off({0, 1}, 9, kLibc);
    EXPECT_EQ(result.finalists.front().candidate, 1);
    EXPECT_NEAR(result.finalists.front().ratio / result.finalists.back().ratio, std::exp(0.04),
                1e-9);
}

// --- Lost in noise -------------------------------------------------------------------------------

namespace {

constexpr Entrant kPlain = 0;

/// Quiet but under `loud`, where every timing is off by a factor of its own, 4 or more as often as
/// not: a machine that is busy with something else.
class LoudMachine : public KnownMachine {
  public:
    LoudMachine(const std::vector<Truth>& truths, std::set<Workload> loud, std::uint64_t seed)
        : KnownMachine(ratios(truths)), loud_(std::move(loud)), random_(seed) {}

    double seconds(std::size_t size, Workload workload, Entrant entrant,
                   std::uint64_t round) override {
        const double jitter = loud_.count(workload) ? 2 : 0.005;
        return KnownMachine::seconds(size, workload, entrant, round) *
               std::exp(jitter * noise::normal(random_));
    }

  private:
    std::set<Workload> loud_;
    noise::Random random_;
};

const std::set<Workload> kAllLoud = {Workload::hot, Workload::cold};

SizeResult run_off_of(LoudMachine& machine, int count, Entrant plain,
                      const Weights& weights = ::weights(1, 1)) {
    noise::Random random(1);
    return Race(kSize, weights, random, machine).run_off(first(count), 15, kLibc, plain);
}

} // namespace

TEST(Undecided, gives_what_noise_hides_to_the_plain_copy) {
    int plain = 0, others = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const std::vector<Truth> truths = {{0.9, 0.9}, {1, 1}, {1.1, 1.2}, {1.2, 1.1}};
        LoudMachine machine(truths, kAllLoud, seed);
        const SizeResult result = run_off_of(machine, 4, kPlain);
        plain += result.finalists.front().candidate == kPlain;
        EXPECT_EQ(result.finalists.size(), 4u);
        if (result.undecided) {
            EXPECT_EQ(result.finalists.front().candidate, kPlain);
        }
        LoudMachine again(truths, kAllLoud, seed);
        others += run_off_of(again, 4, kLibc).finalists.front().candidate != kPlain;
    }
    EXPECT_GE(plain, 40);  // of the best of three, one in twenty seems to be beyond doubt
    EXPECT_GE(others, 25); // luck would have chosen them
}

TEST(Undecided, keeps_a_winner_that_no_noise_can_hide) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        LoudMachine machine({{1, 1}, {1e4, 1e4}}, kAllLoud, seed);
        const SizeResult result = run_off_of(machine, 2, kPlain);
        EXPECT_EQ(result.finalists.front().candidate, 1) << seed;
        EXPECT_FALSE(result.undecided);
    }
}

TEST(Undecided, is_nothing_on_a_quiet_machine) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        LoudMachine machine({{0.9, 0.9}, {1, 1}, {1.04, 1.04}}, {}, seed);
        const SizeResult result = run_off_of(machine, 3, kPlain);
        EXPECT_EQ(result.finalists.front().candidate, 2) << seed;
        EXPECT_FALSE(result.undecided);
    }
}

TEST(Undecided, is_nothing_on_a_shared_machine_where_the_lead_is_real) {
    int kept = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        NoisyMachine machine(ratios({{1, 1}, {1.3, 1.3}}), 0.01, seed);
        noise::Random random(seed);
        Race race(kSize, weights(1, 1), random, machine);
        const SizeResult result = race.run_off(first(2), 15, kLibc, kPlain);
        kept += result.finalists.front().candidate == 1 && !result.undecided;
    }
    EXPECT_GE(kept, 49);
}

TEST(Undecided, is_said_of_the_plain_copy_even_if_it_would_have_won) {
    LoudMachine machine({{1.2, 1.2}, {1, 1}}, kAllLoud, 3);
    const SizeResult result = run_off_of(machine, 2, kPlain);
    EXPECT_EQ(result.finalists.front().candidate, kPlain);
    EXPECT_TRUE(result.undecided);
}

TEST(Undecided, needs_a_plain_copy_among_the_finalists) {
    for (const Entrant plain : {kLibc, 7}) {
        LoudMachine machine({{0.9, 0.9}, {1, 1}}, kAllLoud, 1);
        EXPECT_FALSE(run_off_of(machine, 2, plain).undecided);
    }
}

TEST(Undecided, minds_the_noise_of_what_counts_alone) {
    LoudMachine machine({{0.9, 0.9}, {1, 1}}, {Workload::cold}, 1);
    EXPECT_FALSE(run_off_of(machine, 2, kPlain, weights(1, 0)).undecided);
    LoudMachine again({{0.9, 0.9}, {1, 1}}, {Workload::cold}, 1);
    EXPECT_TRUE(run_off_of(again, 2, kPlain, weights(0, 1)).undecided);
}

TEST(Undecided, is_decided_for_each_objective_alone) {
    LoudMachine machine({{0.9, 0.9}, {1, 1}}, {Workload::cold}, 1);
    noise::Random random(1);
    Race race(kSize, {weights(1, 0), weights(0, 1)}, random, machine);
    const auto results = race.run_offs(first(2), 15, {{kLibc}, {kLibc}}, kPlain);
    EXPECT_FALSE(results[0].undecided);
    EXPECT_EQ(results[0].finalists.front().candidate, 1);
    EXPECT_TRUE(results[1].undecided);
    EXPECT_EQ(results[1].finalists.front().candidate, kPlain);
}
