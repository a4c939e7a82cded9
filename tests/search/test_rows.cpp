// The rows of a routine: few where they lose little, and the cheapest that there are.
#include "search/rows.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <set>

using namespace asterope;

namespace {

constexpr double kUnusable = -std::numeric_limits<double>::infinity();

using Rows = std::vector<Row>;
using Plain = std::vector<std::vector<double>>; ///< by size, by pipeline

std::vector<SizeScores> scores(const Plain& plain) {
    std::vector<SizeScores> scores;
    for (const auto& at_size : plain) scores.push_back({at_size});
    return scores;
}

Row plain(std::size_t first, std::size_t last, std::size_t pipeline) {
    return {first, last, RowCopy::plain(pipeline)};
}

/// Three pipelines, each the best for data of another locality by `gain`, at sizes of which none is
/// special; a probe takes `probe`.
std::vector<SizeScores> specialists(std::size_t sizes, double gain, double probe) {
    SizeScores one;
    for (std::size_t locality = 0; locality < kLocalities; ++locality) {
        for (std::size_t pipeline = 0; pipeline < 3; ++pipeline) {
            one.sensed[locality].push_back((pipeline == locality ? gain : 0) - probe / 3);
        }
    }
    one.plain.assign(3, gain);
    return std::vector<SizeScores>(sizes, one);
}

} // namespace

TEST(ChooseRows, takes_one_pipeline_where_another_brings_less_than_its_price) {
    EXPECT_EQ(choose_rows(scores({{0.10, 0.105}, {0.10, 0.08}, {0.10, 0.105}})),
              (Rows{plain(0, 2, 0)}));
}

TEST(ChooseRows, takes_the_simpler_one_unless_another_leads_by_more_than_its_handicap) {
    const RowRules rules{.pipeline_price = 0, .handicaps = {0, 0.01}};
    for (const double lead : {0.008, 0.012}) {
        const auto leads = scores(Plain(8, {0.10, 0.10 + lead}));
        EXPECT_EQ(choose_rows(leads, rules), (Rows{plain(0, 7, lead > 0.01)})) << lead;
    }
}

TEST(ChooseRows, takes_a_pipeline_that_brings_more_in_total) {
    EXPECT_EQ(
        choose_rows(scores({{0.10, 0.0}, {0.10, 0.0}, {0.10, 0.12}, {0.10, 0.12}, {0.10, 0.14}})),
        (Rows{plain(0, 1, 0), plain(2, 4, 1)}));
}

TEST(ChooseRows, never_uses_a_pipeline_where_it_cannot_be_used) {
    EXPECT_EQ(choose_rows(scores({{kUnusable, 0.0}, {0.5, 0.0}, {kUnusable, 0.0}})),
              (Rows{plain(0, 0, 1), plain(1, 1, 0), plain(2, 2, 1)}));
    EXPECT_EQ(choose_rows(scores({{kUnusable, kUnusable}})), Rows{});
    EXPECT_EQ(choose_rows({}), Rows{});
}

TEST(ChooseRows, keeps_to_the_bounds_whatever_it_costs) {
    Plain each_another(12, std::vector<double>(12, 0.0));
    for (std::size_t size = 0; size < 12; ++size) each_another[size][size] = 1;
    RowRules few;
    few.most_rows = 3;
    few.most_pipelines = 4;
    const Rows rows = choose_rows(scores(each_another), few);
    ASSERT_FALSE(rows.empty());
    EXPECT_LE(rows.size(), 3u);
    EXPECT_EQ(rows.front().first, 0u);
    EXPECT_EQ(rows.back().last, 11u);
    few.most_rows = 12;
    EXPECT_LE(pipelines_of(choose_rows(scores(each_another), few)).size(), 4u);
}

TEST(ChooseRows, takes_what_is_in_place_before_something_slightly_better) {
    const auto both = scores({{0.10, 0.115}, {0.10, 0.1}});
    EXPECT_EQ(choose_rows(both, {}, {}, {0}), (Rows{plain(0, 1, 0)}));
    EXPECT_EQ(choose_rows(both, {}, {}, {1}), (Rows{plain(0, 1, 1)}));
    RowRules nothing_more;
    nothing_more.most_pipelines = 0;
    EXPECT_EQ(choose_rows(scores({{0, 1}}), nothing_more, {}, {0}), (Rows{plain(0, 0, 0)}));
}

TEST(ChooseRows, weighs_each_pipeline_by_its_own_price) {
    const auto both = scores({{0.10, 0.12}, {0.10, 0.12}});
    RowRules rules;
    EXPECT_EQ(choose_rows(both, rules), (Rows{plain(0, 1, 1)}));
    rules.pipeline_prices = {0.01, 0.1};
    EXPECT_EQ(choose_rows(both, rules), (Rows{plain(0, 1, 0)}));
}

