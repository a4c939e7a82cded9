// The worth of a standing profile to a second run: made-up figures, whose truth is known.
#include "search/favour.hpp"

#include "support/random_figures.hpp"
#include "support/unit_test.hpp"

namespace {

const std::vector<std::size_t> kSizes = {128, 1024, 8192, 65536, 524288, 4194304};
const std::vector<std::string> kNames = {"plain", "wide", "sought", "far"};

/// By size what copies there.
std::vector<RowCopy> choose(std::vector<SizeScores> scores, const Standing& standing) {
    RowRules rules{.pipeline_prices = std::vector(kNames.size(), 0.04)};
    favour(standing_copies(standing, kSizes, kNames), std::vector(kSizes.size(), kDoubt), scores,
           {}, rules);
    std::vector<RowCopy> copies;
    for (const Row& row : choose_rows(scores, rules)) {
        copies.insert(copies.end(), row.last - row.first + 1, row.copy);
    }
    return copies;
}

/// At all sizes the pipelines are worth so much, and `noise` is what a run adds.
std::vector<SizeScores> scores(const std::vector<double>& worth, double noise, std::uint64_t seed) {
    noise::Random random(seed);
    std::vector<SizeScores> all(kSizes.size());
    for (SizeScores& one : all) {
        for (const double true_worth : worth) {
            one.plain.push_back(true_worth + noise * (2 * noise::uniform(random) - 1));
        }
    }
    return all;
}

} // namespace

TEST(Standing, takes_a_size_by_its_row_the_last_one_all_above_and_nothing_by_unknown_names) {
    const Standing standing{{{1024, {"wide"}},
                             {8192, {"plain", "plain", "far", "wide"}},
                             {65536, {"gone"}},
                             {524288, {"far"}}},
                            ""};
    const RowCopy wide = RowCopy::plain(1), far = RowCopy::plain(3), senses{{0, 0, 3, 1}, true};
    EXPECT_EQ(standing_copies(standing, kSizes, kNames),
              (std::vector<std::optional<RowCopy>>{wide, wide, senses, {}, far, far}));
    EXPECT_FALSE(standing_copies({}, kSizes, kNames).front());
}

// Without what stands, runs differ: three pipelines are as good, and noise says which is the best.
TEST(Standing, makes_a_second_run_choose_as_the_first_did_where_only_noise_differs) {
    std::size_t changed = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto run = [&](std::uint64_t which) {
            return scores({0.1, 0.1, 0.1, 0}, 0.01, 2 * seed + which);
        };
        const std::vector<RowCopy> first = choose(run(0), {});
        changed += choose(run(1), {}) != first;
        Standing standing;
        for (std::size_t i = 0; i < first.size(); ++i) {
            standing.rows.push_back({kSizes[i], {kNames[first[i].pipelines[0]]}});
        }
        EXPECT_EQ(choose(run(1), standing), first) << seed;
    }
    EXPECT_GT(changed, 10u);
}

TEST(Standing, goes_where_it_is_clearly_beaten) {
    const Standing standing{{{kSizes.back(), {"plain"}}}, ""};
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        EXPECT_EQ(choose(scores({0, 0.1, 0, 0}, 0.01, seed), standing),
                  std::vector(kSizes.size(), RowCopy::plain(1)))
            << seed;
    }
    // at one size alone
    std::vector<SizeScores> one = scores({0, 0, 0, 0}, 0, 1);
    one[3].plain[2] = 0.2;
    std::vector wanted(kSizes.size(), RowCopy::plain(0));
    wanted[3] = RowCopy::plain(2);
    EXPECT_EQ(choose(one, standing), wanted);
}

TEST(Standing, is_favoured_as_a_copy_that_senses_by_what_that_was_timed_at) {
    const RowCopy senses{{0, 0, 1, 1}, true};
    TimedRowCopy timed{senses, std::vector<double>(kSizes.size(), 0.1)};
    std::vector<std::optional<RowCopy>> standing(kSizes.size());
    standing[2] = senses;
    std::vector<SizeScores> all = scores({0, 0, 0, 0}, 0, 1);
    RowRules rules{.pipeline_prices = std::vector(kNames.size(), 0.04)};
    favour(standing, std::vector(kSizes.size(), 0.05), all, {&timed}, rules);
    for (std::size_t size = 0; size < kSizes.size(); ++size) {
        EXPECT_NEAR(timed.scores[size], size == 2 ? 0.15 : 0.1, 1e-12);
        EXPECT_EQ(all[size].plain, std::vector<double>(4, 0.0));
    }
    EXPECT_EQ(rules.pipeline_prices, (std::vector<double>{0, 0, 0.04, 0.04}));
}

TEST(Doubt, is_twice_what_libc_differs_from_itself_but_no_less_than_between_quiet_runs) {
    SizeResult race{1024, {}, {}, 5};
    const Weights weights = {{Workload::hot, 1}, {Workload::cold, 1}, {Workload::consume, 0}};
    EXPECT_EQ(doubt_of(race, weights), kDoubt);
    race.noise_floor = {{Workload::hot, {1.005, 0.9, 1.1}}, {Workload::consume, {2, 2, 2}}};
    EXPECT_EQ(doubt_of(race, weights), kDoubt);
    race.noise_floor[Workload::cold] = {1 / 1.1, 0.8, 1};
    EXPECT_NEAR(doubt_of(race, weights), std::log(1.1) + std::log(1.005), 1e-12);
}
