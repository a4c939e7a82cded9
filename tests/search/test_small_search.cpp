// The search for the small copy, on made-up machines whose best one is known.
#include "search/small_search.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

#include "base/error.hpp"
#include "support/known_machine.hpp"

using namespace asterope;

namespace {

using Space = std::vector<const asterope_copy*>;

const std::vector<Workload> kMix = {Workload::mix_l1, Workload::mix_l2, Workload::mix_l3};
const std::vector<Workload> kMixRead = {Workload::mix_l1_read, Workload::mix_l2_read,
                                        Workload::mix_l3_read};

const Space& whole_space() {
    static const Space space =
        copies_of(asterope_small_copies, [](std::string_view) { return true; });
    return space;
}

bool is_masked(Entrant entrant) {
    return std::string_view(whole_space()[static_cast<std::size_t>(entrant)]->name)
        .starts_with("masked ");
}

std::vector<Entrant> all_of(const Space& space) {
    std::vector<Entrant> entrants;
    for (std::size_t i = 0; i < space.size(); ++i) entrants.push_back(static_cast<Entrant>(i));
    return entrants;
}

/// Everybody at libc's speed in everything.
KnownMachine::Ratios flat() {
    KnownMachine::Ratios ratios;
    for (const auto& [workload, weight] : parse_small_weights("balanced")) {
        ratios[workload].assign(whole_space().size(), 1);
    }
    return ratios;
}

void set(KnownMachine::Ratios& ratios, Entrant entrant, double mix, double mix_read, double fixed,
         double fixed_read) {
    const auto at = static_cast<std::size_t>(entrant);
    for (const Workload workload : kMix) ratios[workload][at] = mix;
    for (const Workload workload : kMixRead) ratios[workload][at] = mix_read;
    ratios[Workload::fixed][at] = fixed;
    ratios[Workload::fixed_read][at] = fixed_read;
}

SizeResult search(KnownMachine& machine, const std::string& objective, std::uint64_t seed = 1,
                  const std::string& rigor = "quick") {
    noise::Random random(seed);
    return search_small(all_of(whole_space()), plain_small(whole_space()),
                        parse_small_weights(objective), parse_rigor(rigor), random, machine);
}

Entrant winner(const SizeResult& result) {
    return result.finalists.front().candidate;
}

/// The weighted geometric mean of what is true of an entrant.
double mean(const KnownMachine& machine, Entrant entrant, const std::string& objective) {
    double logs = 0, sum = 0;
    for (const auto& [workload, weight] : parse_small_weights(objective)) {
        logs += weight * std::log(machine.ratio(entrant, workload));
        sum += weight;
    }
    return std::exp(logs / sum);
}

} // namespace

// --- What counts ---------------------------------------------------------------------------------

TEST(ParseSmallWeights, has_all_workloads_in_every_objective) {
    for (const char* objective : {"balanced", "unpredictable", "predictable"}) {
        std::set<Workload> workloads;
        for (const auto& [workload, weight] : parse_small_weights(objective)) {
            EXPECT_TRUE(workloads.insert(workload).second);
            EXPECT_GE(weight, 0);
        }
        EXPECT_EQ(workloads.size(), 10u) << objective;
    }
}

TEST(ParseSmallWeights, counts_what_is_unpredictable_double_in_the_balance) {
    const auto of = [](const std::string& objective, const std::vector<Workload>& workloads) {
        double sum = 0;
        for (const auto& [workload, weight] : parse_small_weights(objective)) {
            const bool counted =
                std::find(workloads.begin(), workloads.end(), workload) != workloads.end();
            if (counted) sum += weight;
        }
        return sum;
    };
    const double mix = of("balanced", kMix), fixed = of("balanced", {Workload::fixed});
    EXPECT_NEAR(mix, of("balanced", kMixRead), 1e-12);
    EXPECT_NEAR(fixed, of("balanced", {Workload::fixed_read}), 1e-12);
    EXPECT_NEAR(mix, 2 * fixed, 1e-12);
    EXPECT_EQ(of("unpredictable", {Workload::fixed, Workload::fixed_read}), 0);
    EXPECT_NEAR(of("unpredictable", kMix), of("unpredictable", kMixRead), 1e-12);
    EXPECT_GT(of("unpredictable", kMix), 0);
    EXPECT_EQ(of("predictable", kMix) + of("predictable", kMixRead), 0);
    EXPECT_GT(of("predictable", {Workload::fixed_read}), 0);
}

