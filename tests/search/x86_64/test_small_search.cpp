// The search for the small copy, on made-up machines whose best one is known.
#include "search/small_search.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

#include "base/contains.hpp"
#include "base/error.hpp"
#include "support/kinds.hpp"
#include "support/known_machine.hpp"

using namespace asterope;

namespace {

using SmallSpace = std::vector<const asterope_copy*>;

const std::vector<Workload> kMix = {Workload::mix_l1, Workload::spread, Workload::mix_l2,
                                    Workload::mix_l3, Workload::mix_memory};
const std::vector<Workload> kMixRead = {Workload::mix_l1_read, Workload::mix_l2_read,
                                        Workload::mix_l3_read, Workload::mix_memory_read};
constexpr const char* kObjectives[] = {"balanced", "unpredictable", "predictable"};

/// What copies are chosen for by default, or of that page ends and one part of the rest.
Weights weights_for(std::string_view objective) {
    Weights weights = small_weights();
    for (auto& [workload, weight] : weights) {
        if (objective == "balanced") break;
        const bool single = std::string_view(asterope::name_of(workload)).starts_with("fixed");
        if (workload == Workload::page_end || workload == Workload::page_end_read) {
            weight /= 2; // a quarter of what is left
        } else if (single != (objective == "predictable")) {
            weight = 0;
        }
    }
    return weights;
}

const SmallSpace& all_small_copies() {
    static const SmallSpace space = copies_of(kSmallCopies, [](std::string_view) { return true; });
    return space;
}

std::string_view name_of(Entrant entrant) {
    return all_small_copies()[static_cast<std::size_t>(entrant)]->name;
}

bool is_masked(Entrant entrant) {
    return name_of(entrant).starts_with("masked ");
}

std::vector<Entrant> all() {
    std::vector<Entrant> entrants;
    for (std::size_t i = 0; i < all_small_copies().size(); ++i) {
        entrants.push_back(static_cast<Entrant>(i));
    }
    return entrants;
}

/// Of one entrant: libc's time over its own.
struct SmallTruth {
    double mix, mix_read, fixed, fixed_read, page_end = 1, page_end_read = 1;
};

/// All as `truth` says.
KnownMachine::Ratios ratios_of(const std::function<SmallTruth(Entrant)>& truth) {
    KnownMachine::Ratios ratios;
    for (const Entrant entrant : all()) {
        const SmallTruth one = truth(entrant);
        for (const Workload workload : kMix) ratios[workload].push_back(one.mix);
        for (const Workload workload : kMixRead) ratios[workload].push_back(one.mix_read);
        for (const Workload workload : {Workload::fixed, Workload::fixed_walk}) {
            ratios[workload].push_back(one.fixed);
        }
        for (const Workload workload : {Workload::fixed_read, Workload::fixed_walk_read}) {
            ratios[workload].push_back(one.fixed_read);
        }
        ratios[Workload::page_end].push_back(one.page_end);
        ratios[Workload::page_end_read].push_back(one.page_end_read);
    }
    return ratios;
}

/// All at libc's speed.
KnownMachine::Ratios flat() {
    return ratios_of([](Entrant) { return SmallTruth{1, 1, 1, 1}; });
}

SizeResult small_search(KnownMachine& machine, const std::string& objective, std::uint64_t seed = 1,
                        const std::string& rigor = "quick",
                        const std::vector<Entrant>& entrants = all()) {
    noise::Random random(seed);
    return search_small(entrants, plain_small(all_small_copies()), weights_for(objective),
                        parse_rigor(rigor), random, machine);
}

Entrant small_winner(const SizeResult& result) {
    return result.finalists.front().candidate;
}

/// The weighted geometric mean of what is true of an entrant.
double mean(const KnownMachine& machine, Entrant entrant, const std::string& objective) {
    double logs = 0, sum = 0;
    for (const auto& [workload, weight] : weights_for(objective)) {
        logs += weight * std::log(machine.ratio(entrant, workload));
        sum += weight;
    }
    return std::exp(logs / sum);
}

} // namespace

// --- What counts ---------------------------------------------------------------------------------

TEST(SmallWeights, count_reading_as_much_page_ends_a_quarter_and_single_sizes_as_mixes) {
    const Weights weights = small_weights();
    std::map<Workload, double> share;
    double sum = 0;
    for (const auto& [workload, weight] : weights) sum += weight;
    for (const auto& [workload, weight] : weights) {
        EXPECT_TRUE(share.emplace(workload, weight / sum).second) << "named twice";
    }
    EXPECT_EQ(share.size(), 15u);
    double mix = 0, mix_read = 0;
    for (const Workload workload : kMix) mix += share.at(workload);
    for (const Workload workload : kMixRead) mix_read += share.at(workload);
    for (const double half : {mix, mix_read}) EXPECT_NEAR(half, 0.375 / 2, 1e-12);
    for (const Workload fixed :
         {Workload::fixed, Workload::fixed_read, Workload::fixed_walk, Workload::fixed_walk_read}) {
        EXPECT_NEAR(share.at(fixed), 0.375 / 4, 1e-12);
    }
    EXPECT_NEAR(share.at(Workload::page_end) + share.at(Workload::page_end_read), 0.25, 1e-12);
}

// --- The winner ----------------------------------------------------------------------------------

