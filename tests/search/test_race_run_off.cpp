// A race's run-off on made-up machines: the winner, the ties, and the facts about the winner.
#include "search/race.hpp"

#include "search/race_track.hpp"

using namespace asterope::races;

TEST(RunOff, reports_size_rounds_times_and_order) {
    Track track({{1.2, 1}, {1.5, 0.98}, {0.9, 1.2}, {1.3, 1}}, {kBothAlike});
    const SizeResult result = track.run_off(7);
    EXPECT_EQ(result.size, kRaceSize);
    EXPECT_EQ(result.rounds, 7);
    EXPECT_NEAR(result.noise_floor.at(Workload::hot).median, 1, 1e-9);
    Entrants order;
    for (const Finalist& finalist : result.finalists) order.push_back(finalist.candidate);
    EXPECT_EQ(order, (Entrants{1, 3, 0, 2})); // 2 loses in the hot workload
    const Measured& cold = result.finalists.front().workloads.at(Workload::cold);
    EXPECT_NEAR(cold.ns, 1e9 * kLibcSeconds / 0.98, 1e-3);
    EXPECT_NEAR(cold.libc_ns, 1e9 * kLibcSeconds, 1e-3);
    EXPECT_NEAR(cold.ratio.low, 0.98, 1e-9);
    EXPECT_TRUE(result.finalists.front().tied);
}

TEST(RunOff, chooses_by_weights_losses_ties_and_favourites) {
    const struct {
        const char* rule;
        Truths truths;
        Weights weights;
        Entrants favourites;
        Entrant winner;
    } cases[] = {
        {"a loss counts several times", {{0.9, 1.3}, {1.01, 1.02}}, kBothAlike, {}, 1},
        {"a small one less", {{0.97, 1.3}, {1.01, 1.02}}, kBothAlike, {}, 0},
        {"a gain can be large enough", {{0.9, 3}, {1.01, 1.02}}, kBothAlike, {}, 0},
        {"all lose somewhere", {{0.96, 3}, {1.5, 0.96}}, kBothAlike, {}, 0},
        {"a loss where it does not count", {{1.2, 0.3}, {1.1, 1.1}}, weights(1, 0), {}, 0},
        {"a loss where it counts little", {{3, 0.9}, {1.01, 1.02}}, weights(99, 1), {}, 0},
        {"a favourite that loses somewhere", {{1.06, 1.0}, {0.96, 1.105}}, kBothAlike, {1}, 0},
        {"weights", {{1.6, 1}, {1, 1.3}}, kBothAlike, {}, 0},
        {"other weights", {{1.6, 1}, {1, 1.3}}, weights(1, 3), {}, 1},
        {"a tie goes to the lowest index", {{1.300, 1}, {1.305, 1}, {1.302, 1}}, kBothAlike, {}, 0},
        {"or to a favourite", {{1.300, 1}, {1.305, 1}, {1.302, 1}}, kBothAlike, {2, 1}, 2},
        {"the first of them", {{1.300, 1}, {1.305, 1}, {1.302, 1}}, kBothAlike, {1, 2}, 1},
        {"that ties", {{1.302, 1}, {1.305, 1}, {1.3, 1}, {1.2, 1}}, kBothAlike, {3, 2, 1}, 2},
        {"and runs", {{1.302, 1}, {1.305, 1}, {1.3, 1}}, kBothAlike, {9, kLibc, 1}, 1},
        {"no favourite ties", {{1.302, 1}, {1.305, 1}, {1.3, 1}, {1.2, 1}}, kBothAlike, {3}, 0},
        {"a real lead", {{1.30, 1}, {1.37, 1}, {1.31, 1}}, kBothAlike, {0}, 1},
        {"ties are by the weighted mean", {{1.2, 1.2}, {1.44, 1.0}}, kBothAlike, {1}, 1},
        {"and by that alone", {{1.2, 1.2}, {1.44, 1.0}}, kBothAlike, {0}, 0},
        {"of these weights", {{1.2, 1.2}, {1.44, 1.0}}, weights(2, 1), {0}, 1},
        {"not of those that are 0", {{1.2, 1}, {1.2, 9}}, weights(1, 0), {}, 0},
    };
    for (const auto& [rule, truths, weights, favourites, winner] : cases) {
        Track track(truths, {weights});
        const auto results = track.race.run_offs(track.all, 9, {favourites});
        EXPECT_EQ(results.front().winner(), winner) << rule;
    }
}

// A difference within libc's own spread does not count as a loss.
TEST(RunOff, forgives_a_loss_where_libc_is_as_far_from_itself) {
    const auto apart = [](Workload, Entrant entrant, std::uint64_t) {
        return entrant == kLibcAgain ? 1.12 : 1;
    };
    const Truths truths = {{0.9, 1.3}, {1.01, 1.02}};
    EXPECT_EQ(Track(truths, {kBothAlike}).run_off().winner(), 1);
    EXPECT_EQ(Track(truths, {kBothAlike}, 1, apart).run_off().winner(), 0);
}

