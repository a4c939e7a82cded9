// The table of winners: the paper's columns, and what each winner is worth beside libc.
#include "profile/result_table.hpp"

#include <gtest/gtest.h>
#include <sstream>

#include "support/made_up_pipelines.hpp"
#include "support/made_up_variants.hpp"

using namespace asterope;

namespace {

const asterope_variant kVariants[] = {made_up("ZMM", "T", "NT", "T0", 4),
                                      made_up("REP_MOVSB", "T", "T", "none", 0),
                                      made_up("YMM", "T", "T", "T1", 12, {4, 2, 1, "down"})};
const std::vector<Candidate> kSpace = {
    {&kVariants[0], 8}, {&kVariants[1], 0}, {&kVariants[2], 16, 32}};

Measured measured(double ns, double ratio) {
    return {ns * 1e-9, ns * ratio * 1e-9, {ratio, ratio - 0.01, ratio + 0.01}};
}

using Ratios = std::map<Workload, double>;

Finalist finalist(Entrant candidate, const Ratios& ratios) {
    Finalist finalist{candidate, {}, 1, false};
    for (const auto& [workload, ratio] : ratios) {
        finalist.workloads[workload] = measured(100, ratio);
    }
    return finalist;
}

SizeResult result(std::size_t size, Entrant winner, const Ratios& ratios) {
    SizeResult result{size, {finalist(winner, ratios)}, {}, 15};
    for (const auto& [workload, ignored] : ratios) {
        result.noise_floor[workload] = {1, 0.987, 1.012};
    }
    return result;
}

/// One objective (hot and cold), each size an interval up to itself.
PipelineFacts pipelines(const std::vector<SizeResult>& results) {
    return made_up_pipelines(
        {"weights", {{Workload::hot, 0.5}, {Workload::cold, 0.5}, {Workload::produce, 0}}},
        results);
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> result;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) result.push_back(line);
    return result;
}

} // namespace

TEST(ResultTable, has_a_header_a_row_for_each_interval_and_a_legend) {
    const auto rows = lines(result_table(
        kSpace, pipelines({result(128, 1, {{Workload::hot, 1.02}, {Workload::cold, 0.98}}),
                           result(8192, 0, {{Workload::hot, 1.31}, {Workload::cold, 1.5}}),
                           result(32 << 20, 2, {{Workload::hot, 1.1}, {Workload::cold, 11.5}})})));
    ASSERT_EQ(rows.size(), 5u);
    EXPECT_EQ(rows[0], "Up to  RT        LT ST PT   PS PD TB PI PW D   hot  cold lead ties floor");
    EXPECT_EQ(rows[1], "128 B  REP_MOVSB T  T  none  0  0  2  1  0 up 1.02  0.98 1.00    0  1.01");
    EXPECT_EQ(rows[2], "8 KiB  ZMM       T  NT T0    4  8  2  1  0 up 1.31  1.50 1.00    0  1.01");
    EXPECT_EQ(rows[3], "32 MiB YMM       T  T  T1   12 16  4  2 32 dn 1.10 11.50 1.00    0  1.01");
    EXPECT_EQ(rows[4].substr(0, 5), "lead:");
}

TEST(ReferencesTable, tells_the_fastest_of_libc_and_the_references_in_each_cell) {
    SizeResult small = result(128, 1, {{Workload::hot, 1.02}, {Workload::cold, 0.98}});
    EXPECT_EQ(references_table(pipelines({small})), "");
    SizeResult large = result(8192, 0, {{Workload::hot, 1.31}, {Workload::cold, 1.5}});
    const auto judge = [](SizeResult& one, Workload workload, const char* name, double ratio) {
        one.finalists.front().workloads[workload].best_reference = {name, {ratio, ratio, ratio}};
    };
    judge(small, Workload::hot, "libc", 1.02);
    judge(small, Workload::cold, "new-1.0", 0.9);
    judge(large, Workload::hot, "other", 1.1);
    judge(large, Workload::cold, "new-1.0", 1.2);
    const auto rows = lines(references_table(pipelines({small, large})));
    ASSERT_EQ(rows.size(), 4u);
    EXPECT_EQ(rows[0], "References    hot  cold");
    EXPECT_EQ(rows[1], "128 B        1.02 *0.90");
    EXPECT_EQ(rows[2], "8 KiB      **1.10 *1.20");
    EXPECT_NE(rows[3].find("*: new-1.0; **: other"), std::string::npos) << rows[3];
}

