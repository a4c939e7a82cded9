// The rows of a routine: few if few lose little, and the cheapest possible ones.
#include "search/rows.hpp"

#include "support/random_figures.hpp"
#include "support/unit_test.hpp"

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

/// Four pipelines, each the best for data of another locality by `gain`, at four sizes of which
/// none is special; a probe takes `probe`.
std::vector<SizeScores> specialists(double gain, double probe) {
    SizeScores one;
    for (std::size_t locality = 0; locality < kLocalities; ++locality) {
        for (std::size_t pipeline = 0; pipeline < kLocalities; ++pipeline) {
            one.sensed[locality].push_back((pipeline == locality ? gain : 0) - probe / kLocalities);
        }
    }
    one.plain.assign(kLocalities, gain);
    return std::vector(4, one);
}

constexpr double kPrice = 0.04;

/// The rows if each pipeline costs kPrice, unless the rules say otherwise.
Rows choose(const std::vector<SizeScores>& scores, RowRules rules = {},
            const std::vector<TimedRowCopy>& timed = {},
            const std::vector<std::size_t>& in_place = {}) {
    const std::size_t pipelines = scores.empty() ? 0 : scores.front().plain.size();
    if (rules.pipeline_prices.empty()) rules.pipeline_prices.assign(pipelines, kPrice);
    return choose_rows(scores, rules, timed, in_place);
}

TEST(ChooseRows, takes_what_brings_more_than_its_price_and_loses_little_anywhere) {
    Plain one_loss(10, {0.10, 0.09}); // for which many small gains do not pay
    one_loss[4] = {0.0, 0.05};
    const Plain two_sizes = {{0.10, 0.115}, {0.10, 0.1}}, alike(2, {0.10, 0.12});
    const RowRules handicapped{.pipeline_prices = {0, 0}, .handicaps = {0, 0.01}};
    const struct {
        const char* rule;
        Plain scores;
        Rows rows;
        RowRules rules = {};
        std::vector<std::size_t> in_place = {};
    } cases[] = {
        {"less than its price", {{0.10, 0.105}, {0.10, 0.08}, {0.10, 0.105}}, {plain(0, 2, 0)}},
        {"more in total",
         {{0.10, 0.0}, {0.10, 0.0}, {0.10, 0.12}, {0.10, 0.12}, {0.10, 0.14}},
         {plain(0, 1, 0), plain(2, 4, 1)}},
        {"less than its handicap", Plain(8, {0.10, 0.108}), {plain(0, 7, 0)}, handicapped},
        {"more than that", Plain(8, {0.10, 0.112}), {plain(0, 7, 1)}, handicapped},
        {"where it can be used",
         {{kUnusable, 0.0}, {0.5, 0.0}, {kUnusable, 0.0}},
         {plain(0, 0, 1), plain(1, 1, 0), plain(2, 2, 1)}},
        {"where none can be used", {{kUnusable, kUnusable}}, {}},
        {"no size", {}, {}},
        {"the first in place", two_sizes, {plain(0, 1, 0)}, {}, {0}},
        {"the second in place", two_sizes, {plain(0, 1, 1)}, {}, {1}},
        {"none but in place", {{0, 1}}, {plain(0, 0, 0)}, {.most_pipelines = 0}, {0}},
        {"one price for all", alike, {plain(0, 1, 1)}},
        {"each its own", alike, {plain(0, 1, 0)}, {.pipeline_prices = {0.01, 0.1}}},
        {"one large loss", one_loss, {plain(0, 9, 1)}, {.most_rows = 1}},
    };
    for (const auto& [rule, all, rows, rules, in_place] : cases) {
        EXPECT_EQ(choose(scores(all), rules, {}, in_place), rows) << rule;
    }
}

// The first was predicted to be the best. The second brings less than its price over the third.
TEST(ChooseRows, measures_regrets_from_the_best_that_an_exam_has_not_refuted) {
    const RowRules rules{.pipeline_prices = {0, 0.03, 0}};
    const std::vector<TimedRowCopy> timed = {{RowCopy::plain(0), {-1}}};
    EXPECT_EQ(choose(scores({{0.3, 0.10, 0.09}}), rules, timed), (Rows{plain(0, 0, 2)}));
}

TEST(ChooseRows, keeps_to_the_bounds_whatever_it_costs) {
    Plain each_another(12, std::vector<double>(12, 0.0));
    for (std::size_t size = 0; size < 12; ++size) each_another[size][size] = 1;
    RowRules few{.most_rows = 3, .most_pipelines = 4};
    const Rows rows = choose(scores(each_another), few);
    ASSERT_FALSE(rows.empty());
    EXPECT_LE(rows.size(), 3u);
    EXPECT_EQ(rows.front().first, 0u);
    EXPECT_EQ(rows.back().last, 11u);
    few.most_rows = 12;
    EXPECT_LE(pipelines_of(choose(scores(each_another), few)).size(), 4u);
}