TEST(ParseSmallWeights, counts_page_ends_a_quarter_in_every_objective) {
    for (const char* objective : {"balanced", "unpredictable", "predictable"}) {
        double page_ends = 0, sum = 0;
        for (const auto& [workload, weight] : parse_small_weights(objective)) {
            sum += weight;
            if (workload == Workload::page_end || workload == Workload::page_end_read) {
                page_ends += weight;
            }
        }
        EXPECT_NEAR(page_ends / sum, 1.0 / 4, 1e-12) << objective;
    }
}

TEST(TimedWeights, are_those_of_what_was_timed_or_all_where_nobody_knows) {
    const Weights weights = {{Workload::mix_l1, 2}, {Workload::fixed, 0}, {Workload::page_end, 1}};
    EXPECT_EQ(timed_weights(weights, [](Workload one) { return one != Workload::page_end; }),
              (Weights{{Workload::mix_l1, 2}, {Workload::fixed, 0}}));
    EXPECT_EQ(timed_weights(weights, [](Workload) { return false; }), weights);
}

TEST(ParseSmallWeights, refuses_anything_else) {
    for (const char* text : {"", "Balanced", "both", "balanced ", "unpredictable,predictable"}) {
        EXPECT_THROW(parse_small_weights(text), BadInput) << text;
    }
    try {
        parse_small_weights(std::string(1000, 'x'));
        FAIL();
    } catch (const BadInput& error) {
        EXPECT_LT(std::string(error.what()).size(), 150u);
    }
}

TEST(Suited, holds_only_what_a_reader_can_be_forwarded_from_where_sizes_are_predictable) {
    const Space space = whole_space();
    const auto all = all_of(space), chosen = suited(all, space, "predictable");
    EXPECT_FALSE(chosen.empty());
    for (const Entrant entrant : all) {
        const bool is_chosen = std::find(chosen.begin(), chosen.end(), entrant) != chosen.end();
        const std::string_view name = space[static_cast<std::size_t>(entrant)]->name;
        EXPECT_EQ(is_chosen, name.starts_with("stepped ")) << name;
    }
}

TEST(Suited, holds_all_for_the_other_objectives) {
    const Space space = whole_space();
    EXPECT_EQ(suited(all_of(space), space, "balanced"), all_of(space));
    EXPECT_EQ(suited(all_of(space), space, "unpredictable"), all_of(space));
}

// --- The winner ----------------------------------------------------------------------------------

// The masked move and overlapping stores as they were measured; everything else loses to libc.
TEST(SmallSearch, chooses_by_the_objective) {
    KnownMachine::Ratios ratios = flat();
    Entrant masked = kLibc, grouped = kLibc;
    for (const Entrant entrant : all_of(whole_space())) {
        set(ratios, entrant, 0.9, 0.95, 0.9, 0.9);
        const std::string name = whole_space()[static_cast<std::size_t>(entrant)]->name;
        if (name == "masked ZMM up 256") masked = entrant;
        if (name == "grouped ZMM up 256") grouped = entrant;
    }
    ASSERT_GE(std::min(masked, grouped), 0);
    set(ratios, masked, 3, 1.08, 1.1, 0.5);
    set(ratios, grouped, 1.2, 1.0, 1.05, 1.05);
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        JitteryMachine one(ratios, 0.005, seed), two(ratios, 0.005, seed),
            both(ratios, 0.005, seed);
        EXPECT_EQ(winner(search(one, "unpredictable", seed)), masked);
        EXPECT_EQ(winner(search(two, "predictable", seed)), grouped);
        // what the masked move loses when read is weighed, not forbidden
        EXPECT_EQ(winner(search(both, "balanced", seed)), masked);
    }
}

