// What a log tells of its candidates is what was timed, each round against libc in that round.
#include "merge/source_results.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace asterope {
namespace {

bool is_libc(const std::string& name) {
    return name == "libc";
}

Record trial(std::uint64_t round, const std::string& candidate, double ns,
             Workload workload = Workload::hot) {
    return std::pair(TrialKey{4096, workload, candidate, round}, Trial{ns, 10, true});
}

Record hit() {
    return std::vector<Disturbance>{Disturbance::steal};
}

TEST(RoundsOf, puts_together_what_was_timed_together) {
    const auto rounds = rounds_of({trial(1, "libc", 10), trial(1, "a", 5), trial(2, "a", 6),
                                   trial(2, "a", 7, Workload::cold)});
    ASSERT_EQ(rounds.size(), 3u);
    EXPECT_EQ(rounds[0].trials.size(), 2u);
    EXPECT_EQ(rounds[0].trials[1], (std::pair<std::string, double>("a", 5)));
    EXPECT_EQ(rounds[2].workload, Workload::cold);
}

TEST(RoundsOf, forgets_a_disturbed_round_that_was_timed_again) {
    const auto rounds = rounds_of({trial(1, "libc", 99), trial(1, "a", 99), hit(),
                                   trial(1, "libc", 10), trial(1, "a", 5), trial(2, "a", 6)});
    ASSERT_EQ(rounds.size(), 2u);
    ASSERT_EQ(rounds[0].trials.size(), 2u);
    EXPECT_EQ(rounds[0].trials[0].second, 10);
}

TEST(RoundsOf, keeps_a_disturbed_round_that_was_not) {
    const auto rounds = rounds_of({trial(1, "libc", 99), hit(), trial(2, "libc", 10)});
    ASSERT_EQ(rounds.size(), 2u);
    EXPECT_EQ(rounds[0].trials.size(), 1u);
}

TEST(StandingsOf, compares_with_libc_of_the_same_round) {
    std::vector<LoggedRound> rounds;
    for (int i = 0; i < 9; ++i) { // the machine becomes slower all the time
        const double slow = 1 + 0.1 * i;
        rounds.push_back({Workload::hot, {{"libc", 10 * slow}, {"a", 5 * slow}, {"b", 8 * slow}}});
    }
    const MeasuredGains gains = gains_of(rounds, is_libc);
    const MeasuredGain& a = gains.at(Workload::hot).at("a");
    EXPECT_NEAR(a.log_ratio, std::log(2), 1e-6);
    EXPECT_NEAR(gains.at(Workload::hot).at("b").log_ratio, std::log(1.25), 1e-6);
    EXPECT_EQ(a.rounds, 9u);
    EXPECT_NEAR(a.ns, 7, 1e-9);
    EXPECT_NEAR(a.reference_ns, 14, 1e-9);
    EXPECT_EQ(gains.at(Workload::hot).count("libc"), 0u);
}

TEST(StandingsOf, is_the_less_certain_the_less_often_somebody_was_timed) {
    std::vector<LoggedRound> rounds;
    for (int i = 0; i < 16; ++i) {
        rounds.push_back({Workload::hot, {{"libc", 10}, {"often", 5 + 0.2 * (i % 5)}}});
        if (i == 0) rounds.back().trials.emplace_back("once", 5.0);
    }
    const auto gains = gains_of(rounds, is_libc).at(Workload::hot);
    EXPECT_NEAR(gains.at("once").error / gains.at("often").error, 4, 1e-6);
}

TEST(StandingsOf, leaves_out_a_round_without_libc) {
    EXPECT_TRUE(gains_of({{Workload::hot, {{"a", 5}}}}, is_libc).empty());
}

} // namespace
} // namespace asterope