TEST(ResultTable, has_no_column_for_an_axis_that_no_winner_uses) {
    const auto paper =
        lines(result_table(kSpace, pipelines({result(128, 1, {{Workload::hot, 1}}),
                                              result(8192, 0, {{Workload::hot, 1}})})));
    EXPECT_EQ(paper[0], "Up to RT        LT ST PT   PS PD  hot lead ties floor");
    EXPECT_EQ(paper[2], "8 KiB ZMM       T  NT T0    4  8 1.00 1.00    0  1.01");
    const asterope_variant block = made_up("ZMM", "T", "T", "T0", 4, {8, 1, 0, "up"}),
                           write = made_up("ZMM", "T", "T", "T0", 4, {2, 1, 1, "up"});
    const std::vector<Candidate> space = {{&block, 8}, {&write, 8, 16}};
    const auto rows = lines(result_table(space, pipelines({result(128, 0, {{Workload::hot, 1}}),
                                                           result(256, 1, {{Workload::hot, 1}})})));
    EXPECT_EQ(rows[0], "Up to RT  LT ST PT PS PD TB PW  hot lead ties floor");
    EXPECT_EQ(rows[1], "128 B ZMM T  T  T0  4  8  8  0 1.00 1.00    0  1.01");
    EXPECT_EQ(rows[2], "256 B ZMM T  T  T0  4  8  2 16 1.00 1.00    0  1.01");
}

TEST(ResultTable, tells_the_winners_lead_and_how_many_tie_with_it) {
    SizeResult tied = result(128, 1, {{Workload::hot, 1}});
    tied.lead = {1.0449, 0.99, 1.1};
    for (int i = 0; i < 12; ++i) {
        tied.finalists.push_back(finalist(0, {{Workload::hot, 1}}));
        tied.finalists.back().tied = i % 2 == 0;
    }
    tied.finalists.front().tied = true; // with itself
    const std::string row = lines(result_table(kSpace, pipelines({tied}))).at(1);
    EXPECT_EQ(row, "128 B REP_MOVSB T  T  none  0  0 1.00 1.04    6  1.01");
}

// With every column there may be, and each at its widest.
TEST(ResultTable, stays_within_100_columns) {
    Ratios ratios;
    for (const Workload workload : {Workload::hot, Workload::hot_read, Workload::cold,
                                    Workload::consume, Workload::produce}) {
        ratios[workload] = 1.5;
    }
    const auto rows = lines(
        result_table(kSpace, pipelines({result(128, 1, ratios), result(17374336, 2, ratios)})));
    for (const std::string& row : rows) EXPECT_LE(row.size(), 100u) << row;
    EXPECT_EQ(rows[0].size(), 100u);
}

TEST(ResultTable, has_intervals_up_to_where_winners_change) {
    PipelineFacts facts = pipelines(
        {result(4096, 1, {{Workload::hot, 1.1}}), result(8192, 0, {{Workload::hot, 1.2}})});
    facts.intervals = {{{0, 6400, 0}, {6400, 8192, 1}}};
    const auto rows = lines(result_table(kSpace, facts));
    ASSERT_EQ(rows.size(), 4u);
    EXPECT_EQ(rows[1].substr(0, 16), "6400 B REP_MOVSB");
    EXPECT_EQ(rows[2].substr(0, 16), "8 KiB  ZMM      ");
}

TEST(ResultTable, tells_the_widest_noise_floor_of_the_workloads) {
    const auto floor = [](const Estimate& hot, const Estimate& cold) {
        PipelineFacts facts =
            pipelines({result(128, 1, {{Workload::hot, 1}, {Workload::cold, 1}})});
        facts.found[0].results[0].noise_floor = {{Workload::hot, hot}, {Workload::cold, cold}};
        const std::string row = lines(result_table(kSpace, facts)).at(1);
        return row.substr(row.size() - 5);
    };
    EXPECT_EQ(floor({1, 0.951, 1.002}, {1, 0.998, 1.07}), " 1.07");
    EXPECT_EQ(floor({1, 0.8, 1.002}, {1, 0.998, 1.07}), " 1.25"); // either way
    EXPECT_EQ(floor({1, 1, 1}, {1, 1, 1}), " 1.00");
}

TEST(ResultTable, has_the_routines_own_winners_only) {
    PipelineFacts facts = pipelines({result(128, 1, {{Workload::hot, 1}})});
    facts.objectives.push_back({"hot", {{Workload::hot, 1}}});
    facts.found[0].results.push_back(result(128, 0, {{Workload::hot, 2}}));
    facts.intervals.push_back({{0, 128, 0}});
    const auto rows = lines(result_table(kSpace, facts));
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_NE(rows[1].find("REP_MOVSB"), std::string::npos);
}