TEST(ChooseRows, senses_where_there_is_a_probe_and_that_brings_more_than_it_costs) {
    const RowCopy sensing = {{0, 1, 2, 3}, true};
    EXPECT_EQ(choose(specialists(0.2, 0.05)), (Rows{{0, 3, sensing}}));
    EXPECT_EQ(choose(specialists(0.2, 0.5)), (Rows{plain(0, 3, 0)}));
    EXPECT_EQ(choose(specialists(0.005, 0.001)), (Rows{plain(0, 3, 0)}));
    EXPECT_EQ(choose(specialists(0.2, 0.05), {.most_senses = 0}), (Rows{plain(0, 3, 0)}));
    auto some = specialists(0.2, 0.05);
    some[0].sensed = {};
    EXPECT_EQ(choose(some), (Rows{plain(0, 0, 0), {1, 3, sensing}}));
}

TEST(ChooseRows, of_sets_gives_all_but_uncached_destinations_one_pipeline) {
    const RowRules rules{.one_sided = true};
    const Rows rows = choose(specialists(0.4, 0.05), rules);
    ASSERT_EQ(rows.size(), 1u);
    const auto [cached, produced, fetched, uncached] = rows.front().copy.pipelines;
    EXPECT_TRUE(rows.front().copy.senses);
    EXPECT_EQ(cached, produced);
    EXPECT_EQ(cached, fetched);
    EXPECT_EQ(uncached, static_cast<std::size_t>(Locality::uncached));
}

// A size where all are slower than libc counts as any other: regrets begin at its best.
TEST(ChooseRows, of_sets_measures_regrets_from_the_best_of_a_size_where_none_can_sense) {
    const Plain behind = {{-0.05, -0.06}, {-0.10, -0.06}};
    for (const bool one_sided : {false, true}) {
        const RowRules rules{.row_price = 0.13, .pipeline_prices = {0, 0}, .one_sided = one_sided};
        EXPECT_EQ(choose(scores(behind), rules).size(), 1u);
    }
}

// Where a set's memory is read, its call site goes on with the row's own pipeline for cached ones.
TEST(ChooseRows, of_sets_counts_the_better_of_two_pipelines_where_the_set_is_read) {
    const std::size_t past = 0, poor = 1, good = 2;
    SizeScores scores;
    scores.plain = {-0.5, 0, 0.01};
    scores.sensed[static_cast<std::size_t>(Locality::cached)] = {-1, 0, 0};
    scores.sensed[static_cast<std::size_t>(Locality::produced)] = {0, 0, 0};
    scores.sensed[static_cast<std::size_t>(Locality::fetched)] = {0, 0, 0};
    scores.sensed[static_cast<std::size_t>(Locality::uncached)] = {0.5, 0, 0};
    scores.read = {-0.3, -0.1, 0.1};
    const RowRules rules{.one_sided = true};
    const Rows rows = choose({scores, scores}, rules);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows.front().copy, (RowCopy{{good, good, good, past}, true}));
    scores.read = {-0.3, 0.1, -0.1};
    const RowCopy other = choose({scores, scores}, rules).front().copy;
    EXPECT_EQ(other, (RowCopy{{poor, poor, poor, past}, true}));
}

// Against the plain way: all assignments of pipelines to sizes.
TEST(ChooseRows, finds_what_trying_all_assignments_finds) {
    noise::Random random(1);
    for (int round = 0; round < 40; ++round) {
        Plain all(6, std::vector<double>(3));
        for (auto& at_size : all) {
            for (double& one : at_size) one = 0.2 * noise::uniform(random);
        }
        const RowRules rules{.most_rows = 6, .most_pipelines = 3};
        const auto cost = [&](const Rows& rows) {
            double sum = rules.row_price * static_cast<double>(rows.size()) +
                         kPrice * static_cast<double>(pipelines_of(rows).size());
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
        EXPECT_NEAR(cost(choose(scores(all), rules)), least, 1e-12);
    }
}

/// Size, pipeline, over which one.
using Leading = std::set<std::tuple<std::size_t, std::size_t, std::size_t>>;

Rows beyond_chance(Rows rows, const Leading& leading) {
    return without_chance_rows(
        std::move(rows), [&](std::size_t size, const RowCopy& one, const RowCopy& other) {
            return leading.count({size, one.pipelines[0], other.pipelines[0]}) > 0;
        });
}

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

} // namespace
