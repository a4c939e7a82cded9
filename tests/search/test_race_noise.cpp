// Races on noisy machines: drift, lucky samples and loud neighbours must not change the winner.
#include "search/race.hpp"

#include "search/race_track.hpp"

using namespace asterope::races;

namespace {

/// A quiet machine's, and more.
template <class More> Trouble jitter_and(std::uint64_t seed, More more) {
    return [more, random = noise::Random(seed)](Workload workload, Entrant entrant,
                                                std::uint64_t) mutable {
        const double own = std::exp(0.002 * noise::normal(random));
        return own * more(entrant, workload, random);
    };
}

/// Its frequency falls by a tenth from the first sample to the `samples`-th, as when it warms up.
Trouble falling(double samples, std::uint64_t seed) {
    return jitter_and(seed, [samples, sample = 0.0](auto...) mutable {
        return 1 / (1 - 0.1 * ++sample / samples);
    });
}

constexpr Entrant kBest = 5, kLucky = 3;

/// One in a hundred samples of kLucky takes half as long, as when a counter is read too late.
Trouble lucky(std::uint64_t seed) {
    return jitter_and(seed, [](Entrant entrant, Workload, noise::Random& random) {
        return entrant == kLucky && noise::uniform(random) < 0.01 ? 0.5 : 1;
    });
}

/// Eight of which one leads by `lead`; 1.13 is so much that no rule about ties may take its win.
Truths one_leads(double lead = 1.13) {
    Truths truths(8, {1.1, 1.1});
    truths[kBest.index()] = {lead, lead};
    return truths;
}

// Each heat is compared with the libc of its own: between the first and the last lie 10 %.
TEST(Drift, changes_no_rank_no_ratio_and_no_interval) {
    Truths truths;
    for (int i = 0; i < 96; ++i) truths.push_back({1 + 0.01 * (i * 7 % 96)});
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Track field(truths, {kHotAlone}, seed, falling(3 * 4 * 27, seed));
        field.race.sample(field.all, 3);
        const Entrants ranked = field.ranked();
        for (std::size_t i = 0; i < ranked.size(); ++i) {
            const double expected = 1 + 0.01 * static_cast<double>(95 - i);
            EXPECT_NEAR(field.machine.ratio(ranked[i]), expected, 0.0101) << i;
        }

        Track track(one_leads(), {kBothAlike}, seed, falling(15 * 2 * 10, seed));
        const SizeResult result = track.run_off(15, 0);
        EXPECT_EQ(result.winner(), kBest);
        for (const Finalist& finalist : result.finalists) {
            EXPECT_NEAR(finalist.ratio / track.machine.ratio(finalist.candidate), 1, 0.005);
            for (const auto& [workload, measured] : finalist.workloads) {
                EXPECT_LT(measured.ratio.high / measured.ratio.low, 1.015);
            }
        }
    }
}

TEST(LuckyShots, help_nothing_into_the_run_off_win_none_and_tie_with_no_winner) {
    Truths two_lead = one_leads();
    two_lead[2] = {1.12, 1.12};
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Track screened(two_lead, {weights(1, 0)}, seed, lucky(seed));
        screened.race.sample(all_entrants(8), 7);
        EXPECT_EQ(screened.race.best(all_entrants(8), 2), (Entrants{kBest, 2})) << seed;

        Track track(one_leads(), {weights(1, 0)}, seed, lucky(seed));
        const SizeResult result = track.run_off(15, kLucky);
        EXPECT_EQ(result.winner(), kBest) << seed;
        for (const Finalist& finalist : result.finalists) {
            EXPECT_EQ(finalist.tied, finalist.candidate == kBest) << seed;
            EXPECT_NEAR(finalist.ratio, track.machine.ratio(finalist.candidate), 0.01) << seed;
        }
    }
}