TEST(ResultTable, of_nothing_is_empty) {
    EXPECT_EQ(result_table(kSpace, pipelines({})), "");
}

// --- Sensing -------------------------------------------------------------------------------------

TEST(SensingTable, has_a_row_for_each_size_at_which_it_won) {
    const asterope_copy probe = made_up("source 4", {{"kind", "source", 0}, {"lines", nullptr, 4}});
    PipelineFacts facts = pipelines({result(4096, 1, {{Workload::hot, 1}, {Workload::cold, 1}}),
                                     result(65536, 0, {{Workload::hot, 1}, {Workload::cold, 1}})});
    EXPECT_EQ(sensing_table(facts), "");
    facts.sensing[1] = SensingResult{{&probe, kSpace[1], kSpace[0], {187, 90, 390}},
                                     finalist(2, {{Workload::hot, 0.99}, {Workload::cold, 1.62}}),
                                     15};
    const auto rows = lines(sensing_table(facts));
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0], "Sensing         hot     cold   probe > ticks: uncached, fetch where the "
                       "destination is cached, else cached");
    EXPECT_EQ(rows[1], "64 KiB         0.99     1.62   source 4 > 187: ZMM T NT T0 4 8, else "
                       "REP_MOVSB T T none 0 0");
}

// --- Intents -------------------------------------------------------------------------------------

TEST(IntentsTable, has_the_geometric_means_of_each_objectives_winners) {
    PipelineFacts facts = pipelines({result(128, 1, {{Workload::hot, 1}, {Workload::cold, 1}}),
                                     result(8192, 0, {{Workload::hot, 4}, {Workload::cold, 1}})});
    EXPECT_EQ(intents_table(facts), ""); // there is but one entry point
    facts.objectives.push_back({"cold", {{Workload::cold, 1}}});
    facts.found[0].results.push_back(result(128, 0, {{Workload::hot, 0.5}, {Workload::cold, 3}}));
    facts.found[1].results.push_back(result(8192, 0, {{Workload::hot, 0.5}, {Workload::cold, 12}}));
    const auto rows = lines(intents_table(facts));
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0], "Tuned for       hot     cold   geometric means over the sizes");
    EXPECT_EQ(rows[1], "weights        2.00     1.00");
    EXPECT_EQ(rows[2], "cold           0.50     6.00");
}

// --- Small copies --------------------------------------------------------------------------------

namespace {

const asterope_copy kSmall[] = {
    made_up_small("masked ZMM up 256", "masked", "ZMM", "up", 256),
    made_up_small("stepped XMM middle 128", "stepped", "XMM", "middle", 128),
    made_up_small("grouped YMM down 512", "grouped", "YMM", "down", 512),
    made_up_small("rep XMM up 128", "rep", "XMM", "up", 128)};

Finalist small_finalist(Entrant candidate, double ratio) {
    return {candidate,
            {{Workload::mix_l1, measured(5, ratio + 1)}, {Workload::fixed, measured(2, ratio)}},
            ratio,
            false};
}

} // namespace

TEST(SmallTable, has_the_winner_two_runners_up_and_the_noise_floor) {
    const SizeResult result{
        0,
        {small_finalist(2, 1.5), small_finalist(0, 1.4), small_finalist(3, 1.3),
         small_finalist(1, 1.2)},
        {{Workload::mix_l1, {1, 0.987, 1.012}}, {Workload::fixed, {1, 0.992, 1.034}}},
        15};
    const auto rows = lines(small_table(
        {"fleet", "balanced", {&kSmall[0], &kSmall[1], &kSmall[2], &kSmall[3]}, result}));
    ASSERT_EQ(rows.size(), 5u);
    EXPECT_EQ(rows[0], "Small copies, x libc        all      mix_l1       fixed");
    EXPECT_EQ(rows[1], "to 512 B: grouped YMM down 1.50        2.50        1.50");
    EXPECT_EQ(rows[2], "to 256 B: masked ZMM up    1.40        2.40        1.40");
    EXPECT_EQ(rows[3], "to 128 B: rep XMM up       1.30        2.30        1.30");
    EXPECT_EQ(rows[4], "libc against libc                0.99..1.01  0.99..1.03");
}

