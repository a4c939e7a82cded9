// What a recording says about how much each workload counts.
#include "search/program_weights.hpp"

#include <gtest/gtest.h>
#include <map>

#include "support/made_up_program.hpp"
#include "timing/workloads/small_calls.hpp"

using namespace asterope;

namespace {

const std::vector<std::size_t> kSizes = {128, 512, 2048, 131072, 1 << 20};

double sum_of(const WeightList& weights) {
    double sum = 0;
    for (const auto& [workload, weight] : weights) sum += weight;
    return sum;
}

double weight_at(std::size_t size, const Weights& weights, std::vector<Workload> workloads) {
    double sum = 0;
    for (const Workload one : workloads) sum += weight_of(weights_at(size, weights), one);
    return sum;
}

} // namespace

TEST(ProgramObjective, weighs_in_each_band_the_situations_that_were_recorded) {
    const Weights weights = program_objective(made_up_program(), kSizes).weights;
    const std::vector<Workload> fetches = {Workload::fetch, Workload::fetch_walk, Workload::lookup};
    // 180 probes count nine times as much as what is believed of all programs; and what is not
    // timed at a size counts there for what is.
    EXPECT_NEAR(weight_at(131072, weights, fetches), 0.9 + 0.1 * 2 / 7, 0.04);
    EXPECT_NEAR(weight_at(512, weights, {Workload::hot}), 0.9 + 0.1 / 7, 0.02);
    EXPECT_NEAR(sum_of(weights_at(512, weights)), 1, 1e-9);
    EXPECT_NEAR(sum_of(weights_at(131072, weights)), 1, 1e-9);
}

TEST(ProgramObjective, counts_copies_into_fresh_pages_apart_from_other_uncached_ones) {
    Program program = made_up_program();
    program.bands[1].situations = {0.25, 0, 0.75, 0}; // no destination is cached
    program.bands[1].fresh = 0.6;
    const Weights weights = program_objective(program, kSizes).weights;
    EXPECT_NEAR(weight_at(131072, weights, {Workload::fresh}), 0.9 * 0.6 * 0.25, 0.02);
    EXPECT_NEAR(weight_at(131072, weights, {Workload::fresh_hot}), 0.9 * 0.6 * 0.75, 0.02);
    // What was read: consume and its walk of the source that is uncached, produce of the other.
    EXPECT_NEAR(weight_at(131072, weights, {Workload::produce}), 0.9 * 0.75 * 0.4 + 0.1 / 7, 0.02);
    EXPECT_EQ(weight_of(weights_at(512, weights), Workload::fresh), 0);
}

TEST(ProgramObjective, falls_back_on_the_balanced_one_where_nothing_was_probed) {
    Program program = made_up_program();
    program.bands[0].probed = 0;
    program.bands[0].situations = {};
    const Weights weights = program_objective(program, kSizes).weights;
    const Weights balanced = parse_objective("balanced").weights;
    for (const auto& [workload, weight] : weights_at(512, balanced)) {
        EXPECT_NEAR(weight_of(weights_at(512, weights), workload), weight, 1e-9)
            << name_of(workload);
    }
}

TEST(ProgramObjective, makes_sizes_as_important_as_their_copies_take_time_and_none_unimportant) {
    const Weights weights = program_objective(made_up_program(), kSizes).weights;
    double sum = 0;
    for (const std::size_t size : kSizes) {
        EXPECT_GT(importance_of(size, weights), 0.05) << size;
        sum += importance_of(size, weights);
    }
    EXPECT_NEAR(sum, static_cast<double>(kSizes.size()), 1e-9);
    // All of the larger copies are of 128 KiB: 0.1 for each, and the rest there, up to the limit.
    EXPECT_GT(importance_of(131072, weights), 10 * importance_of(1 << 20, weights));
    EXPECT_EQ(importance_of(100000, weights), importance_of(131072, weights)); // on its way there
    EXPECT_EQ(importance_of(131073, weights), importance_of(1 << 20, weights));
}

TEST(ProgramObjective, is_recorded_and_mixes_all_bands_in_its_list) {
    const Objective objective = program_objective(made_up_program(), kSizes);
    EXPECT_EQ(objective.name, "recorded");
    EXPECT_TRUE(objective.is_broad());
    EXPECT_NEAR(sum_of(objective.weights), 1, 1e-9);
    EXPECT_GT(weight_of(objective.weights, Workload::hot), 0.25);
    EXPECT_GT(weight_of(objective.weights, Workload::fetch), 0.1);
}

TEST(ProgramObjective, screens_by_all_that_counts_where_the_quick_workloads_say_too_little) {
    const Weights weights = program_objective(made_up_program(), kSizes).weights;
    const Weights screening = screening_weights(weights);
    EXPECT_GT(weight_of(weights_at(131072, screening), Workload::fetch), 0.2);
    EXPECT_EQ(weight_of(weights_at(512, screening), Workload::fetch), 0);
}

TEST(WithSizesOf, adds_what_a_program_copies_most_unless_it_is_there_about) {
    Program program = made_up_program();
    program.statistics.sizes = Distribution({{32, 100}, {3000, 1}, {130000, 1}});
    EXPECT_EQ(with_sizes_of(program, kSizes), kSizes); // 130000 is near, 3000 are few bytes
    program.statistics.sizes = Distribution({{32, 100}, {3000, 30}, {130000, 1}});
    EXPECT_EQ(with_sizes_of(program, kSizes),
              (std::vector<std::size_t>{128, 512, 2048, 3000, 131072, 1 << 20}));
    program.statistics.sizes = Distribution({{64 << 20, 1.0}, {32, 1.0}});
    EXPECT_EQ(with_sizes_of(program, kSizes), kSizes); // beyond the largest, below the smallest
}

TEST(ProgramSmallWeights, are_of_the_caches_and_readers_that_were_recorded) {
    const auto part = [](const Weights& weights, auto holds) {
        double sum = 0;
        for (const auto& [workload, weight] : weights) {
            if (holds(facts_of(workload))) sum += weight;
        }
        return sum;
    };
    const auto mixed = [](const WorkloadFacts& one) { return one.level > 0; };
    const auto in_memory = [](const WorkloadFacts& one) { return one.level == 4; };
    const auto read = [](const WorkloadFacts& one) { return one.level > 0 && one.reads; };
    Program program = made_up_program(); // cached, never read
    const Weights cached = program_small_weights(program);
    EXPECT_NEAR(sum_of(cached), 1, 1e-9);
    EXPECT_NEAR(part(cached, mixed), 2.0 / 3, 1e-9);
    EXPECT_NEAR(part(cached, in_memory), 0, 1e-9);
    EXPECT_NEAR(part(cached, read), 0, 1e-9);
    program.bands[0].situations = {0.5, 0, 0, 0.5};
    program.bands[0].read = 1.0;
    const Weights other = program_small_weights(program);
    EXPECT_NEAR(part(other, in_memory), 1.0 / 3, 1e-9);
    EXPECT_NEAR(part(other, read), 2.0 / 3, 1e-9);
}

TEST(CopiesSmall, is_true_of_a_thousand_calls_and_not_of_a_few) {
    Program program = made_up_program();
    EXPECT_TRUE(copies_small(program));
    program.bands[0].calls = 999;
    EXPECT_FALSE(copies_small(program));
}
