// The rows of a routine: few where they lose little, and the cheapest that there are.
#include "search/rows.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace asterope;

namespace {

constexpr double kUnusable = -std::numeric_limits<double>::infinity();

using Rows = std::vector<Row>;

} // namespace

TEST(ChooseRows, takes_one_pipeline_where_another_brings_less_than_its_price) {
    const PipelineScores scores = {{0.10, 0.105}, {0.10, 0.08}, {0.10, 0.105}};
    EXPECT_EQ(choose_rows(scores), (Rows{{0, 2, 0}}));
}

TEST(ChooseRows, takes_a_pipeline_that_brings_more_in_total) {
    const PipelineScores scores = {
        {0.10, 0.0}, {0.10, 0.0}, {0.10, 0.12}, {0.10, 0.12}, {0.10, 0.12}};
    EXPECT_EQ(choose_rows(scores), (Rows{{0, 1, 0}, {2, 4, 1}}));
}

TEST(ChooseRows, never_uses_a_pipeline_where_it_cannot_be_used) {
    const PipelineScores scores = {{kUnusable, 0.0}, {0.5, 0.0}, {kUnusable, 0.0}};
    EXPECT_EQ(choose_rows(scores), (Rows{{0, 0, 1}, {1, 1, 0}, {2, 2, 1}}));
    EXPECT_EQ(choose_rows({{kUnusable, kUnusable}}), Rows{});
    EXPECT_EQ(choose_rows({}), Rows{});
}

TEST(ChooseRows, keeps_to_the_bounds_whatever_it_costs) {
    PipelineScores scores; // at each size another pipeline leads by far
    for (std::size_t size = 0; size < 12; ++size) {
        scores.emplace_back(12, 0.0);
        scores.back()[size] = 1;
    }
    RowRules few;
    few.most_rows = 3;
    few.most_pipelines = 4;
    const Rows rows = choose_rows(scores, few);
    ASSERT_FALSE(rows.empty());
    EXPECT_LE(rows.size(), 3u);
    EXPECT_EQ(rows.front().first, 0u);
    EXPECT_EQ(rows.back().last, 11u);
}

TEST(ChooseRows, takes_what_is_in_place_before_something_slightly_better) {
    const PipelineScores scores = {{0.10, 0.115}, {0.10, 0.1}};
    EXPECT_EQ(choose_rows(scores, {}, {0}), (Rows{{0, 1, 0}}));
    EXPECT_EQ(choose_rows(scores, {}, {1}), (Rows{{0, 1, 1}}));
}

TEST(ChooseRows, does_not_let_many_small_gains_pay_for_one_large_loss) {
    PipelineScores scores(10, {0.10, 0.09});
    scores[4] = {0.0, 0.05};
    RowRules one_row;
    one_row.most_rows = 1;
    EXPECT_EQ(choose_rows(scores, one_row), (Rows{{0, 9, 1}}));
    EXPECT_NEAR(regret_of({{0, 9, 1}}, scores).worst, 0.01, 1e-12);
    EXPECT_NEAR(regret_of({{0, 9, 0}}, scores).mean, 0.005, 1e-12); // less in the mean
}

// Against the plain way: all assignments of pipelines to sizes.
TEST(ChooseRows, finds_what_trying_all_assignments_finds) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> score(-0.05, 0.05);
    for (int round = 0; round < 40; ++round) {
        PipelineScores scores(6, std::vector<double>(3));
        for (auto& at_size : scores) {
            for (double& one : at_size) one = score(random);
        }
        const RowRules rules{.most_rows = 6, .most_pipelines = 3};
        const auto cost = [&](const Rows& rows) {
            std::vector<std::size_t> used;
            double sum = rules.row_price * static_cast<double>(rows.size());
            for (const Row& row : rows) {
                if (std::find(used.begin(), used.end(), row.pipeline) == used.end()) {
                    used.push_back(row.pipeline);
                    sum += rules.pipeline_price;
                }
                for (std::size_t size = row.first; size <= row.last; ++size) {
                    const double regret =
                        *std::max_element(scores[size].begin(), scores[size].end()) -
                        scores[size][row.pipeline];
                    sum += regret + 3 * std::max(0.0, regret - rules.bearable_regret);
                }
            }
            return sum;
        };
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t assignment = 0; assignment < 729; ++assignment) {
            Rows rows;
            for (std::size_t size = 0, rest = assignment; size < 6; ++size, rest /= 3) {
                if (!rows.empty() && rows.back().pipeline == rest % 3) {
                    rows.back().last = size;
                } else {
                    rows.push_back({size, size, rest % 3});
                }
            }
            least = std::min(least, cost(rows));
        }
        EXPECT_NEAR(cost(choose_rows(scores, rules)), least, 1e-12);
    }
}
