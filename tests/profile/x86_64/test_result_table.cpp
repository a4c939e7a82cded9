// The table of winners: the paper's columns, and what each winner is worth beside libc.
#include "profile/result_table.hpp"

#include <gtest/gtest.h>
#include <sstream>

#include "support/made_up_pipelines.hpp"
#include "support/made_up_variants.hpp"
#include "support/mentions.hpp"

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

TEST(ChoicesTables, have_what_each_size_takes_and_how_far_to_trust_it) {
    PipelineFacts facts =
        pipelines({result(128, 1, {{Workload::hot, 1.02}, {Workload::cold, 0.98}}),
                   result(8192, 0, {{Workload::hot, 2.5}})});
    facts.found[1].results[0].lead = {1.07, 1, 1.1};
    const auto rows = lines(choices_tables(made_up_profile({kSpace, facts}), Operation::copy));
    ASSERT_GE(rows.size(), 4u);
    EXPECT_EQ(rows[1], "Up to RT LT ST PT PS PD      x libc GB/s  hot cold lead ties floor");
    EXPECT_EQ(rows[2], "128 B REP_MOVSB T T none 0 0   1.00 1.28 1.02 0.98 1.00    0  1.01");
    EXPECT_EQ(rows[3], "8 KiB ZMM T NT T0 4 8          1.00 81.9 2.50    - 1.07    0  1.01");
    EXPECT_EQ(choices_tables(Profile(), Operation::copy), "");
}

TEST(ChoicesTables, have_the_pipelines_of_a_copy_that_senses_and_runners_up_of_other_kinds) {
    PipelineFacts facts = pipelines({result(65536, 1, {{Workload::hot, 1}})});
    const asterope_copy probe = made_up("source 4", {{"kind", "source", 0}, {"lines", nullptr, 4}});
    facts.sensing[0] = SensingResult{
        {&probe, kSpace[1], kSpace[0], {187, 90, 390}}, finalist(1, {{Workload::hot, 1.5}}), 15};
    SearchResults results{kSpace, facts};
    results.threads = ThreadsFacts{2, {{1 << 20, {2, 0}, false, 0.9, {}, {}, 15}}};
    const std::string text = choices_tables(made_up_profile(results), Operation::copy);
    for (const char* part :
         {"source 4 > 187", "  cached   REP_MOVSB", "  uncached ZMM", "no counter REP_MOVSB",
          "Copies over threads", "  next", "threads 2 even"}) {
        EXPECT_TRUE(mentions(text, part)) << part << '\n' << text;
    }
}

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
