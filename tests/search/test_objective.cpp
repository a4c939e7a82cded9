// Objectives: the workloads that count, and their weights.
#include "search/objective.hpp"

#include "support/unit_test.hpp"

namespace {

std::string refusal(std::string_view workload) {
    return refusal_of([&] { parse_objective(workload); }, "accepted");
}

Weights mix(std::string_view weights) {
    return parse_objective(weights).weights;
}

const std::string kChoices =
    "hot, hot_read, cold, cold_walk, consume, consume_walk, produce, produce_read, produce_walk, "
    "produce_again, produce_copied, fetch, fetch_walk, lookup, "
    "fresh, fresh_read, fresh_hot, fresh_hot_read, fresh_huge, fresh_huge_read, fresh_huge_hot, "
    "fresh_small or bystander";

} // namespace

// Each situation counts alike at every size: as two orders or one, and a look-up where it is timed.
TEST(WeightsAt, give_what_a_walk_weighs_to_random_places_where_walks_are_not_timed) {
    const Objective balanced = parse_objective("balanced");
    EXPECT_EQ(balanced.name, "balanced");
    for (const auto& [size, situations] :
         std::map<std::size_t, double>{{512, 7}, {4096, 8}, {1 << 20, 7.75}, {8 << 20, 8}}) {
        const std::pair<std::vector<Workload>, double> parts[] = {
            {{Workload::hot}, 1},
            {{Workload::hot_read}, 1},
            {{Workload::produce}, 1},
            {{Workload::produce_read}, 1},
            {{Workload::produce_walk}, 0},
            {{Workload::cold, Workload::cold_walk}, 1},
            {{Workload::consume, Workload::consume_walk}, 1},
            {{Workload::fetch, Workload::fetch_walk}, 1},
            {{Workload::lookup}, size == 4096 ? 1.0 : 0.0},
            {{Workload::fresh}, size > 65536 ? 0.25 : 0},
            {{Workload::fresh_read}, size > 65536 ? 0.25 : 0},
            {{Workload::fresh_hot}, size > 65536 ? 0.25 : 0},
            {{Workload::fresh_huge}, size > (1 << 20) ? 0.25 : 0},
            {{Workload::cold_walk}, size > (4 << 20) ? 0 : 0.5},
        };
        for (const auto& [workloads, part] : parts) {
            double share = 0;
            for (const Workload one : workloads) {
                share += weight_of(weights_at(size, balanced.weights), one);
            }
            EXPECT_NEAR(share * situations, part, 1e-12) << size << name_of(workloads.front());
        }
    }
}

TEST(WeightsAt, leave_out_what_is_not_timed_but_never_all_that_counts) {
    const auto at = [](std::size_t size, std::string_view weights) {
        return weights_at(size, mix(weights));
    };
    EXPECT_EQ(at(1 << 20, "hot=1,lookup=3"), (Weights{{Workload::hot, 1}}));
    EXPECT_EQ(at(1 << 20, "lookup=3"), (Weights{{Workload::fetch, 1}}));
    EXPECT_EQ(at(4096, "lookup=3"), (Weights{{Workload::lookup, 1}}));
    EXPECT_EQ(at(1 << 20, "fresh_huge=1"), (Weights{{Workload::fresh, 1}}));
    EXPECT_EQ(at(4096, "fresh_huge=1"), (Weights{{Workload::cold, 1}})); // fresh is from 64 KiB on
    EXPECT_EQ(at(8 << 20, "hot=1,fresh=1"),
              (Weights{{Workload::hot, 0.5}, {Workload::fresh, 0.5}}));
    EXPECT_EQ(at(8 << 20, "cold_walk=1,hot=1"),
              (Weights{{Workload::hot, 0.5}, {Workload::cold, 0.5}}));
    // what is only measured stays so
    EXPECT_EQ(weights_at(8 << 20, {{Workload::hot, 1}, {Workload::cold_walk, 0}}),
              (Weights{{Workload::hot, 1}}));
    EXPECT_EQ(weights_at(0, {{Workload::mix_l1, 1}, {Workload::fixed, 3}}),
              (Weights{{Workload::mix_l1, 0.25}, {Workload::fixed, 0.75}}));
}

TEST(WithIntents, count_the_walks_of_their_workload) {
    const std::vector<Objective> all = with_intents(parse_objective("balanced"), {});
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[1].weights, (Weights{{Workload::hot, 1}}));
    EXPECT_EQ(all[2].weights, (Weights{{Workload::cold, 0.5}, {Workload::cold_walk, 0.5}}));
    EXPECT_EQ(all[3].weights, (Weights{{Workload::consume, 0.5}, {Workload::consume_walk, 0.5}}));
    const std::vector<Objective> mixed = with_intents(parse_objective("hot=1,cold_walk=1"), {});
    ASSERT_EQ(mixed.size(), 3u);
    EXPECT_EQ(mixed[2].name, "cold_walk");
}

TEST(ScreeningWeights, are_of_what_counts_but_fetch_unless_that_counts_alone) {
    EXPECT_EQ(
        screening_weights({{Workload::hot, 0.5}, {Workload::fetch, 0.25}, {Workload::cold, 0}}),
        (Weights{{Workload::hot, 0.5}}));
    EXPECT_EQ(screening_weights({{Workload::hot, 0}, {Workload::fetch, 1}}),
              (Weights{{Workload::fetch, 1}}));
    EXPECT_TRUE(screening_weights({}).empty());
}

