// What a routine is expected to bring the program that it was tuned for.
#include "profile/expected_gain.hpp"

#include <gtest/gtest.h>

#include "search/program_weights.hpp"
#include "support/made_up_pipelines.hpp"
#include "support/made_up_program.hpp"
#include "support/made_up_variants.hpp"

using namespace asterope;

namespace {

/// The same ratio under each workload that counts at a size, give or take `noise`.
SizeResult result(std::size_t size, double ratio, double noise, const Weights& weights) {
    Finalist finalist{0, {}, ratio, false};
    for (const auto& [workload, weight] : weights_at(size, weights)) {
        finalist.workloads[workload] = {
            1, ratio, {ratio, ratio / (1 + noise), ratio * (1 + noise)}};
    }
    return {size, {finalist}, {}, 15};
}

/// Of ratio `small` at 512 bytes, `large` at 128 KiB.
PipelineFacts pipelines(double small, double large, double noise) {
    const Objective objective = program_objective(made_up_program(), {512, 131072});
    return made_up_pipelines(objective, {result(512, small, noise, objective.weights),
                                         result(131072, large, noise, objective.weights)});
}

const asterope_copy kCopy = made_up_small("stepped XMM down 128", "stepped", "XMM", "down", 128);

} // namespace

TEST(ExpectedGain, is_each_bands_share_of_time_less_what_its_copies_take_then) {
    const auto outcome = expected_gain(made_up_program(), pipelines(1, 2, 0), std::nullopt, {});
    EXPECT_NEAR(outcome.saved->median, 0.2 / 2, 1e-9);
    EXPECT_EQ(outcome.name, "fetcher");
    ASSERT_EQ(outcome.bands.size(), 2u);
    EXPECT_NEAR(outcome.bands[1].ratio.median, 2, 1e-9);
    EXPECT_EQ(outcome.bands[1].up_to, kLargestCopy);
    const auto loss = expected_gain(made_up_program(), pipelines(0.5, 1, 0), std::nullopt, {});
    EXPECT_NEAR(loss.saved->median, -0.1, 1e-9);
}

TEST(ExpectedGain, is_nothing_for_certain_where_all_is_as_fast_as_libc) {
    const auto outcome = expected_gain(made_up_program(), pipelines(1, 1, 0), std::nullopt, {});
    EXPECT_NEAR(outcome.saved->median, 0, 1e-12);
    EXPECT_NEAR(outcome.saved->low, outcome.saved->high, 1e-9);
}

TEST(ExpectedGain, is_as_uncertain_as_the_programs_share_and_the_copies_times) {
    const auto by_share = expected_gain(made_up_program(), pipelines(1, 2, 0), std::nullopt, {});
    EXPECT_NEAR(by_share.saved->low, 0.09, 1e-9); // the share is known to a tenth
    EXPECT_NEAR(by_share.saved->high, 0.11, 1e-9);
    const auto by_both = expected_gain(made_up_program(), pipelines(1, 2, 0.2), std::nullopt, {});
    EXPECT_LT(by_both.saved->low, by_share.saved->low);
    EXPECT_GT(by_both.saved->high, by_share.saved->high);
}

TEST(ExpectedGain, counts_what_a_copy_saves_its_reader_as_saved_of_the_copys_own_time) {
    // Uncached copies that are read: 3 of libc's together with the reader, 1 alone; ours saves 0.5.
    const auto measured = [](double libc, double ratio) {
        return Measured{libc / ratio, libc, {ratio, ratio, ratio}};
    };
    Finalist finalist{0, {}, 1, false};
    finalist.workloads = {{Workload::cold, measured(1, 1)}, {Workload::consume, measured(3, 1.2)}};
    Program program = made_up_program();
    program.bands[1].situations = {1, 0, 0, 0};
    const Objective objective{"recorded", {{Workload::consume, 1.0}}};
    PipelineFacts facts = made_up_pipelines(objective, {{131072, {finalist}, {}, 15}});
    const auto outcome = expected_gain(program, facts, std::nullopt, {});
    EXPECT_NEAR(outcome.bands[1].ratio.median, 2, 1e-9);
    EXPECT_NEAR(outcome.saved->median, (0.1 + 0.2) * 0.5, 1e-9);
}

TEST(ExpectedGain, takes_the_small_copies_from_mixes_of_sizes_alone) {
    const auto measured = [](double ratio) { return Measured{1, ratio, {ratio, ratio, ratio}}; };
    Finalist winner{0, {}, 1, false};
    winner.workloads = {{Workload::mix_l1, measured(4)}, {Workload::fixed, measured(0.25)}};
    const SmallFacts small{"fetcher", "balanced", {&kCopy}, {0, {winner}, {}, 15}};
    const Weights weights = {{Workload::mix_l1, 0.5}, {Workload::fixed, 0.5}};
    const auto outcome = expected_gain(made_up_program(), pipelines(1, 1, 0), small, weights);
    EXPECT_NEAR(outcome.bands[0].ratio.median, 4, 1e-9);
    EXPECT_NEAR(outcome.saved->median, 0.1 * 0.75, 1e-9);
}

TEST(ExpectedSentence, says_the_share_and_how_much_faster_or_slower_in_percent) {
    ProgramOutcome outcome{"redis", {0.031, 0.028, 0.034}, {}, Estimate{0.012, 0.009, 0.015}};
    EXPECT_EQ(expected_sentence(outcome),
              "redis spends 3.1 % of its time copying (2.8 to 3.4). With this routine it is "
              "expected to be 1.2 % faster (0.9 to 1.5): asterope-prove measures it.");
    outcome.saved = Estimate{-0.012, -0.015, -0.009};
    EXPECT_NE(expected_sentence(outcome).find("1.2 % slower (0.9 to 1.5)"), std::string::npos);
    outcome.saved = Estimate{0, -0.25, 0.2};
    EXPECT_NE(expected_sentence(outcome).find("about as fast (+0.0 %, -20.0 to +25.0)"),
              std::string::npos);
    outcome.saved = Estimate{0.2, 0.1, 0.5};
    EXPECT_NE(expected_sentence(outcome).find("25.0 % faster (11.1 to 100.0)"), std::string::npos);
}
