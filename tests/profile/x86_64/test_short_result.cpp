// What a tuning run ends with: few rows, and sentences that say what was measured.
#include "profile/short_result.hpp"

#include <gtest/gtest.h>
#include <sstream>

#include "support/made_up_pipelines.hpp"
#include "support/made_up_variants.hpp"

using namespace asterope;

namespace {

const asterope_variant kVariants[] = {made_up("ZMM", "T", "NT", "T0", 4),
                                      made_up("REP_MOVSB", "T", "T", "none", 0),
                                      made_up("YMM", "T", "T", "T1", 12, {4, 1, 0, "up"})};
const std::vector<Candidate> kSpace = {
    {&kVariants[0], 8}, {&kVariants[1], 0}, {&kVariants[2], 16}, {&kVariants[0], 24}};

Finalist finalist(Entrant candidate, double hot, double cold) {
    const auto measured = [](double ratio) {
        return Measured{1e-9, ratio * 1e-9, {ratio, ratio, ratio}};
    };
    return {
        candidate, {{Workload::hot, measured(hot)}, {Workload::cold, measured(cold)}}, hot, false};
}

SizeResult result(std::size_t size, Entrant winner, double hot, double cold) {
    return {size, {finalist(winner, hot, cold)}, {{Workload::hot, {1, 0.96, 1.02}}}, 15};
}

PipelineFacts pipelines(const std::vector<SizeResult>& results) {
    return made_up_pipelines({"weights", {{Workload::hot, 0.5}, {Workload::cold, 0.5}}}, results);
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> result;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) result.push_back(line);
    return result;
}

const asterope_copy kSmall = {"masked ZMM up 256", "{}", "", nullptr, nullptr, nullptr};
const std::optional<SmallFacts> kSmallFacts =
    SmallFacts{"fleet", "balanced", {&kSmall}, {0, {{0, {}, 1.25, false}}, {}, 15}};

} // namespace

TEST(RoutineRows, merges_neighbours_of_one_pipeline_and_takes_their_geometric_mean) {
    const auto rows = lines(routine_rows(
        kSpace, pipelines({result(4096, 1, 1, 1), result(8192, 0, 1, 2), result(65536, 0, 4, 2)}),
        {}));
    EXPECT_EQ(rows[0], "Up to  RT        LT ST PT   PS PD  hot cold");
    EXPECT_EQ(rows[1], "4 KiB  REP_MOVSB T  T  none  0  0 1.00 1.00");
    EXPECT_EQ(rows[2], "64 KiB ZMM       T  NT T0    4  8 2.00 2.00");
    EXPECT_EQ(rows[3].substr(0, 3), "RT:");
}

TEST(RoutineRows, has_an_axis_beyond_the_paper_only_where_it_is_used_and_explains_it) {
    const std::string text = routine_rows(kSpace, pipelines({result(4096, 2, 1, 1)}), {});
    EXPECT_EQ(lines(text)[1], "4 KiB YMM T  T  T1 12 16  4 1.00 1.00");
    EXPECT_NE(text.find("TB: transfer block in lines."), std::string::npos);
    EXPECT_EQ(routine_rows(kSpace, pipelines({result(4096, 0, 1, 1)}), {}).find("TB:"),
              std::string::npos);
}

TEST(RoutineRows, begins_with_the_small_copies_and_leaves_out_what_they_do) {
    const auto rows = lines(
        routine_rows(kSpace, pipelines({result(256, 1, 1, 1), result(512, 0, 1, 1)}), kSmallFacts));
    EXPECT_EQ(rows[1], "256 B small copies");
    EXPECT_EQ(rows[2].substr(0, 9), "512 B ZMM");
}

TEST(RoutineRows, shows_both_pipelines_of_a_copy_that_senses) {
    PipelineFacts facts = pipelines({result(65536, 1, 1, 1)});
    const asterope_copy probe = {"source 4", "{}", "", nullptr, nullptr, nullptr};
    facts.sensing[0] =
        SensingResult{{&probe, kSpace[1], kSpace[0], {187, 90, 390}}, finalist(2, 0.99, 1.6), 15};
    const auto rows = lines(routine_rows(kSpace, facts, {}));
    EXPECT_EQ(rows[1], "64 KiB cached   REP_MOVSB T  T  none  0  0 0.99 1.60");
    EXPECT_EQ(rows[2], "       uncached ZMM       T  NT T0    4  8");
}

