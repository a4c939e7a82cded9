// The search for the small copy, on made-up machines whose best one is known.
#include "search/small_search.hpp"

#include "base/contains.hpp"
#include "support/kinds.hpp"
#include "support/known_machine.hpp"
#include "support/unit_test.hpp"

namespace {

using SmallSpace = std::vector<const asterope_copy*>;

const std::vector<Workload> kMix = {Workload::mix_l1, Workload::spread, Workload::mix_l2,
                                    Workload::mix_l3, Workload::mix_memory};
const std::vector<Workload> kMixRead = {Workload::mix_l1_read, Workload::mix_l2_read,
                                        Workload::mix_l3_read, Workload::mix_memory_read};

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
    return all_small_copies()[entrant.index()]->name;
}

bool is_masked(Entrant entrant) {
    return name_of(entrant).starts_with("masked ");
}

std::vector<Entrant> all() {
    return all_entrants(all_small_copies().size());
}

/// The truth of one entrant: libc's time over its own.
struct SmallTruth {
    double mix, mix_read, fixed, fixed_read, page_end = 1, page_end_read = 1;
};

KnownMachine::Ratios ratios_of(const std::function<SmallTruth(Entrant)>& truth) {
    const std::pair<double SmallTruth::*, std::vector<Workload>> parts[] = {
        {&SmallTruth::mix, kMix},
        {&SmallTruth::mix_read, kMixRead},
        {&SmallTruth::fixed, {Workload::fixed, Workload::fixed_walk}},
        {&SmallTruth::fixed_read, {Workload::fixed_read, Workload::fixed_walk_read}},
        {&SmallTruth::page_end, {Workload::page_end}},
        {&SmallTruth::page_end_read, {Workload::page_end_read}}};
    KnownMachine::Ratios ratios;
    for (const Entrant entrant : all()) {
        const SmallTruth one = truth(entrant);
        for (const auto& [part, workloads] : parts) {
            for (const Workload workload : workloads) ratios[workload].push_back(one.*part);
        }
    }
    return ratios;
}

KnownMachine::Ratios flat() {
    return ratios_of([](Entrant) { return SmallTruth{1, 1, 1, 1}; });
}

Entrant plain_small() {
    return member_named(all_small_copies(), asterope_copies.plain_small);
}

SizeResult small_search(KnownMachine& machine, const std::string& objective, std::uint64_t seed = 1,
                        const std::vector<Entrant>& entrants = all(), Entrant standing = kLibc) {
    noise::Random random(seed);
    return search_small(entrants, plain_small(), weights_for(objective), parse_rigor("quick"),
                        random, machine, nullptr, standing)
        .all;
}

/// The small copies for all callers and for those of entry points, on a machine without noise.
SmallResults small_copies_by_intent(const KnownMachine::Ratios& ratios) {
    KnownMachine machine(ratios);
    noise::Random random(1);
    return search_small(all(), plain_small(), small_weights(), parse_rigor("quick"), random,
                        machine, nullptr, kLibc, small_callers());
}

} // namespace

TEST(SmallWeights, count_reading_as_much_page_ends_a_quarter_and_single_sizes_as_mixes) {
    const Weights weights = scaled(small_weights());
    const std::map<Workload, double> share(weights.begin(), weights.end());
    EXPECT_EQ(weights.size(), 15u);
    EXPECT_EQ(share.size(), 15u) << "one is named twice";
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
            KnownMachine machine(ratios, noise_of_others(0.01, seed));
            EXPECT_EQ(name_of(small_search(machine, objective, seed).winner()), expected)
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
    for (const char* objective : {"balanced", "unpredictable", "predictable"}) {
        KnownMachine machine(ratios(0.18, 0.3));
        EXPECT_FALSE(is_masked(small_search(machine, objective).winner())) << objective;
    }
    KnownMachine machine(ratios(0.8, 0.9));
    EXPECT_TRUE(is_masked(small_search(machine, "unpredictable").winner()));
}

TEST(SmallCallers, have_an_entry_point_each_and_weights_that_add_up_to_one) {
    for (const auto& [told, weights] : small_callers()) {
        EXPECT_TRUE(facts_of(told).entry_point) << asterope::name_of(told);
        double sum = 0;
        for (const auto& [workload, weight] : weights) sum += weight;
        EXPECT_NEAR(sum, 1, 1e-12) << asterope::name_of(told);
    }
}