// The masked move as it was measured beside pages that are not there, when it did not look for
// them.
TEST(SmallSearch, takes_no_copy_that_falls_off_a_cliff_at_page_ends) {
    KnownMachine::Ratios ratios = flat();
    for (const Entrant entrant : all_of(whole_space())) {
        const auto at = static_cast<std::size_t>(entrant);
        set(ratios, entrant, 1.1, 1.0, 1.0, 1.0);
        if (!is_masked(entrant)) continue;
        set(ratios, entrant, 2, 1, 1.1, 0.6);
        ratios[Workload::page_end][at] = 0.18;
        ratios[Workload::page_end_read][at] = 0.3;
    }
    for (const char* objective : {"balanced", "unpredictable", "predictable"}) {
        KnownMachine machine(ratios);
        EXPECT_FALSE(is_masked(winner(search(machine, objective)))) << objective;
    }
    // and where it looks for the page's end before it moves, it wins
    for (const Entrant entrant : all_of(whole_space())) {
        if (!is_masked(entrant)) continue;
        ratios[Workload::page_end][static_cast<std::size_t>(entrant)] = 0.8;
        ratios[Workload::page_end_read][static_cast<std::size_t>(entrant)] = 0.9;
    }
    KnownMachine machine(ratios);
    EXPECT_TRUE(is_masked(winner(search(machine, "unpredictable"))));
}

TEST(SmallSearch, takes_the_best_mean_where_all_lose_somewhere) {
    KnownMachine::Ratios ratios = flat();
    for (const Entrant entrant : all_of(whole_space())) {
        if (is_masked(entrant)) {
            set(ratios, entrant, 3, 1.08, 1.1, 0.5);
        } else {
            set(ratios, entrant, 1.2, 1.0, 0.9, 0.9);
        }
    }
    KnownMachine machine(ratios);
    EXPECT_TRUE(is_masked(winner(search(machine, "balanced"))));
}

TEST(SmallSearch, finds_the_best_of_a_noisy_machine) {
    for (const char* objective : {"balanced", "unpredictable", "predictable"}) {
        double worst = 1;
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            noise::Random random(seed);
            KnownMachine::Ratios ratios = flat();
            for (const Entrant entrant : all_of(whole_space())) {
                const double level = 1 + 0.3 * noise::uniform(random);
                set(ratios, entrant, level, 1 + 0.1 * noise::uniform(random), level, 1);
            }
            NoisyMachine machine(ratios, 0.01, seed);
            double best = 0;
            for (const Entrant entrant : all_of(whole_space())) {
                best = std::max(best, mean(machine, entrant, objective));
            }
            const Entrant found = winner(search(machine, objective, seed));
            worst = std::min(worst, mean(machine, found, objective) / best);
        }
        EXPECT_GE(worst, 0.97) << objective;
    }
}

TEST(SmallSearch, gives_a_tie_to_the_simplest) {
    KnownMachine machine(flat());
    EXPECT_EQ(winner(search(machine, "balanced")), 0);
}

TEST(SmallSearch, tells_all_figures_of_everybody_whatever_the_objective) {
    KnownMachine::Ratios ratios = flat();
    for (const Entrant entrant : all_of(whole_space())) {
        set(ratios, entrant, 1.5, 1.25, 1.1, 0.75);
    }
    for (const char* objective : {"balanced", "unpredictable", "predictable"}) {
        KnownMachine machine(ratios);
        const SizeResult result = search(machine, objective);
        EXPECT_EQ(result.size, 0u);
        EXPECT_EQ(result.noise_floor.size(), 10u);
        for (const Finalist& finalist : result.finalists) {
            ASSERT_EQ(finalist.workloads.size(), 10u) << objective;
            for (const auto& [workload, measured] : finalist.workloads) {
                EXPECT_NEAR(measured.ratio.median, machine.ratio(finalist.candidate, workload),
                            1e-9);
            }
            EXPECT_NEAR(finalist.ratio, mean(machine, finalist.candidate, objective), 1e-9);
        }
    }
}