TEST(SmallTable, is_as_wide_as_its_workloads) {
    Finalist winner = small_finalist(0, 1.5);
    winner.workloads = {{Workload::page_end_read, winner.workloads.begin()->second}};
    const SizeResult result{0, {winner}, {{Workload::page_end_read, {1, 0.99, 1.01}}}, 15};
    const auto rows = lines(small_table({"fleet", "balanced", {&kSmall[0]}, result}));
    ASSERT_EQ(rows.size(), 3u);
    for (const std::string& row : rows) EXPECT_EQ(row.size(), rows[0].size()) << row;
}

// --- Overlapping buffers -------------------------------------------------------------------------

TEST(OverlappingTable, has_every_copy_and_the_noise_floor) {
    const asterope_copy variants[] = {made_up("overlapping XMM 128"),
                                      made_up("overlapping ZMM 256")};
    const SizeResult result{0,
                            {{1, {{Workload::overlapping, measured(5, 1.25)}}, 1.25, false},
                             {0, {{Workload::overlapping, measured(5, 0.5)}}, 0.5, false}},
                            {{Workload::overlapping, {1, 0.987, 1.012}}},
                            15};
    const auto rows = lines(overlapping_table({{&variants[0], &variants[1]}, result}));
    ASSERT_EQ(rows.size(), 4u);
    EXPECT_EQ(rows[0], "Overlapping buffers        x libc's memmove");
    EXPECT_EQ(rows[1], "overlapping ZMM 256        1.25");
    EXPECT_EQ(rows[2], "overlapping XMM 128        0.50");
    EXPECT_EQ(rows[3], "libc against libc          0.99..1.01");
}

// --- Where the time went -------------------------------------------------------------------------

TEST(TimingsTable, has_seconds_and_share_of_each_phase_and_of_the_rest) {
    const auto rows = lines(timings_table({{Step::verifying, 4.04},
                                           {Step::calibration, 8},
                                           {Step::screening, 150.06},
                                           {Step::run_off, 30}},
                                          200));
    ASSERT_EQ(rows.size(), 8u);
    EXPECT_EQ(rows[0], "Time spent on          seconds   share");
    EXPECT_EQ(rows[1], "verifying                  4.0   2.0 %");
    EXPECT_EQ(rows[2], "calibrating                8.0   4.0 %");
    EXPECT_EQ(rows[3], "screening                150.1  75.0 %");
    EXPECT_EQ(rows[4], "run-off                   30.0  15.0 %");
    EXPECT_EQ(rows[5], "the rest                   7.9   4.0 %");
    EXPECT_EQ(rows[6], "all                      200.0 100.0 %");
    EXPECT_EQ(rows[7], "verifying and calibrating take 6.0 % of the run: under 10 %");
}

TEST(TimingsTable, says_where_verification_and_calibration_take_too_much) {
    const auto verdict = [](double verifying, double calibrating) {
        return lines(timings_table({{Step::verifying, verifying}, {Step::calibration, calibrating}},
                                   100))
            .back();
    };
    EXPECT_EQ(verdict(6, 3.9), "verifying and calibrating take 9.9 % of the run: under 10 %");
    EXPECT_EQ(verdict(6, 4), "verifying and calibrating take 10.0 % of the run: not under 10 %");
    EXPECT_EQ(verdict(0, 55), "verifying and calibrating take 55.0 % of the run: not under 10 %");
}

TEST(TimingsTable, bears_a_run_of_no_time_and_phases_that_exceed_it) {
    const auto none = lines(timings_table({}, 0));
    EXPECT_EQ(none[1], "the rest                   0.0   0.0 %");
    const auto rounded = lines(timings_table({{Step::screening, 10.04}}, 10));
    EXPECT_EQ(rounded[2], "the rest                   0.0   0.0 %");
}

TEST(ThreadsTable, has_a_row_a_size_and_says_what_is_taken) {
    EXPECT_EQ(threads_table({2, {}, {}}), "");
    const auto size = [](std::size_t bytes, bool taken, double cold) {
        return SharedSize{
            bytes,
            {2, taken ? 65536u : 0u},
            taken,
            1,
            {{Workload::hot, measured(100, 1.5)}, {Workload::cold, measured(100, cold)}},
            {{Workload::cold, {1, 0.96, 1.02}}},
            15};
    };
    const auto rows =
        lines(threads_table({2, {size(524288, false, 0.9), size(1048576, true, 1.25)}, {}}));
    ASSERT_EQ(rows.size(), 4u);
    EXPECT_EQ(rows[0], "Threads best                    hot cold floor taken");
    EXPECT_EQ(rows[1], "512 KiB threads 2 even         1.50 0.90  1.04    no");
    EXPECT_EQ(rows[2], "1 MiB   threads 2 chunk 64 KiB 1.50 1.25  1.04   yes");
}