TEST(RunOffEvery, is_every_round_but_for_fresh_memory_that_counts_little) {
    const Weights weights = {
        {Workload::hot, 0.01}, {Workload::fresh, 0.04}, {Workload::fresh_huge, 0.05}};
    EXPECT_EQ(run_off_every(weights, Workload::hot), 1);
    EXPECT_EQ(run_off_every(weights, Workload::fresh), 3);
    EXPECT_EQ(run_off_every(weights, Workload::fresh_huge), 1);
    EXPECT_EQ(run_off_every(weights, Workload::fresh_read), 3); // for the record
    EXPECT_EQ(run_off_every(weights, Workload::cold), 1);
}

TEST(ParseObjective, mixes_what_has_weight_by_shares_in_the_order_of_workloads) {
    const Objective objective = parse_objective("hot=1,consume=3");
    EXPECT_EQ(objective.name, "weights");
    EXPECT_EQ(objective.weights, (Weights{{Workload::hot, 0.25}, {Workload::consume, 0.75}}));
    EXPECT_EQ(mix("produce=0.001"), (Weights{{Workload::produce, 1}}));
    EXPECT_EQ(mix("cold=.5,hot=5e-1"), (Weights{{Workload::hot, 0.5}, {Workload::cold, 0.5}}));
    EXPECT_EQ(mix("produce=1,hot=1,consume=1,cold=1"),
              equal_weights({Workload::hot, Workload::cold, Workload::consume, Workload::produce}));
    EXPECT_EQ(mix("hot=0,cold=2,produce=0.0"), (Weights{{Workload::cold, 1}}));
}

TEST(ParseObjective, names_what_it_refuses_and_the_choices) {
    const std::string example = ", as in hot=1,consume=2";
    const std::pair<std::string, std::vector<std::string>> weights[] = {
        {"is not a finite number from 0 up" + example,
         {"hot=-1", "hot=nan", "hot=inf", "hot=", "hot= 1", "hot=+1", "hot=1=2", "hot=1e999"}},
        {"does not name a workload to tune for: choose " + kChoices,
         {"warm=1", "Hot=1", " hot=1", "hot =1", "=1", "aliased=1", "mix_l1=2", "balanced=1"}},
        {"is not a pair of a workload and a number: write NAME=NUMBER for " + kChoices + example,
         {"hot", "1", " ", "", ",hot=1"}},
    };
    for (const auto& [why, items] : weights) {
        for (const std::string& item : items) {
            const std::string said = "weight '" + item.substr(0, item.find(',')) + "' " + why;
            EXPECT_EQ(refusal("cold=1," + item), said);
            EXPECT_TRUE(item.find('=') == item.npos || refusal(item) == said) << "alone: " << item;
        }
    }
    EXPECT_EQ(refusal("hot=1,cold=2,hot=1"),
              "weight 'hot=1' names its workload again: give each of " + kChoices +
                  " one number at most");
    for (const char* text : {"", "Hot", "hot,cold", "balanced ", "mix_l1", "aliased", "weights"}) {
        EXPECT_EQ(refusal(text), "workload '" + std::string(text) + "' is unknown, and not a mix" +
                                     example + ": choose balanced, " + kChoices);
    }
    EXPECT_EQ(refusal("hot=0,cold=0.0"),
              "weights 'hot=0,cold=0.0' are all 0: give one of " + kChoices + " more" + example);
    for (const char* end : {"", "="}) {
        EXPECT_LT(refusal(std::string(100000, 'w') + end).size(), kChoices.size() + 135);
    }
}

TEST(ForMappedSource, refuses_what_writes_its_source_but_balanced_does_without) {
    for (const char* text : {"hot", "cold", "consume", "hot=1,produce=0"}) {
        EXPECT_EQ(for_mapped_source(parse_objective(text)).weights, mix(text));
    }
    double sum = 0;
    for (const auto& [workload, weight] : for_mapped_source(parse_objective("balanced")).weights) {
        EXPECT_NE(workload, Workload::produce);
        sum += weight;
    }
    EXPECT_NEAR(sum, 1, 1e-12);
    for (const char* text : {"produce", "hot=1,produce=2"}) {
        EXPECT_EQ(refusal_of([&] { for_mapped_source(parse_objective(text)); }),
                  "workload produce writes its source, but a source map is only read: choose "
                  "another workload, or leave out --source-map");
    }
}

TEST(ObjectiveOfSets, keeps_what_a_set_has_and_is_that_of_all_programs_where_that_is_nothing) {
    const Objective hot = objective_of_sets(parse_objective("hot"));
    EXPECT_EQ(hot.name, "hot");
    EXPECT_EQ(weight_of(hot.weights, Workload::hot), 1);
    const Objective mix = objective_of_sets(parse_objective("hot=1,consume=2,fetch=3"));
    EXPECT_EQ(mix.weights.size(), 2u);
    EXPECT_DOUBLE_EQ(weight_of(mix.weights, Workload::consume), 2.0 / 3);
    for (const char* name : {"balanced", "fetch"}) {
        const Objective objective = objective_of_sets(parse_objective(name));
        EXPECT_EQ(objective.name, "balanced") << name;
        EXPECT_EQ(objective.weights.size(), kSets.size()) << name;
        for (const Workload one : kSets) EXPECT_GT(weight_of(objective.weights, one), 0) << name;
    }
}