// In all kinds of noise: how often the best of eight that are alike leads, and a real lead is lost.
TEST(RunOff, tells_identical_work_from_a_real_difference) {
    int won_by_luck = 0, missed = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Track alike(one_leads(1.1), {kBothAlike}, seed, noise_of_others(0.01, seed));
        won_by_luck += alike.run_off(15, 0).winner() != 0;
        Track one(one_leads(1.16), {kBothAlike}, seed, noise_of_others(0.01, seed));
        missed += one.run_off(15, 0).winner() != kBest;
    }
    EXPECT_LE(won_by_luck, 10);
    EXPECT_LE(missed, 5);
}

constexpr Entrant kPlainEntrant = 0;

/// Under `workloads` every timing is off by a factor of its own, 4 or more as often as not: a
/// machine that is busy with something else.
Trouble loud(std::uint64_t seed,
             const std::set<Workload>& workloads = {Workload::hot, Workload::cold}) {
    return jitter_and(seed, [workloads](Entrant, Workload workload, noise::Random& random) {
        return workloads.count(workload) ? std::exp(2 * noise::normal(random)) : 1;
    });
}

TEST(Undecided, gives_what_noise_hides_to_the_plain_copy) {
    int plain = 0, others = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const Truths truths = {{0.9, 0.9}, {1, 1}, {1.1, 1.2}, {1.2, 1.1}};
        Track track(truths, {kBothAlike}, 1, loud(seed));
        const SizeResult result = track.run_off(15, kLibc, kPlainEntrant);
        plain += result.winner() == kPlainEntrant;
        EXPECT_EQ(result.finalists.size(), 4u);
        EXPECT_TRUE(!result.undecided || result.winner() == kPlainEntrant);
        Track again(truths, {kBothAlike}, 1, loud(seed));
        others += again.run_off(15).winner() != kPlainEntrant;
    }
    EXPECT_GE(plain, 40);  // of the best of three, one in twenty seems to be beyond doubt
    EXPECT_GE(others, 25); // luck would have chosen them
}

TEST(Undecided, is_nothing_where_the_lead_is_beyond_the_noise) {
    int kept = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto keeps_its_win = [](auto&& track) {
            const SizeResult result = track.run_off(15, kLibc, kPlainEntrant);
            return result.winner() == 1 && !result.undecided;
        };
        EXPECT_TRUE(keeps_its_win(Track({{1, 1}, {1e4, 1e4}}, {kBothAlike}, 1, loud(seed))));
        EXPECT_TRUE(
            keeps_its_win(Track({{1, 1}, {1.04, 1.04}}, {kBothAlike}, 1, jitter(0.002, seed))));
        kept += keeps_its_win(
            Track({{1, 1}, {1.3, 1.3}}, {kBothAlike}, seed, noise_of_others(0.01, seed)));
    }
    EXPECT_GE(kept, 49);
}

// Even if it would have won.
TEST(Undecided, is_said_of_a_plain_copy_among_the_finalists_for_each_objective_by_its_own_noise) {
    for (const Entrant plain : {kPlainEntrant, kLibc, Entrant{7}}) {
        Track track({{1.2, 1.2}, {1, 1}}, {kBothAlike}, 1, loud(3));
        const SizeResult result = track.run_off(15, kLibc, plain);
        EXPECT_EQ(result.undecided, plain == kPlainEntrant);
        EXPECT_TRUE(!result.undecided || result.winner() == kPlainEntrant);
    }
    Track track({{0.9, 0.9}, {1, 1}}, {weights(1, 0), weights(0, 1)}, 1, loud(1, {Workload::cold}));
    const auto results =
        track.race.run_offs(all_entrants(2), 15, {{kLibc}, {kLibc}}, kPlainEntrant);
    EXPECT_FALSE(results[0].undecided);
    EXPECT_TRUE(results[1].undecided);
    EXPECT_EQ(winners(results), (Entrants{1, kPlainEntrant}));
}

} // namespace
