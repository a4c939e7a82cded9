// What a profile that stands is worth to a second run: made-up figures, whose truth is known.
#include "search/favour.hpp"

#include "support/random_figures.hpp"
#include "support/unit_test.hpp"

namespace {

const std::vector<std::size_t> kSizes = {128, 1024, 8192, 65536, 524288, 4194304};
const std::vector<std::string> kNames = {"plain", "wide", "sought", "far"};

/// By size what copies there.
std::vector<RowCopy> by_size(const std::vector<Row>& rows) {
    std::vector<RowCopy> copies;
    for (const Row& row : rows) copies.insert(copies.end(), row.last - row.first + 1, row.copy);
    return copies;
}

Standing standing_of_rows(const std::vector<Row>& rows) {
    Standing standing;
    for (const Row& row : rows) {
        standing.rows.push_back({kSizes[row.last], {kNames[row.copy.pipelines[0]]}});
    }
    return standing;
}

std::vector<Row> choose(std::vector<SizeScores> scores, const Standing& standing) {
    RowRules rules;
    favour(standing_copies(standing, kSizes, kNames), std::vector(kSizes.size(), kDoubt), scores,
           {}, rules);
    return choose_rows(scores, rules);
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
    const Standing standing{
        {{1024, {"wide"}}, {8192, {"plain", "far", "wide"}}, {65536, {"gone"}}, {524288, {"far"}}},
        ""};
    const auto copies = standing_copies(standing, kSizes, kNames);
    ASSERT_EQ(copies.size(), kSizes.size());
    EXPECT_EQ(copies[0], RowCopy::plain(1));
    EXPECT_EQ(copies[1], RowCopy::plain(1));
    EXPECT_EQ(copies[2], (RowCopy{{0, 3, 1}, true}));
    EXPECT_FALSE(copies[3]);
    EXPECT_EQ(copies[4], RowCopy::plain(3));
    EXPECT_EQ(copies[5], RowCopy::plain(3));
    EXPECT_FALSE(standing_copies({}, kSizes, kNames).front());
}

// Without what stands, runs differ: three pipelines are as good, and noise says which is the best.
TEST(Standing, makes_a_second_run_choose_as_the_first_did_where_only_noise_differs) {
    std::size_t changed = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto run = [&](std::uint64_t which) {
            return scores({0.1, 0.1, 0.1, 0}, 0.01, 2 * seed + which);
        };
        const std::vector<Row> first = choose(run(0), {});
        changed += by_size(choose(run(1), {})) != by_size(first);
        EXPECT_EQ(by_size(choose(run(1), standing_of_rows(first))), by_size(first)) << seed;
    }
    EXPECT_GT(changed, 10u);
}

TEST(Standing, goes_where_it_is_clearly_beaten) {
    const Standing standing{{{kSizes.back(), {"plain"}}}, ""};
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const std::vector<Row> rows = choose(scores({0, 0.1, 0, 0}, 0.01, seed), standing);
        EXPECT_EQ(by_size(rows), std::vector<RowCopy>(kSizes.size(), RowCopy::plain(1))) << seed;
    }
    // at one size alone
    std::vector<SizeScores> one = scores({0, 0, 0, 0}, 0, 1);
    one[3].plain[2] = 0.2;
    std::vector<RowCopy> wanted(kSizes.size(), RowCopy::plain(0));
    wanted[3] = RowCopy::plain(2);
    EXPECT_EQ(by_size(choose(one, standing)), wanted);
}

TEST(Standing, is_favoured_as_a_copy_that_senses_by_what_that_was_timed_at) {
    const RowCopy senses{{0, 1, 1}, true};
    TimedRowCopy timed{senses, std::vector<double>(kSizes.size(), 0.1)};
    std::vector<std::optional<RowCopy>> standing(kSizes.size());
    standing[2] = senses;
    std::vector<SizeScores> all = scores({0, 0, 0, 0}, 0, 1);
    RowRules rules;
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
