// The account of disturbed rounds: some are timed again, others kept, and too many make a winner
// provisional.
#include "timing/disturbed_rounds.hpp"

#include "support/unit_test.hpp"

namespace {

using Hits = std::vector<Disturbance>;
const Hits kQuiet, kPreempted = {Disturbance::preempted};

std::size_t counted_of(const DisturbedRounds& noise) {
    return noise.facts().rounds - noise.facts().repeated;
}

/// Ends a disturbed round until it need not be timed again. Returns how often it was timed.
int time_round(DisturbedRounds& noise) {
    int times = 1;
    while (noise.round_ended(kPreempted)) ++times;
    return times;
}

/// A run of which one round of `period` is disturbed, and is so once: when repeated it is quiet.
DisturbedRounds run(std::size_t rounds, std::size_t period) {
    DisturbedRounds noise;
    for (std::size_t round = 0; round < rounds; ++round) {
        const bool hit = round % period == period - 1;
        if (noise.round_ended(hit ? kPreempted : kQuiet)) noise.round_ended(kQuiet);
    }
    return noise;
}

} // namespace

TEST(DisturbedRounds, repeats_a_round_three_times_and_as_many_as_were_earned_and_keeps_it_then) {
    DisturbedRounds rich, poor; // eight for nothing, and then one for four
    for (int i = 0; i < 1000; ++i) rich.round_ended(kQuiet);
    for (std::size_t round = 1; round <= 10; ++round) {
        EXPECT_EQ(time_round(rich), 4);
        EXPECT_EQ(rich.facts().repeated, 3 * round);
        EXPECT_EQ(rich.facts().kept, round);
    }
    for (const int times : {4, 4, 3, 1, 2, 1, 1, 1, 2, 1, 1, 1, 2})
        EXPECT_EQ(time_round(poor), times);
}

TEST(DisturbedRounds, repeats_a_quarter_and_a_few_where_more_are_disturbed) {
    for (const std::size_t period : {1, 2, 3, 4}) {
        const DisturbedRounds noise = run(12'000, period);
        EXPECT_EQ(counted_of(noise), 12'000u);
        EXPECT_LE(noise.facts().repeated, 3'000u + 8);
        EXPECT_GE(noise.facts().repeated, 3'000u);
        EXPECT_EQ(noise.facts().repeated + noise.facts().kept, 12'000u / period);
    }
}

TEST(DisturbedRounds, spends_no_more_than_a_quarter_of_the_time_on_long_rounds) {
    DisturbedRounds noise;
    double counted = 0, repeated = 0;
    const auto rounds = [&](int count, double seconds, const Hits& hits) {
        for (int i = 0; i < count; ++i) {
            while (noise.round_ended(hits, seconds)) repeated += seconds;
            counted += seconds;
        }
    };
    rounds(10'000, 0.001, kQuiet); // which would pay for 2,500 rounds of any length
    rounds(1'000, 0.1, kPreempted);
    EXPECT_LE(repeated, 0.5 + counted / 4);
    EXPECT_GE(repeated, counted / 4 - 0.1);
}

TEST(DisturbedRounds, counts_each_kind_in_repeated_and_kept_rounds) {
    DisturbedRounds noise;
    while (noise.facts().kept < 1) noise.round_ended({Disturbance::steal, Disturbance::stalled});
    const std::size_t rounds = noise.facts().rounds;
    noise.round_ended({Disturbance::stalled});
    noise.round_ended(kQuiet);
    EXPECT_GT(noise.facts().repeated, 1u);
    EXPECT_EQ(noise.facts().disturbed,
              (std::map<std::string, std::size_t>{{"steal", rounds}, {"stalled", rounds + 1}}));
}

// A step that was done early is one of many when its run is resumed.
TEST(DisturbedRounds, decides_in_a_step_alike_whatever_came_before_it) {
    const auto decisions = [](DisturbedRounds noise) {
        noise.enter_step();
        std::vector<bool> again;
        for (int i = 0; i < 100; ++i)
            again.push_back(noise.round_ended(i % 4 == 3 ? kQuiet : kPreempted));
        return again;
    };
    DisturbedRounds spent, in_a_round;
    for (int i = 0; i < 1000; ++i) spent.round_ended(kPreempted);
    in_a_round.round_ended(kPreempted); // the time was up before it was timed again
    EXPECT_EQ(decisions(spent), decisions(DisturbedRounds()));
    EXPECT_EQ(decisions(run(1000, 1000)), decisions(DisturbedRounds()));
    EXPECT_EQ(decisions(in_a_round), decisions(DisturbedRounds()));
}

TEST(DisturbedRounds, makes_winners_provisional_above_5_percent_of_the_rounds_that_count) {
    for (const std::size_t kept : {50, 51}) {
        DisturbedRounds noise;
        while (noise.facts().kept < kept) noise.round_ended(kPreempted);
        while (counted_of(noise) < 1000) noise.round_ended(kQuiet);
        EXPECT_EQ(noise.facts().provisional, kept == 51);
        EXPECT_EQ(noise.facts().reason.empty(), kept == 50);
    }
    // However many were repeated: their samples do not count.
    EXPECT_FALSE(run(10'000, 5).facts().provisional);
}