// The report is the mean of the medians. Entrant 0 lags 4 % behind entrant 1 in two rounds of three
// under each workload. It is far ahead in the third, which is another one for each. By the medians
// it is behind, by the rounds' means ahead.
TEST(RunOff, ties_nothing_whose_score_is_behind_by_more_than_a_tie_may_cost) {
    const auto alternating = [](Workload workload, Entrant entrant, std::uint64_t round) {
        const bool ahead = round % 3 == (workload == Workload::hot ? 1u : 2u);
        return entrant == 0 ? std::exp(ahead ? -0.2 : 0.04) : 1;
    };
    Track track({{1.1, 1.1}, {1.1, 1.1}}, {kBothAlike}, 1, alternating);
    const SizeResult result = track.run_off();
    EXPECT_EQ(result.winner(), 1);
    EXPECT_NEAR(result.finalists.front().ratio / result.finalists.back().ratio, std::exp(0.04),
                1e-9);
    EXPECT_FALSE(result.finalists.back().tied);
    EXPECT_FALSE(track.race.won_by(1).finalists.back().tied);
}

// Winners that are chosen later have the ties of the run-off.
TEST(RunOff, ties_by_its_own_band_whoever_wins) {
    for (const auto& [ties, tied] : {std::pair(TieBand{}, true), {TieBand{0.002, 0.002}, false}}) {
        Track track({{1.300, 1}, {1.305, 1}}, {kHotAlone});
        const auto results = track.race.run_offs(track.all, 9, {{}}, kLibc, ties);
        EXPECT_EQ(results.front().winner(), tied ? 0 : 1);
        EXPECT_EQ(track.race.won_by(1).finalists.back().tied, tied);
    }
}

TEST(Proof, counts_how_often_the_winner_was_timed_where_it_counts) {
    for (const auto& [each, workloads] : {std::pair(kBothAlike, 2u), {weights(1, 0), 1u}}) {
        Track track({{1, 1}, {1.5, 1.5}, {1.2, 1}}, {each});
        track.race.sample(track.all, 4);
        track.race.sample({0, 1}, 3); // 2 was dropped
        const SizeResult result = track.run_off();
        ASSERT_EQ(result.winner(), 1);
        EXPECT_EQ(result.samples, workloads * (4 + 3 + 9));
    }
    // The winner of a neighbouring size takes part without having been screened at this one.
    Track joined({{1, 1}, {1.5, 1.5}}, {kBothAlike});
    joined.race.sample({0}, 4);
    EXPECT_EQ(joined.run_off().samples, 2u * 9);
    // The winner of a tie is not the leader, which was sampled more often.
    Track tied({{1.5, 1.5}, {1.505, 1.505}}, {kBothAlike});
    tied.race.sample(tied.all, 4);
    tied.race.sample({1}, 3);
    EXPECT_EQ(tied.run_off(9, 0).samples, 2u * (4 + 9));
}

TEST(Proof, has_the_lead_over_the_runner_up_by_the_weights) {
    const auto lead = [](const Truths& truths, const Weights& weights, Entrant favourite = kLibc) {
        const Estimate lead = Track(truths, {weights}).run_off(9, favourite).lead;
        EXPECT_NEAR(lead.low, lead.median, 1e-9); // nothing is random here
        EXPECT_NEAR(lead.high, lead.median, 1e-9);
        return lead.median;
    };
    const Truths truths = {{1, 1}, {1.5, 1.2}, {1.2, 1.1}};
    EXPECT_NEAR(lead(truths, kBothAlike), std::sqrt(1.5 / 1.2 * 1.2 / 1.1), 1e-9);
    EXPECT_NEAR(lead(truths, weights(1, 3)), std::pow(1.5 / 1.2, 0.25) * std::pow(1.2 / 1.1, 0.75),
                1e-9);
    EXPECT_NEAR(lead(truths, weights(1, 0)), 1.5 / 1.2, 1e-9);
    // The runner-up has the better mean, but loses much in one workload.
    EXPECT_NEAR(lead({{1.2, 1.2}, {0.8, 2}}, kBothAlike), std::sqrt(1.2 * 1.2 / 0.8 / 2), 1e-9);
    EXPECT_NEAR(lead({{1.300, 1}, {1.305, 1}}, weights(1, 0), 0), 1.300 / 1.305, 1e-9) << "a tie";
    EXPECT_EQ(lead({{1.5, 1.2}}, kBothAlike), 1) << "it ran alone";
}