// The masked move and overlapping stores as they were measured; everything else loses to libc.
TEST(SmallSearch, chooses_by_the_objective) {
    const std::string masked = "masked ZMM up 256", grouped = "grouped ZMM up 256";
    const auto ratios = ratios_of([&](Entrant entrant) {
        if (name_of(entrant) == masked) return SmallTruth{3, 1.08, 1.1, 0.5};
        if (name_of(entrant) == grouped) return SmallTruth{1.2, 1.0, 1.05, 1.05};
        return SmallTruth{0.9, 0.95, 0.9, 0.9};
    });
    // In the balance, what the masked move loses when read counts several times.
    const std::map<std::string, std::string> winners = {
        {"unpredictable", masked}, {"predictable", grouped}, {"balanced", grouped}};
    for (const auto& [objective, expected] : winners) {
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            JitteryMachine machine(ratios, 0.005, seed);
            EXPECT_EQ(name_of(small_winner(small_search(machine, objective, seed))), expected)
                << objective;
        }
    }
}

// The masked move as it was measured beside pages that are not there: when it did not look for
// them, and where it does before it moves.
TEST(SmallSearch, takes_no_copy_that_falls_off_a_cliff_at_page_ends) {
    const auto ratios = [](double page_end, double page_end_read) {
        return ratios_of([=](Entrant entrant) {
            return is_masked(entrant) ? SmallTruth{2, 1, 1.1, 0.6, page_end, page_end_read}
                                      : SmallTruth{1.1, 1, 1, 1};
        });
    };
    for (const char* objective : kObjectives) {
        KnownMachine machine(ratios(0.18, 0.3));
        EXPECT_FALSE(is_masked(small_winner(small_search(machine, objective)))) << objective;
    }
    KnownMachine machine(ratios(0.8, 0.9));
    EXPECT_TRUE(is_masked(small_winner(small_search(machine, "unpredictable"))));
}

TEST(SmallSearch, takes_the_best_mean_where_all_lose_somewhere_and_the_simplest_of_a_tie) {
    KnownMachine losing(ratios_of([](Entrant entrant) {
        return is_masked(entrant) ? SmallTruth{3, 1.08, 1.1, 0.7} : SmallTruth{1.2, 1.0, 0.9, 0.9};
    }));
    EXPECT_TRUE(is_masked(small_winner(small_search(losing, "balanced"))));
    KnownMachine tied(flat());
    EXPECT_EQ(small_winner(small_search(tied, "balanced")), 0);
}

// Two runs find the same copy to differ by a percent or two.
TEST(SmallSearch, takes_what_stands_unless_it_is_clearly_beaten) {
    const auto standing = static_cast<Entrant>(all().size() - 1), other = standing - 3;
    for (const auto& [lead, stands] : {std::pair(1.01, true), std::pair(1.1, false)}) {
        KnownMachine machine(ratios_of([&, lead = lead](Entrant entrant) {
            const double level = entrant == other ? lead : entrant == standing ? 1 : 0.9;
            return SmallTruth{level, level, level, level, level, level};
        }));
        noise::Random random(1);
        const SizeResult result =
            search_small(all(), plain_small(all_small_copies()), small_weights(),
                         parse_rigor("quick"), random, machine, nullptr, standing);
        EXPECT_EQ(small_winner(result), stands ? standing : other) << lead;
    }
}

TEST(SmallSearch, finds_the_best_of_a_noisy_machine) {
    for (const char* objective : kObjectives) {
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            noise::Random random(seed);
            NoisyMachine machine(
                ratios_of([&](Entrant) {
                    const double level = 1 + 0.3 * noise::uniform(random);
                    return SmallTruth{level, 1 + 0.1 * noise::uniform(random), level, 1};
                }),
                0.01, seed);
            double best = 0;
            for (const Entrant entrant : all()) {
                best = std::max(best, mean(machine, entrant, objective));
            }
            const Entrant found = small_winner(small_search(machine, objective, seed));
            EXPECT_GE(mean(machine, found, objective) / best, 0.97) << objective;
        }
    }
}

// --- What is timed, and when ---------------------------------------------------------------------

TEST(SmallSearch, times_all_in_the_workloads_that_count_and_finalists_in_the_others) {
    KnownMachine machine(flat());
    const SizeResult result = small_search(machine, "unpredictable");
    std::set<Entrant> in_mix, in_fixed;
    for (const auto& [size, workload, entrant, round] : machine.calls) {
        EXPECT_EQ(size, 0u);
        if (entrant < 0) continue;
        const bool fixed = workload == Workload::fixed || workload == Workload::fixed_read;
        (fixed ? in_fixed : in_mix).insert(entrant);
    }
    EXPECT_EQ(in_mix.size(), all_small_copies().size());
    EXPECT_EQ(in_fixed.size(), result.finalists.size()); // for the record
}

TEST(SmallSearch, times_no_entrant_that_was_left_out_and_fails_with_none) {
    for (const std::vector<Entrant>& entrants : {std::vector<Entrant>{3}, {3, 5, 7}}) {
        KnownMachine machine(flat());
        EXPECT_EQ(small_winner(small_search(machine, "balanced", 1, "quick", entrants)), 3);
        for (const KnownMachine::Call& call : machine.calls) {
            ASSERT_TRUE(std::get<2>(call) < 0 || contains(entrants, std::get<2>(call)));
        }
    }
    KnownMachine machine(flat());
    EXPECT_THROW(small_search(machine, "balanced", 1, "quick", {}), Failure);
}

TEST(SmallSearch, gives_what_noise_hides_to_the_plain_copy) {
    const Entrant plain = plain_small(all_small_copies());
    EXPECT_EQ(name_of(plain), "stepped XMM middle 128");
    JitteryMachine loud(flat(), 4, 1);
    const SizeResult result = small_search(loud, "balanced");
    EXPECT_TRUE(result.undecided);
    EXPECT_EQ(small_winner(result), plain);
}