TEST(ChooseRows, does_not_let_many_small_gains_pay_for_one_large_loss) {
    Plain two(10, {0.10, 0.09});
    two[4] = {0.0, 0.05};
    RowRules one_row;
    one_row.most_rows = 1;
    EXPECT_EQ(choose_rows(scores(two), one_row), (Rows{plain(0, 9, 1)}));
}

TEST(ChooseRows, senses_where_that_brings_more_than_it_costs) {
    const RowCopy sensing = {{0, 1, 2}, true};
    EXPECT_EQ(choose_rows(specialists(4, 0.2, 0.05)), (Rows{{0, 3, sensing}}));
    EXPECT_EQ(choose_rows(specialists(4, 0.2, 0.5)), (Rows{plain(0, 3, 0)}));
    EXPECT_EQ(choose_rows(specialists(4, 0.005, 0.001)), (Rows{plain(0, 3, 0)}));
    RowRules none;
    none.most_senses = 0;
    EXPECT_EQ(choose_rows(specialists(4, 0.2, 0.05), none), (Rows{plain(0, 3, 0)}));
}

TEST(ChooseRows, senses_at_no_size_that_has_no_probe) {
    auto some = specialists(4, 0.2, 0.05);
    some[0].sensed = {};
    const Rows rows = choose_rows(some);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_FALSE(rows[0].copy.senses);
    EXPECT_EQ(rows[1], (Row{1, 3, {{0, 1, 2}, true}}));
}

// Against the plain way: all assignments of pipelines to sizes.
TEST(ChooseRows, finds_what_trying_all_assignments_finds) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> score(-0.1, 0.1);
    for (int round = 0; round < 40; ++round) {
        Plain all(6, std::vector<double>(3));
        for (auto& at_size : all) {
            for (double& one : at_size) one = score(random);
        }
        const RowRules rules{.most_rows = 6, .most_pipelines = 3};
        const auto cost = [&](const Rows& rows) {
            double sum = rules.row_price * static_cast<double>(rows.size()) +
                         rules.pipeline_price * static_cast<double>(pipelines_of(rows).size());
            for (const Row& row : rows) {
                for (std::size_t size = row.first; size <= row.last; ++size) {
                    const double regret = *std::max_element(all[size].begin(), all[size].end()) -
                                          all[size][row.copy.pipelines[0]];
                    sum += regret + 3 * std::max(0.0, regret - rules.bearable_regret);
                }
            }
            return sum;
        };
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t assignment = 0; assignment < 729; ++assignment) {
            Rows rows;
            for (std::size_t size = 0, rest = assignment; size < 6; ++size, rest /= 3) {
                if (!rows.empty() && rows.back().copy == RowCopy::plain(rest % 3)) {
                    rows.back().last = size;
                } else {
                    rows.push_back(plain(size, size, rest % 3));
                }
            }
            least = std::min(least, cost(rows));
        }
        EXPECT_NEAR(cost(choose_rows(scores(all), rules)), least, 1e-12);
    }
}

namespace {

using Leading = std::set<std::array<std::size_t, 3>>; ///< size, pipeline, over which one

Rows beyond_chance(Rows rows, const Leading& leading) {
    return without_chance_rows(
        std::move(rows), [&](std::size_t size, const RowCopy& one, const RowCopy& other) {
            return leading.count({size, one.pipelines[0], other.pipelines[0]}) > 0;
        });
}

} // namespace

TEST(WithoutChanceRows, leaves_a_size_of_its_own_to_a_neighbour_that_it_does_not_lead) {
    const Rows island = {plain(0, 2, 0), plain(3, 3, 1), plain(4, 6, 0)};
    EXPECT_EQ(beyond_chance(island, {}), (Rows{plain(0, 6, 0)}));
    EXPECT_EQ(beyond_chance(island, {{3, 1, 0}}), island) << "its lead is beyond chance";
    const Rows three = {plain(0, 2, 0), plain(3, 3, 1), plain(4, 6, 2)};
    EXPECT_EQ(beyond_chance(three, {{3, 1, 0}}), (Rows{plain(0, 2, 0), plain(3, 6, 2)}));
    EXPECT_EQ(beyond_chance(three, {{3, 1, 2}}), (Rows{plain(0, 3, 0), plain(4, 6, 2)}));
    EXPECT_EQ(beyond_chance(three, {{3, 2, 0}}), (Rows{plain(0, 2, 0), plain(3, 6, 2)}));
    EXPECT_EQ(beyond_chance(three, {{3, 1, 0}, {3, 1, 2}}), three);
    const Rows ends = {plain(0, 0, 0), plain(1, 3, 1), plain(4, 4, 2)};
    EXPECT_EQ(beyond_chance(ends, {}), (Rows{plain(0, 4, 1)}));
    const Rows several = {plain(0, 1, 0), plain(2, 3, 1), plain(4, 6, 0)};
    EXPECT_EQ(beyond_chance(several, {}), several) << "which luck seldom makes";
    EXPECT_EQ(beyond_chance({}, {}), Rows{});
    EXPECT_EQ(beyond_chance({plain(0, 0, 0)}, {}), (Rows{plain(0, 0, 0)}));
}