TEST(SmallSearch, gives_an_entry_point_the_copy_that_is_fastest_for_its_callers) {
    const std::string masked = "masked ZMM up 256", grouped = "grouped ZMM up 256";
    const auto found = small_copies_by_intent(ratios_of([&](Entrant entrant) {
        if (name_of(entrant) == masked) return SmallTruth{2.2, 1.0, 1.1, 0.5};
        if (name_of(entrant) == grouped) return SmallTruth{1.2, 1.1, 1.1, 1.1};
        return SmallTruth{0.9, 0.9, 0.9, 0.9};
    }));
    EXPECT_EQ(name_of(found.all.winner()), grouped);
    // Uncached calls gain as much here as cached ones. Callers that read the copies lose.
    ASSERT_EQ(found.by_intent.size(), 2u);
    for (const Workload told : {Workload::hot, Workload::cold}) {
        ASSERT_TRUE(found.by_intent.count(told));
        EXPECT_EQ(name_of(found.by_intent.at(told).winner()), masked);
    }
}

TEST(SmallSearch, gives_entry_points_no_copy_that_leads_by_a_percent) {
    const auto found = small_copies_by_intent(ratios_of([](Entrant entrant) {
        return name_of(entrant) == "masked ZMM up 256" ? SmallTruth{1.21, 1, 1.2, 0.9}
                                                       : SmallTruth{1.2, 1.1, 1.2, 1.1};
    }));
    EXPECT_TRUE(found.by_intent.empty());
}

// Two runs find the same copy to differ by a percent or two.
TEST(SmallSearch, takes_what_stands_unless_it_is_clearly_beaten) {
    const Entrant standing = all().size() - 1, other = all().size() - 4;
    for (const auto& [lead, stands] : {std::pair(1.01, true), std::pair(1.1, false)}) {
        KnownMachine machine(ratios_of([&, lead = lead](Entrant entrant) {
            const double level = entrant == other ? lead : entrant == standing ? 1 : 0.9;
            return SmallTruth{level, level, level, level, level, level};
        }));
        EXPECT_EQ(small_search(machine, "balanced", 1, all(), standing).winner(),
                  stands ? standing : other);
    }
}

TEST(SmallSearch, times_all_in_the_workloads_that_count_and_finalists_in_the_others) {
    KnownMachine machine(flat());
    const SizeResult result = small_search(machine, "unpredictable");
    std::set<Entrant> in_mix, in_fixed;
    for (const auto& [size, workload, entrant, round] : machine.calls) {
        EXPECT_EQ(size, 0u);
        if (!entrant.is_listed()) continue;
        const bool fixed = workload == Workload::fixed || workload == Workload::fixed_read;
        (fixed ? in_fixed : in_mix).insert(entrant);
    }
    EXPECT_EQ(in_mix.size(), all_small_copies().size());
    EXPECT_EQ(in_fixed.size(), result.finalists.size()); // for the record
    EXPECT_EQ(small_search(machine, "balanced").winner(), 0) << "the simplest of a tie";
}

TEST(SmallSearch, times_no_entrant_that_was_left_out_and_fails_with_none) {
    for (const std::vector<Entrant>& entrants : {std::vector<Entrant>{3}, {3, 5, 7}}) {
        KnownMachine machine(flat());
        EXPECT_EQ(small_search(machine, "balanced", 1, entrants).winner(), 3);
        for (const KnownMachine::Call& call : machine.calls) {
            ASSERT_TRUE(std::get<2>(call) < 0 || contains(entrants, std::get<2>(call)));
        }
    }
    KnownMachine machine(flat());
    EXPECT_THROW(small_search(machine, "balanced", 1, {}), Failure);
}

TEST(SmallSearch, gives_what_noise_hides_to_the_plain_copy) {
    const Entrant plain = plain_small();
    EXPECT_EQ(name_of(plain), "stepped XMM middle 128");
    KnownMachine loud(flat(), jitter(4, 1));
    const SizeResult result = small_search(loud, "balanced");
    EXPECT_TRUE(result.undecided);
    EXPECT_EQ(result.winner(), plain);
}
