// The rule by which a winner has lost its place, on made-up timings: it seldom errs either way.
#include "check/rule.hpp"

#include "support/known_machine.hpp"
#include "support/unit_test.hpp"

namespace {

const Weights kWeights = {{Workload::hot, 0.5}, {Workload::cold, 0.5}};
constexpr int kRuns = 400;

/// libc's time over the winner's and over the runner-up's, under both workloads alike.
KnownMachine::Ratios ratios(double winner, double rival) {
    return {{Workload::hot, {winner, rival}}, {Workload::cold, {winner, rival}}};
}

/// How many of kRuns checks with that noise find the winner fallen, in which way.
std::map<Verdict, int> verdicts(decltype(&jitter) noise, double winner, double rival,
                                double deviation, const TunedResult& tuned = {}) {
    std::map<Verdict, int> count;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
        KnownMachine machine(ratios(winner, rival), noise(deviation, seed));
        ++count[check_winner(4096, kWeights, true, tuned, machine).verdict];
    }
    return count;
}

const Estimate kQuiet{1, 0.999, 1.001};

} // namespace

TEST(Behind, IsTheWholeIntervalBelowTheBandThatTheNoiseWidensAndTheStartMoves) {
    const struct {
        Estimate now;
        double tuned;
        Estimate floor;
        bool behind;
    } cases[] = {
        {{1.2, 1.1, 1.3}, 1.2, kQuiet, false},
        {{0.9, 0.8, 0.98}, 1.2, kQuiet, false},
        {{0.9, 0.8, 0.96}, 1.2, kQuiet, true},
        {{0.975, 0.97, 0.98}, 1.2, kQuiet, false}, // less than the band
        {{0.95, 0.94, 0.96}, 1, {1, 0.9, 1.1}, true},
        {{0.95, 0.94, 0.96}, 1, {1.02, 1.01, 1.03}, false},
        {{0.95, 0.94, 0.96}, 1, {0.98, 0.97, 0.99}, false}, // either way round
        {{0.9, 0.89, 0.91}, 0.9, kQuiet, false},            // it was so from the start
        {{0.8, 0.79, 0.81}, 0.9, kQuiet, true},
        {{1.0, 0.99, 1.01}, 1.6, kQuiet, false}, // a smaller lead is not a loss
    };
    for (const auto& [now, tuned, floor, behind] : cases)
        EXPECT_EQ(is_behind(now, tuned, floor), behind) << now.median << ' ' << tuned;
}

TEST(CheckWinner, ShowsWhatIsTrueAndComparesAWinnerWithoutRunnerUpWithLibcAlone) {
    KnownMachine alone(ratios(1.5, 0));
    const PresentResult with_libc = check_winner(4096, kWeights, false, {}, alone);
    EXPECT_NEAR(with_libc.ratio.median, 1.5, 1e-9);
    EXPECT_DOUBLE_EQ(with_libc.floor.median, 1);
    EXPECT_FALSE(with_libc.lead);
    EXPECT_EQ(alone.calls.size(), 3u * 2 * kHoldRounds);
    KnownMachine machine({{Workload::hot, {2, 1}}, {Workload::cold, {0.5, 1}}});
    const Weights weights = {{Workload::hot, 0.75}, {Workload::cold, 0.25}};
    const PresentResult now = check_winner(4096, weights, true, {}, machine);
    EXPECT_NEAR(now.ratio.median, std::sqrt(2.0), 1e-9);
    EXPECT_NEAR(now.lead->median, std::sqrt(2.0), 1e-9);
}

TEST(CheckWinner, AQuietWinnerIsTimedOnceAFallenOneTwice) {
    KnownMachine good(ratios(1.2, 1.19)), bad(ratios(0.8, 0.8));
    EXPECT_EQ(check_winner(1, kWeights, true, {}, good).verdict, Verdict::holds);
    EXPECT_EQ(check_winner(1, kWeights, true, {}, bad).verdict, Verdict::behind_libc);
    EXPECT_EQ(bad.calls.size(), 2 * good.calls.size());
    EXPECT_EQ(std::get<3>(bad.calls.back()), 2u * kHoldRounds - 1) << "fresh rounds";
}