TEST(RoutineRows, shows_the_third_pipeline_of_a_copy_that_looks_at_the_destination) {
    PipelineFacts facts = pipelines({result(65536, 1, 1, 1)});
    const asterope_copy probe = {"each 4", "{}", "", nullptr, nullptr, nullptr};
    const SensingCopy copy{&probe, kSpace[1], kSpace[0], {187, 90, 390}, kSpace[1]};
    facts.sensing[0] = SensingResult{copy, finalist(2, 0.99, 1.6), 15};
    const std::string text = routine_rows(kSpace, facts, {});
    EXPECT_EQ(lines(text)[3], "       fetch    REP_MOVSB T  T  none  0  0");
    EXPECT_NE(text.find("fetch: only the destination is."), std::string::npos);
}

TEST(RoutineRows, says_where_pipelines_that_share_a_row_differ) {
    std::vector<SizeResult> results;
    for (std::size_t i = 0; i < 24; ++i) results.push_back(result(128 << i, i % 2 * 3, 1, 1));
    const auto rows = lines(routine_rows(kSpace, pipelines(results), {}));
    EXPECT_EQ(rows[1], "1 GiB ZMM T  NT T0  4 8-24 1.00 1.00");
}

TEST(RoutineRows, and_sentences_stay_within_100_columns_and_36_lines) {
    std::vector<SizeResult> results;
    for (std::size_t i = 0; i < 8; ++i) {
        results.push_back(result(4096 << i, static_cast<Entrant>(i % 3), 1.1, 1.3));
    }
    const PipelineFacts facts = pipelines(results);
    const LeftOut left_out = {{128, 256}, {Step::sensing, Step::boundaries, Step::threads}};
    const auto rows = lines(routine_rows(kSpace, facts, kSmallFacts) +
                            result_sentences(facts, kSmallFacts, {}, left_out));
    EXPECT_LE(rows.size(), 36u);
    for (const std::string& row : rows) EXPECT_LE(row.size(), 100u) << row;
}

TEST(ResultSentences, tell_the_mean_and_the_lowest_by_workload) {
    PipelineFacts facts =
        pipelines({result(256, 1, 9, 9), result(4096, 1, 0.5, 1), result(131072, 0, 2, 1.44)});
    facts.objectives.push_back({"cold", {{Workload::cold, 1}}});
    for (Found& found : facts.found) found.results.push_back(result(0, 0, 1, 1.5));
    const std::string text = result_sentences(facts, kSmallFacts, {}, {});
    EXPECT_EQ(lines(text)[0], "Sizes above 256 B: libc's time over ours, mean and lowest");
    EXPECT_EQ(lines(text)[1], "  1.00  0.50 4 KiB     hot: where all is cached");
    EXPECT_EQ(lines(text)[2], "  1.20  1.00 4 KiB     cold: where nothing is cached");
    EXPECT_NE(text.find("Small copies, of up to 256 B in mixed sizes: 1.25 times as fast as libc."),
              std::string::npos);
    EXPECT_NE(text.find("asterope_memcpy_cold 1.50 times."), std::string::npos) << text;
    EXPECT_NE(text.find("Smaller differences than 4 % are noise"), std::string::npos) << text;
    EXPECT_EQ(text.find("Left out"), std::string::npos);
}

TEST(ResultSentences, tell_from_which_size_on_threads_share_and_what_was_left_out) {
    const PipelineFacts facts = pipelines({result(4096, 0, 1, 1)});
    const ThreadsFacts threads = {2, {}, {{262143, 1048575, {1, 0}}, {1048575, 4194304, {2, 0}}}};
    const std::string text =
        result_sentences(facts, {}, threads, {{128, 256}, {Step::boundaries, Step::threads}});
    EXPECT_NE(text.find("asterope_memcpy_mt shares copies of 1 MiB and more among threads."),
              std::string::npos)
        << text;
    EXPECT_NE(
        text.find("Left out, as the time was up: the winners of 2 sizes, boundaries, threads."),
        std::string::npos)
        << text;
    EXPECT_EQ(result_sentences(pipelines({}), {}, {}, {}), "");
}