// --- Who is timed, and when ----------------------------------------------------------------------

TEST(SmallSearch, times_everybody_in_the_workloads_that_count) {
    KnownMachine machine(flat());
    const SizeResult result = search(machine, "unpredictable");
    std::set<Entrant> in_mix, in_fixed;
    for (const auto& [size, workload, entrant, round] : machine.calls) {
        EXPECT_EQ(size, 0u);
        if (entrant < 0) continue;
        const bool fixed = workload == Workload::fixed || workload == Workload::fixed_read;
        (fixed ? in_fixed : in_mix).insert(entrant);
    }
    EXPECT_EQ(in_mix.size(), whole_space().size());
    EXPECT_EQ(in_fixed.size(), result.finalists.size()); // for the record
}

TEST(SmallSearch, has_the_finalists_and_twice_the_rounds_of_the_rigor) {
    for (const char* name : {"quick", "standard", "exhaustive"}) {
        KnownMachine machine(flat());
        const SizeResult result = search(machine, "balanced", 1, name);
        const Rigor rigor = parse_rigor(name);
        EXPECT_EQ(result.finalists.size(), static_cast<std::size_t>(rigor.finalists));
        EXPECT_EQ(result.rounds, 2 * rigor.rounds);
    }
}

TEST(SmallSearch, times_the_same_in_the_same_order_for_the_same_seed) {
    KnownMachine one(flat()), two(flat()), other(flat());
    search(one, "balanced", 42);
    search(two, "balanced", 42);
    search(other, "balanced", 43);
    EXPECT_TRUE(one.calls == two.calls);
    EXPECT_FALSE(one.calls == other.calls);
}

TEST(SmallSearch, times_no_entrant_that_was_left_out) {
    std::vector<Entrant> entrants = all_of(whole_space());
    std::erase_if(entrants, is_masked);
    KnownMachine machine(flat());
    noise::Random random(1);
    search_small(entrants, plain_small(whole_space()), parse_small_weights("balanced"),
                 parse_rigor("quick"), random, machine);
    for (const KnownMachine::Call& call : machine.calls) {
        ASSERT_FALSE(std::get<2>(call) >= 0 && is_masked(std::get<2>(call)));
    }
}

TEST(SmallSearch, works_with_one_entrant_and_fails_with_none) {
    KnownMachine machine(flat());
    noise::Random random(1);
    const Weights weights = parse_small_weights("balanced");
    EXPECT_EQ(winner(search_small({3}, kLibc, weights, parse_rigor("quick"), random, machine)), 3);
    EXPECT_THROW(search_small({}, kLibc, weights, parse_rigor("quick"), random, machine), Failure);
}

TEST(SmallSearch, gives_what_noise_hides_to_the_plain_copy) {
    const Entrant plain = plain_small(whole_space());
    EXPECT_STREQ(whole_space()[static_cast<std::size_t>(plain)]->name, "stepped XMM middle 128");
    KnownMachine::Ratios ratios = flat();
    set(ratios, plain, 0.9, 0.9, 0.9, 0.9);
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        JitteryMachine loud(ratios, 4, seed);
        const SizeResult result = search(loud, "balanced", seed);
        EXPECT_EQ(winner(result), plain);
        EXPECT_TRUE(result.undecided);
        JitteryMachine quiet(ratios, 0.005, seed);
        EXPECT_FALSE(search(quiet, "balanced", seed).undecided);
    }
}