TEST(CheckWinner, AFallThatDoesNotRepeatIsNone) {
    // slow for the winner at first, and never again
    KnownMachine machine(ratios(1.2, 1.2), [](Workload, Entrant entrant, std::uint64_t round) {
        return entrant == kHolder && round < kHoldRounds ? 2 : 1;
    });
    const PresentResult now = check_winner(1, kWeights, true, {}, machine);
    EXPECT_EQ(now.verdict, Verdict::holds);
    EXPECT_NEAR(now.ratio.median, 1.2, 1e-9) << "of the last time";
}

// The first mistake: finding a change where nothing changed.
TEST(CheckWinner, IdenticalCopiesATieLostByTwoPercentAndWhatWasSlowerFromTheStartHold) {
    EXPECT_EQ(verdicts(jitter, 1, 1, 0.01)[Verdict::holds], kRuns);
    EXPECT_GE(verdicts(noise_of_others, 1, 1, 0.05)[Verdict::holds], kRuns - 1);
    EXPECT_EQ(verdicts(jitter, 1.30, 1.326, 0.01)[Verdict::holds], kRuns);
    const TunedResult tuned{0.9, 0.95};
    EXPECT_EQ(verdicts(jitter, 0.9, 0.947, 0.01, tuned)[Verdict::holds], kRuns);
}

// The other: a real change missed.
TEST(CheckWinner, AWinnerTenPercentBehindLibcItsRunnerUpOrWhatItWasHasFallen) {
    EXPECT_EQ(verdicts(jitter, 0.9, 0.9, 0.02)[Verdict::behind_libc], kRuns);
    EXPECT_GE(verdicts(noise_of_others, 0.85, 0.85, 0.02)[Verdict::behind_libc], kRuns * 95 / 100);
    EXPECT_EQ(verdicts(jitter, 1.2, 1.33, 0.02)[Verdict::behind_rival], kRuns);
    EXPECT_GE(verdicts(noise_of_others, 1.2, 1.4, 0.02)[Verdict::behind_rival], kRuns * 95 / 100);
    const TunedResult tuned{0.9, 0.95};
    EXPECT_EQ(verdicts(jitter, 0.8, 0.842, 0.01, tuned)[Verdict::behind_libc], kRuns);
}

TEST(Closing, TooLittleIsNoVerdict) {
    using Counts = std::map<Operation, Retimed::Count>;
    const auto copies = [](std::size_t fitting, std::size_t timed) {
        return Counts{{Operation::copy, {fitting, timed}}};
    };
    const auto both = [](std::size_t fitting, std::size_t timed, std::size_t sets) {
        return Counts{{Operation::copy, {fitting, timed}}, {Operation::set, {fitting, sets}}};
    };
    const std::string noise = "12 % of the rounds stayed disturbed";
    const struct {
        Retimed retimed; ///< fitting and timed of each operation, all, fallen, disturbed
        bool differs;
        bool stale;
        const char* says;
    } cases[] = {
        {{copies(25, 5), 25}, false, false, "The profile still holds"},
        {{copies(2, 2), 2}, false, false, "The profile still holds"},
        {{both(2, 2, 2), 25}, true, false, "The profile still holds"},
        {{both(13, 5, 5), 26}, false, false, "The profile still holds"},
        {{copies(25, 5), 25, "1 KiB"}, false, true, "The profile no longer holds: 1 KiB"},
        {{both(22, 2, 1), 45, "memset 128 B"}, false, false, "Cannot tell yet: the time"},
        {{both(13, 9, 4), 26}, false, false, "(13 of 26 timed)"},
        {{copies(45, 3), 45}, true, true, "timing cannot absolve it"},
        {{copies(25, 25), 25, "1 KiB", noise}, false, false, "Cannot tell yet: 12 % of"},
        {{copies(25, 25), 25, "", noise}, true, true, "12 % of the rounds stayed disturbed"},
        {{copies(45, 3), 45, "", noise}, false, false, "disturbed, and the time was up"},
    };
    for (const auto& one : cases) {
        const Closing closing = closing_of(one.retimed, one.differs);
        EXPECT_EQ(closing.stale, one.stale) << closing.line;
        EXPECT_TRUE(mentions(closing.line, one.says));
    }
}