/// 0 to 3 are good where data is cached, 4 to 7 where it is not, 8 to 11 where it is read; each
/// worse than the one before, none losing anywhere.
const Truths kSpecialists = {{1.9, 1.1, 1.1}, {1.8, 1.1, 1.1}, {1.7, 1.1, 1.1}, {1.6, 1.1, 1.1},
                             {1.1, 1.9, 1.0}, {1.1, 1.8, 1.0}, {1.1, 1.7, 1.0}, {1.1, 1.6, 1.0},
                             {1.0, 1.0, 1.9}, {1.0, 1.0, 1.8}, {1.0, 1.0, 1.7}, {1.0, 1.0, 1.6}};

TEST(Objectives, sample_once_what_counts_for_any_and_measure_the_rest_in_the_run_off) {
    const Weights hot = {{Workload::hot, 1}, {Workload::cold, 0}, {Workload::consume, 0}};
    Track track(kSpecialists, {hot, kColdAlone, kHotAlone});
    track.race.sample(track.all, 2);
    EXPECT_EQ(track.samples().size(), 24u);
    for (const auto& [what, count] : track.samples()) {
        EXPECT_NE(what.second, Workload::consume);
        EXPECT_EQ(count, 2);
    }
    const auto results = track.race.run_offs(track.all, 5, {{}, {}, {}});
    EXPECT_EQ(track.samples().size(), 36u);
    for (const auto& [what, count] : track.samples()) {
        EXPECT_EQ(count, what.second == Workload::consume ? 5 : 7);
    }
    // The second does not name consume at all; it still has consume's figures.
    for (const SizeResult& result : results) {
        EXPECT_EQ(result.noise_floor.size(), 3u);
        EXPECT_EQ(result.finalists.size(), 12u);
        EXPECT_EQ(result.rounds, 5);
        for (const Finalist& finalist : result.finalists) {
            const double truth = track.machine.ratio(finalist.candidate, Workload::consume);
            EXPECT_NEAR(finalist.workloads.at(Workload::consume).ratio.median, truth, 1e-9);
        }
    }
}

// Alone, the first would keep the same: its places are not for the others.
TEST(Objectives, leave_all_places_to_the_first_and_share_half_as_many_more) {
    Track track(kSpecialists, {kHotAlone, kColdAlone, kConsume}), alone(kSpecialists, {kMean}),
        other(kSpecialists, {kConsume, kColdAlone}),
        together(kSpecialists, {kMean, kHotAlone, kColdAlone, kConsume});
    for (Track<>* each : {&track, &other, &alone, &together}) each->race.sample(each->all, 3);
    EXPECT_EQ(track.race.best(track.all, 1), (Entrants{0, 4, 8})) << "a place each";
    EXPECT_EQ(track.race.best(track.all, 4), (Entrants{0, 1, 2, 3, 4, 8}));
    // two more places each, but 4 and 5 have theirs already
    EXPECT_EQ(track.race.best(track.all, 8), (Entrants{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(other.race.best(other.all, 4), (Entrants{8, 9, 10, 11, 4, 5}));
    for (const std::size_t keep : {1, 2, 3, 5, 8, 12}) {
        Entrants kept = together.race.best(together.all, keep);
        EXPECT_LE(kept.size(), keep + std::max<std::size_t>(3, keep / 2));
        EXPECT_EQ(std::set(kept.begin(), kept.end()).size(), kept.size()) << "one is kept twice";
        ASSERT_GE(kept.size(), keep);
        kept.resize(keep);
        EXPECT_EQ(kept, alone.race.best(alone.all, keep));
    }
}

TEST(Objectives, choose_each_for_itself) {
    Track track(kSpecialists, {kMean, kHotAlone, kColdAlone, kConsume});
    const auto results = track.race.run_offs(track.all, 7, {{}, {}, {}, {}});
    EXPECT_EQ(winners(results), (Entrants{0, 0, 4, 8}));
    EXPECT_NEAR(results[0].finalists.front().ratio, std::cbrt(1.9 * 1.1 * 1.1), 1e-9);
    EXPECT_NEAR(results[2].finalists.front().ratio, 1.9, 1e-9);
    EXPECT_NEAR(results[1].lead.median, 1.9 / 1.8, 1e-9);
    for (const std::size_t alone : {1, 2, 3}) EXPECT_EQ(results[alone].samples, 7u);

    Track tied(Truths(4, {1.2, 1.2, 1.2}), {kMean, kHotAlone, kColdAlone});
    EXPECT_EQ(winners(tied.race.run_offs(tied.all, 9, {{2}, {}, {3}})), (Entrants{2, 0, 3}));
    // A loser in one workload of the mix may win where that workload does not count.
    Track losing({{0.5, 3, 3}, {1.1, 1.1, 1.1}}, {kMean, kColdAlone, kHotAlone});
    EXPECT_EQ(winners(losing.race.run_offs(losing.all, 9, {{}, {}, {}})), (Entrants{1, 0, 1}));
}
