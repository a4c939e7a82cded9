// The search on made-up machines whose fastest copy is known: found in spite of noise, ties broken
// by rule, and nothing that depends on more than the seed.
#include "search/search.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <set>

#include "base/error.hpp"
#include "support/known_machine.hpp"
#include "support/made_up_variants.hpp"

using namespace asterope;

namespace {

/// Large enough for every parameter to take effect.
constexpr std::size_t kSize = 65536;
const std::vector<Workload> kHot = {Workload::hot};
const std::vector<Workload> kBoth = {Workload::hot, Workload::cold};

const std::vector<Candidate>& whole_space() {
    static const std::vector<Candidate> space = paper_space([](std::string_view) { return true; });
    return space;
}

std::vector<Entrant> all_of(const std::vector<Candidate>& space) {
    std::vector<Entrant> entrants;
    for (std::size_t i = 0; i < space.size(); ++i) entrants.push_back(static_cast<Entrant>(i));
    return entrants;
}

Entrant entrant_named(const std::string& name) {
    const auto& space = whole_space();
    const auto found = std::find_if(space.begin(), space.end(),
                                    [&](const Candidate& c) { return c.name() == name; });
    EXPECT_NE(found, space.end()) << name;
    return static_cast<Entrant>(found - space.begin());
}

/// "ZMM T NT T0": the search samples each such family before it looks at its sizes and distances.
std::string family_of(Entrant entrant) {
    const asterope_variant& v = *whole_space()[static_cast<std::size_t>(entrant)].variant;
    return std::string(v.rt) + ' ' + v.lt + ' ' + v.st + ' ' + v.pt;
}

/// Every entrant at the same ratio.
KnownMachine::Ratios flat(double ratio, const std::vector<Workload>& workloads = kHot) {
    KnownMachine::Ratios ratios;
    for (const Workload w : workloads) ratios[w].assign(whole_space().size(), ratio);
    return ratios;
}

/// A smooth landscape: each family RT LT ST PT has a level of its own and one best prefetch size
/// and distance, around which it falls off.
KnownMachine::Ratios landscape(std::uint64_t seed, const std::vector<Workload>& workloads = kHot) {
    KnownMachine::Ratios ratios;
    for (const Workload workload : workloads) {
        noise::Random random(seed * 2 + ratios.size());
        struct Family {
            double level, ps, pd;
        };
        std::map<std::string, Family> families;
        for (const Candidate& candidate : whole_space()) {
            const asterope_variant& v = *candidate.variant;
            const std::string name = family_of(static_cast<Entrant>(ratios[workload].size()));
            if (families.count(name) == 0) {
                const double level = 0.8 + 0.5 * noise::uniform(random);
                const double ps = 2 + 12 * noise::uniform(random);
                families[name] = {level, ps, 30 * noise::uniform(random)};
            }
            const Family& family = families[name];
            double ratio = family.level;
            if (candidate.prefetches()) {
                ratio *= 1 - 0.10 * std::pow((v.ps - family.ps) / 12, 2) -
                         0.20 * std::pow((candidate.pd - family.pd) / 30, 2);
            }
            ratios[workload].push_back(ratio);
        }
    }
    return ratios;
}

SizeResult search(KnownMachine& machine, const std::string& rigor, std::uint64_t seed = 1,
                  const std::vector<Workload>& workloads = kHot, Entrant neighbour = kLibc) {
    noise::Random random(seed);
    return search_size(whole_space(), all_of(whole_space()), nullptr, kSize,
                       {equal_weights(workloads)}, parse_rigor(rigor), {{neighbour}}, random,
                       machine)
        .results.front();
}

Entrant winner(const SizeResult& result) {
    return result.finalists.front().candidate;
}

/// What winners were worth as shares of the best there was, over many landscapes.
struct Shares {
    double worst = 1, sum = 0;
    int count = 0;

    void add(double share) {
        worst = std::min(worst, share);
        sum += share;
        ++count;
    }
    double mean() const { return sum / count; }
};

/// What a rigor promises of them on a noisy machine: quick looks at little.
double least(const std::string& rigor, double quick, double others) {
    return rigor == "quick" ? quick : others;
}

class Rigors : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, Rigors, ::testing::Values("quick", "standard", "exhaustive"),
                         [](const auto& rigor) { return std::string(rigor.param); });

class RigorsWithAxes : public Rigors {};
INSTANTIATE_TEST_SUITE_P(, RigorsWithAxes, ::testing::Values("standard", "exhaustive"),
                         [](const auto& rigor) { return std::string(rigor.param); });

} // namespace

// --- Lost in noise -------------------------------------------------------------------------------

TEST_P(Rigors, give_what_noise_hides_to_the_plain_copy) {
    const Entrant plain = entrant_named("XMM T T none 0 0");
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        JitteryMachine loud(landscape(seed, kBoth), 3, seed);
        const SizeResult result = search(loud, GetParam(), seed, kBoth);
        EXPECT_EQ(winner(result), plain) << seed;
        EXPECT_TRUE(result.undecided);
        JitteryMachine quiet(landscape(seed, kBoth), 0.01, seed);
        EXPECT_FALSE(search(quiet, GetParam(), seed, kBoth).undecided);
    }
}

TEST(Search, takes_nobody_for_plain_who_was_left_out) {
    std::vector<Entrant> entrants = all_of(whole_space());
    const Entrant plain = entrant_named("XMM T T none 0 0");
    std::erase(entrants, plain);
    JitteryMachine loud(flat(1), 3, 1);
    noise::Random random(1);
    const Found found = search_size(whole_space(), entrants, nullptr, kSize, {equal_weights(kHot)},
                                    parse_rigor("quick"), {{kLibc}}, random, loud);
    EXPECT_FALSE(found.results.front().undecided);
    for (const Finalist& finalist : found.results.front().finalists) {
        EXPECT_NE(finalist.candidate, plain);
    }
}

// --- The winner ----------------------------------------------------------------------------------

TEST_P(Rigors, find_the_fastest_of_a_quiet_machine) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        KnownMachine machine(landscape(seed));
        double best = 0;
        for (const Entrant entrant : all_of(whole_space())) {
            best = std::max(best, machine.ratio(entrant));
        }
        const Entrant found = winner(search(machine, GetParam(), seed));
        EXPECT_GE(machine.ratio(found), 0.98 * best) << whole_space()[found].name();
    }
}

// With outliers, lucky shots, slow phases and drift. A tie may cost 2 %, the noise 1 % more; quick
// misses the best family now and then: of 300 seeds one in twenty is below 0.97, one in a hundred
// below 0.92.
TEST_P(Rigors, find_the_fastest_of_a_noisy_machine) {
    Shares shares;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        NoisyMachine machine(landscape(seed), 0.01, seed);
        double best = 0;
        for (const Entrant entrant : all_of(whole_space())) {
            best = std::max(best, machine.ratio(entrant));
        }
        shares.add(machine.ratio(winner(search(machine, GetParam(), seed))) / best);
    }
    EXPECT_GE(shares.worst, least(GetParam(), 0.85, 0.965));
    EXPECT_GE(shares.mean(), 0.98);
}

TEST_P(Rigors, find_the_best_over_both_workloads) {
    Shares shares;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        NoisyMachine machine(landscape(seed, kBoth), 0.01, seed);
        double best = 0; // of those that lose nowhere, as long as there is one
        for (const Entrant entrant : all_of(whole_space())) {
            const bool loses = machine.ratio(entrant, Workload::hot) < kWorstRatio ||
                               machine.ratio(entrant, Workload::cold) < kWorstRatio;
            if (!loses) best = std::max(best, machine.ratio(entrant));
        }
        ASSERT_GT(best, 0);
        const Entrant found = winner(search(machine, GetParam(), seed, kBoth));
        shares.add(machine.ratio(found) / best);
    }
    EXPECT_GE(shares.mean(), 0.98);
    EXPECT_GE(shares.worst, 0.96);
}

// With other noise and another seed. A tie may cost 2 %; what screening loses comes on top of it,
// as it has one sample of each in quick and standard: of 100 seeds, 10 and 3 are further apart.
TEST_P(Rigors, choose_alike_in_two_runs) {
    int apart = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        double slowest = 9, fastest = 0;
        for (const std::uint64_t run : {2 * seed, 2 * seed + 1}) {
            NoisyMachine machine(landscape(seed), 0.01, run);
            const double ratio = machine.ratio(winner(search(machine, GetParam(), run)));
            slowest = std::min(slowest, ratio);
            fastest = std::max(fastest, ratio);
        }
        apart += fastest / slowest > 1.02;
    }
    const std::map<std::string, int> bounds = {{"quick", 4}, {"standard", 1}, {"exhaustive", 0}};
    EXPECT_LE(apart, bounds.at(GetParam()));
}

// One candidate alone is 8 % faster than all others, which are alike: no landscape leads there.
TEST(Search, exhaustive_finds_a_needle) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        KnownMachine::Ratios ratios = flat(1);
        const Entrant needle = entrant_named("XMM NT T T2 10 22");
        ratios[Workload::hot][static_cast<std::size_t>(needle)] = 1.08;
        JitteryMachine machine(ratios, 0.01, seed);
        found += winner(search(machine, "exhaustive", seed)) == needle;
    }
    EXPECT_GE(found, 9);
}

// The best of thousands is flattered by luck; the run-off's fresh samples are not.
TEST_P(Rigors, report_no_gain_where_every_candidate_is_as_fast_as_libc) {
    double sum = 0;
    constexpr int kSeeds = 20;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        NoisyMachine machine(flat(1), 0.01, seed);
        const SizeResult result = search(machine, GetParam(), seed);
        const Measured measured = result.finalists.front().workloads.at(Workload::hot);
        EXPECT_NEAR(measured.ratio.median, 1, 0.03) << "seed " << seed;
        EXPECT_LE(measured.ratio.low, 1.01) << "seed " << seed;
        EXPECT_NEAR(result.noise_floor.at(Workload::hot).median, 1, 0.03) << "seed " << seed;
        EXPECT_LE(result.noise_floor.at(Workload::hot).low, 1.01) << "seed " << seed;
        EXPECT_GE(result.noise_floor.at(Workload::hot).high, 0.99) << "seed " << seed;
        sum += measured.ratio.median;
    }
    EXPECT_NEAR(sum / kSeeds, 1, 0.01);
}

// Libc in the place of every candidate: it beats itself by no more than it differs from itself or
// than a tie may cost, and the win goes by rule.
TEST(Search, lets_nobody_lead_beyond_the_noise_where_all_are_libc) {
    int simplest_won = 0, leads = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        NoisyMachine machine(flat(1, kBoth), 0.01, seed);
        const SizeResult result = search(machine, "quick", seed, kBoth);
        double noise = TieBand().never;
        for (const auto& [workload, floor] : result.noise_floor) {
            noise = std::max(noise, std::abs(std::log(floor.median)));
        }
        EXPECT_LE(std::log(result.finalists.front().ratio), noise) << "seed " << seed;
        EXPECT_LE(std::log(result.lead.low), TieBand().always) << "seed " << seed;
        leads += result.lead.low > 1;
        const auto simplest = std::min_element(
            result.finalists.begin(), result.finalists.end(),
            [](const Finalist& a, const Finalist& b) { return a.candidate < b.candidate; });
        simplest_won += simplest == result.finalists.begin();
    }
    EXPECT_LE(leads, 2) << "more than intervals of 95 % allow for";
    EXPECT_GE(simplest_won, 18);
}

TEST_P(Rigors, report_the_true_ratios) {
    KnownMachine machine(landscape(3, kBoth));
    const SizeResult result = search(machine, GetParam(), 1, kBoth);
    EXPECT_EQ(result.size, kSize);
    EXPECT_EQ(result.rounds, parse_rigor(GetParam()).rounds);
    EXPECT_EQ(result.noise_floor.size(), 2u);
    for (const Finalist& finalist : result.finalists) {
        EXPECT_NEAR(finalist.ratio, machine.ratio(finalist.candidate), 1e-9);
        for (const Workload workload : kBoth) {
            const Measured& measured = finalist.workloads.at(workload);
            const double ratio = machine.ratio(finalist.candidate, workload);
            EXPECT_NEAR(measured.ratio.median, ratio, 1e-9);
            EXPECT_NEAR(measured.seconds, kLibcSeconds / ratio, 1e-12);
            EXPECT_NEAR(measured.libc_seconds, kLibcSeconds, 1e-12);
        }
    }
}

TEST_P(Rigors, name_the_winner_first_and_nobody_twice) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        JitteryMachine machine(landscape(seed), 0.01, seed);
        const SizeResult result = search(machine, GetParam(), seed);
        EXPECT_GE(result.finalists.size(),
                  static_cast<std::size_t>(parse_rigor(GetParam()).finalists));
        std::set<Entrant> seen;
        double last = 1e9;
        for (std::size_t i = 0; i < result.finalists.size(); ++i) {
            const Finalist& finalist = result.finalists[i];
            EXPECT_TRUE(seen.insert(finalist.candidate).second);
            if (i > 0) {
                const double ratio = finalist.workloads.at(Workload::hot).ratio.median;
                EXPECT_LE(ratio, last);
                last = ratio;
            }
        }
        EXPECT_TRUE(result.finalists.front().tied) << "the winner is no worse than itself";
    }
}

// --- Ties ----------------------------------------------------------------------------------------

TEST_P(Rigors, give_a_tie_of_all_to_the_simplest) {
    KnownMachine machine(flat(1.1));
    EXPECT_EQ(whole_space()[static_cast<std::size_t>(winner(search(machine, GetParam())))].name(),
              "REP_MOVSB T T none 0 0");
}

TEST_P(Rigors, give_a_tie_to_the_neighbours_winner) {
    const Entrant neighbour = entrant_named("YMM T NT T1 6 18");
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        JitteryMachine machine(flat(1.1), 0.002, seed);
        EXPECT_EQ(winner(search(machine, GetParam(), seed, kHot, neighbour)), neighbour);
    }
}

TEST_P(Rigors, give_a_tie_of_two_to_the_simpler_or_to_the_neighbour) {
    const Entrant simple = entrant_named("XMM T T none 0 0"),
                  complex = entrant_named("ZMM T NT none 0 0");
    KnownMachine::Ratios ratios = flat(0.9);
    ratios[Workload::hot][static_cast<std::size_t>(simple)] = 1.300;
    ratios[Workload::hot][static_cast<std::size_t>(complex)] = 1.305;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        JitteryMachine one(ratios, 0.002, seed), other(ratios, 0.002, seed);
        EXPECT_EQ(winner(search(one, GetParam(), seed)), simple);
        EXPECT_EQ(winner(search(other, GetParam(), seed, kHot, complex)), complex);
    }
}

// Within 0.5 %, with all kinds of noise: who is measured best is luck, who wins is not.
TEST_P(Rigors, give_a_tie_of_three_to_the_neighbours_winner_else_to_the_simplest) {
    const Entrant simplest = entrant_named("XMM T T none 0 0"),
                  middle = entrant_named("YMM T NT none 0 0"),
                  best = entrant_named("ZMM T NT none 0 0");
    KnownMachine::Ratios ratios = flat(0.9);
    ratios[Workload::hot][static_cast<std::size_t>(simplest)] = 1.300;
    ratios[Workload::hot][static_cast<std::size_t>(middle)] = 1.303;
    ratios[Workload::hot][static_cast<std::size_t>(best)] = 1.306;
    for (const Entrant neighbour : {kLibc, simplest, middle, best}) {
        int won = 0;
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            NoisyMachine machine(ratios, 0.005, seed);
            const SizeResult result = search(machine, GetParam(), seed, kHot, neighbour);
            // An interruption of its only sample may have cost the simplest its place.
            const auto runs = [&](Entrant entrant) {
                return std::any_of(result.finalists.begin(), result.finalists.end(),
                                   [&](const Finalist& f) { return f.candidate == entrant; });
            };
            const Entrant first = runs(simplest) ? simplest : runs(middle) ? middle : best;
            won += winner(result) == (neighbour == kLibc ? first : neighbour);
        }
        // A slow phase that begins in a heat may cost all three their places in quick.
        EXPECT_GE(won, least(GetParam(), 7, 9)) << neighbour;
    }
}

TEST_P(Rigors, are_not_swayed_by_rules_where_the_lead_is_real) {
    const Entrant simple = entrant_named("XMM T T none 0 0"),
                  faster = entrant_named("ZMM T NT none 0 0");
    KnownMachine::Ratios ratios = flat(0.9);
    ratios[Workload::hot][static_cast<std::size_t>(simple)] = 1.30;
    ratios[Workload::hot][static_cast<std::size_t>(faster)] = 1.37;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        JitteryMachine machine(ratios, 0.002, seed);
        const SizeResult result = search(machine, GetParam(), seed, kHot, simple);
        EXPECT_EQ(winner(result), faster);
        const auto other =
            std::find_if(result.finalists.begin(), result.finalists.end(),
                         [&](const Finalist& finalist) { return finalist.candidate == simple; });
        ASSERT_NE(other, result.finalists.end()) << "the neighbour's winner did not run";
        EXPECT_FALSE(other->tied);
    }
}

// --- Losing in one workload ----------------------------------------------------------------------

namespace {

const std::string kOneSided = "ZMM T NT T0", kEven = "YMM T T T0";

/// Two families stand out; all others get 0.8 of libc's speed in both workloads.
KnownMachine::Ratios two_families(double one_sided_hot, double one_sided_cold, double even_hot,
                                  double even_cold) {
    KnownMachine::Ratios ratios = flat(0.8, kBoth);
    for (const Entrant entrant : all_of(whole_space())) {
        const auto at = static_cast<std::size_t>(entrant);
        if (family_of(entrant) == kOneSided) {
            ratios[Workload::hot][at] = one_sided_hot;
            ratios[Workload::cold][at] = one_sided_cold;
        } else if (family_of(entrant) == kEven) {
            ratios[Workload::hot][at] = even_hot;
            ratios[Workload::cold][at] = even_cold;
        }
    }
    return ratios;
}

} // namespace

TEST_P(Rigors, choose_no_winner_that_loses_in_one_workload_while_another_does_not) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        JitteryMachine machine(two_families(0.9, 2, 1.05, 1.1), 0.005, seed);
        const SizeResult result = search(machine, GetParam(), seed, kBoth);
        EXPECT_EQ(family_of(winner(result)), kEven) << "seed " << seed;
    }
}

TEST_P(Rigors, bear_a_loss_of_less_than_3_percent) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        JitteryMachine machine(two_families(0.99, 2, 1.05, 1.1), 0.002, seed);
        const SizeResult result = search(machine, GetParam(), seed, kBoth);
        EXPECT_EQ(family_of(winner(result)), kOneSided) << "seed " << seed;
    }
}

TEST_P(Rigors, choose_the_best_mean_where_all_lose_somewhere) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        JitteryMachine machine(two_families(0.9, 2, 1.1, 0.9), 0.005, seed);
        const SizeResult result = search(machine, GetParam(), seed, kBoth);
        EXPECT_EQ(family_of(winner(result)), kOneSided) << "seed " << seed;
    }
}

// --- Who is timed, and when ----------------------------------------------------------------------

TEST_P(Rigors, time_the_same_in_the_same_order_for_the_same_seed) {
    KnownMachine one(landscape(1)), two(landscape(1)), other(landscape(1));
    search(one, GetParam(), 42);
    search(two, GetParam(), 42);
    search(other, GetParam(), 43);
    EXPECT_TRUE(one.calls == two.calls);
    EXPECT_FALSE(one.calls == other.calls);
}

TEST_P(Rigors, time_no_entrant_that_was_left_out) {
    std::vector<Entrant> entrants;
    std::set<Entrant> left_out;
    for (const Entrant entrant : all_of(whole_space())) {
        if (std::string_view(whole_space()[static_cast<std::size_t>(entrant)].variant->rt) ==
            "ZMM") {
            left_out.insert(entrant);
        } else {
            entrants.push_back(entrant);
        }
    }
    KnownMachine machine(landscape(1));
    noise::Random random(1);
    search_size(whole_space(), entrants, nullptr, kSize, {equal_weights(kHot)},
                parse_rigor(GetParam()), {{}}, random, machine);
    for (const auto& [size, workload, entrant, round] : machine.calls) {
        EXPECT_EQ(size, kSize);
        ASSERT_EQ(left_out.count(entrant), 0u);
    }
}

TEST_P(Rigors, cost_about_as_much_as_planned) {
    KnownMachine machine(landscape(1));
    search(machine, GetParam());
    const auto planned = static_cast<double>(
        planned_trials(parse_rigor(GetParam()), whole_space(), Timed::from_start, false));
    EXPECT_NEAR(static_cast<double>(machine.calls.size()) / planned, 1, 0.25);
}

TEST(Search, exhaustive_times_every_entrant_and_the_others_do_not) {
    const auto timed = [](const char* rigor) {
        KnownMachine machine(landscape(1));
        search(machine, rigor);
        std::set<Entrant> entrants;
        for (const KnownMachine::Call& call : machine.calls) {
            if (std::get<2>(call) >= 0) entrants.insert(std::get<2>(call));
        }
        return entrants.size();
    };
    const std::size_t quick = timed("quick"), standard = timed("standard");
    EXPECT_LT(quick, standard);
    EXPECT_LT(standard, whole_space().size() / 2);
    EXPECT_EQ(timed("exhaustive"), whole_space().size());
}

TEST_P(Rigors, work_with_few_entrants) {
    for (const std::size_t count : {1, 2, 7}) {
        KnownMachine machine(flat(1.2, kBoth));
        std::vector<Entrant> entrants = all_of(whole_space());
        entrants.erase(entrants.begin(), entrants.end() - static_cast<std::ptrdiff_t>(count));
        noise::Random random(1);
        const SizeResult result =
            search_size(whole_space(), entrants, nullptr, kSize, {equal_weights(kBoth)},
                        parse_rigor(GetParam()), {{}}, random, machine)
                .results.front();
        EXPECT_EQ(winner(result), entrants.front());
        EXPECT_LE(result.finalists.size(), count);
    }
}

TEST_P(Rigors, fail_where_no_candidate_copies_right) {
    KnownMachine machine(flat(1));
    noise::Random random(1);
    EXPECT_THROW(search_size(whole_space(), {}, nullptr, kSize, {equal_weights(kHot)},
                             parse_rigor(GetParam()), {{}}, random, machine),
                 Failure);
}

TEST(ParseRigor, knows_three_levels) {
    for (const char* name : {"quick", "standard", "exhaustive"}) {
        EXPECT_EQ(parse_rigor(name).name, name);
    }
    for (const char* name : {"", "Quick", "slow", "standard "}) {
        EXPECT_THROW(parse_rigor(name), BadInput) << name;
    }
}

// --- Several objectives --------------------------------------------------------------------------

namespace {

const std::vector<Workload> kThree = {Workload::hot, Workload::cold, Workload::consume};

/// What a balanced run asks for: the mix, then each workload in it; the others only measured.
std::vector<Weights> balanced_and_intents() {
    std::vector<Weights> objectives = {equal_weights(kThree)};
    for (const Workload one : kThree) {
        objectives.emplace_back();
        for (const Workload other : kThree) objectives.back().emplace_back(other, other == one);
    }
    return objectives;
}

/// What an entrant is worth to an objective: the weighted geometric mean.
double worth(const KnownMachine& machine, Entrant entrant, const Weights& weights) {
    double sum = 0;
    for (const auto& [workload, weight] : weights) {
        if (weight > 0) sum += weight * std::log(machine.ratio(entrant, workload));
    }
    return std::exp(sum);
}

bool loses_nowhere(const KnownMachine& machine, Entrant entrant, const Weights& weights) {
    return std::all_of(weights.begin(), weights.end(), [&](const auto& weighted) {
        return weighted.second == 0 || machine.ratio(entrant, weighted.first) >= kWorstRatio;
    });
}

/// The most that any of `entrants` that loses nowhere is worth.
double best_worth(const KnownMachine& machine, const std::vector<Entrant>& entrants,
                  const Weights& weights) {
    double best = 0;
    for (const Entrant entrant : entrants) {
        if (!loses_nowhere(machine, entrant, weights)) continue;
        best = std::max(best, worth(machine, entrant, weights));
    }
    EXPECT_GT(best, 0);
    return best;
}

/// For each objective, what its winners are worth as shares of the best.
template <class Machine>
std::vector<Shares> shares_of(const std::string& rigor, std::uint64_t seeds, double jitter) {
    const std::vector<Weights> objectives = balanced_and_intents();
    std::vector<Shares> shares(objectives.size());
    const auto entrants = all_of(whole_space());
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        Machine machine(landscape(seed, kThree), jitter, seed);
        noise::Random random(seed);
        const Found found = search_size(whole_space(), entrants, nullptr, kSize, objectives,
                                        parse_rigor(rigor), {{}, {}, {}, {}}, random, machine);
        EXPECT_EQ(found.results.size(), objectives.size());
        EXPECT_EQ(found.extended, 0u);
        EXPECT_TRUE(found.axes.empty());
        for (std::size_t i = 0; i < objectives.size(); ++i) {
            shares[i].add(worth(machine, winner(found.results[i]), objectives[i]) /
                          best_worth(machine, entrants, objectives[i]));
        }
    }
    return shares;
}

} // namespace

TEST_P(Rigors, find_the_best_for_each_of_several_objectives_on_a_quiet_machine) {
    for (const Shares& shares : shares_of<JitteryMachine>(GetParam(), 4, 0.001)) {
        EXPECT_GE(shares.worst, 0.97);
    }
}

TEST_P(Rigors, find_the_best_for_each_of_several_objectives_on_a_noisy_machine) {
    for (const Shares& shares : shares_of<NoisyMachine>(GetParam(), 8, 0.01)) {
        EXPECT_GE(shares.mean(), least(GetParam(), 0.95, 0.965));
        EXPECT_GE(shares.worst, least(GetParam(), 0.83, 0.91));
    }
}

TEST_P(Rigors, let_the_neighbours_winner_of_each_objective_win_its_ties) {
    const Entrant one = entrant_named("YMM T NT T1 6 18"), other = entrant_named("XMM T T T2 8 4"),
                  third = entrant_named("ZMM T NT T0 2 2");
    JitteryMachine machine(flat(1.1, kThree), 0.002, 1);
    noise::Random random(1);
    const Found found = search_size(whole_space(), all_of(whole_space()), nullptr, kSize,
                                    balanced_and_intents(), parse_rigor(GetParam()),
                                    {{one}, {other, one}, {}, {third, other}}, random, machine);
    EXPECT_EQ(winner(found.results[0]), one);
    EXPECT_EQ(winner(found.results[1]), other) << "the first of two";
    EXPECT_EQ(winner(found.results[3]), third);
}

// The second wins where the first is behind: so both must run.
TEST_P(Rigors, give_a_tie_to_the_second_neighbours_winner_where_the_first_is_behind) {
    const Entrant behind = entrant_named("YMM T NT T1 6 18"),
                  tied = entrant_named("XMM T T T2 8 4");
    KnownMachine::Ratios ratios = flat(1.1);
    ratios[Workload::hot][static_cast<std::size_t>(behind)] = 1;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        JitteryMachine machine(ratios, 0.002, seed);
        noise::Random random(seed);
        const SizeResult result =
            search_size(whole_space(), all_of(whole_space()), nullptr, kSize, {equal_weights(kHot)},
                        parse_rigor(GetParam()), {{behind, tied}}, random, machine)
                .results.front();
        EXPECT_EQ(winner(result), tied);
        EXPECT_EQ(std::count_if(result.finalists.begin(), result.finalists.end(),
                                [&](const Finalist& f) { return f.candidate == behind; }),
                  1);
    }
}

// --- The extension axes --------------------------------------------------------------------------

namespace {

/// A made-up space: a small paper's one, then everything there is around it.
struct ExtendedSpace {
    std::vector<asterope_variant> variants;
    std::vector<Candidate> candidates; ///< the paper's first
    std::vector<Entrant> paper;
    /// What the extension was asked for, and what it answered with.
    std::vector<Entrant> neighbours, distance_grid;
    std::set<Entrant> offered;
    Extension extension;

    ExtendedSpace() {
        add(true);
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            paper.push_back(static_cast<Entrant>(i));
        }
        add(false);
        for (Candidate& candidate : candidates) { // now that the variants lie still
            candidate.variant = &variants[static_cast<std::size_t>(&candidate - &candidates[0])];
        }
        extension.neighbours = [this](Entrant entrant) {
            neighbours.push_back(entrant);
            return offer([&, one = (*this)[entrant]](const Candidate& other) {
                const asterope_variant &a = *one.variant, &b = *other.variant;
                const bool direct =
                    std::string_view(a.st) == "NT" && std::string_view(b.rt) == "MOVDIR64B";
                return (direct || std::string_view(a.rt) == b.rt) && same_stages(a, b) &&
                       a.ps == b.ps && one.pd == other.pd;
            });
        };
        extension.distance_grid = [this](Entrant entrant) {
            distance_grid.push_back(entrant);
            return offer([&, one = (*this)[entrant]](const Candidate& other) {
                const asterope_variant &a = *one.variant, &b = *other.variant;
                return std::string_view(a.rt) == b.rt && same_stages(a, b) && same_axes(a, b) &&
                       one.pw == other.pw;
            });
        };
    }
    ExtendedSpace(const ExtendedSpace&) = delete;

    const Candidate& operator[](Entrant entrant) const {
        return candidates[static_cast<std::size_t>(entrant)];
    }
    bool in_paper(Entrant entrant) const { return entrant < std::ssize(paper); }

  private:
    static bool same_stages(const asterope_variant& a, const asterope_variant& b) {
        return std::string_view(a.lt) == b.lt && std::string_view(a.st) == b.st &&
               std::string_view(a.pt) == b.pt;
    }
    static bool same_axes(const asterope_variant& a, const asterope_variant& b) {
        return std::equal(std::begin(a.marked), std::end(a.marked), std::begin(b.marked));
    }

    std::vector<Entrant> offer(const std::function<bool(const Candidate&)>& fits) {
        std::vector<Entrant> fitting;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            if (fits(candidates[i])) fitting.push_back(static_cast<Entrant>(i));
        }
        offered.insert(fitting.begin(), fitting.end());
        return fitting;
    }

    void add(bool paper_only) {
        for (const char* rt : {"XMM", "YMM", "ZMM", "MOVDIR64B"}) {
            const bool direct = std::string_view(rt) == "MOVDIR64B";
            for (const char* st : {"T", "NT"}) {
                if (direct && (paper_only || std::string_view(st) == "T")) continue;
                for (const char* pt : {"none", "T0", "NTA"}) {
                    for (const int tb : {1, 2, 4}) {
                        for (const int pi : {1, 4}) {
                            for (const int pw : {0, 8, 16}) {
                                for (const char* dir : {"up", "down"}) {
                                    const bool plain = tb == 2 && pi == 1 && pw == 0 &&
                                                       std::string_view(dir) == "up" && !direct;
                                    if (plain != paper_only) continue;
                                    if (direct && std::string_view(dir) == "down") continue;
                                    add(rt, st, pt, {tb, pi, pw > 0, dir}, pw);
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    void add(const char* rt, const char* st, const char* pt, const Axes& axes, int pw) {
        const bool prefetches = std::string_view(pt) != "none";
        for (const int ps : prefetches ? std::vector<int>{2, 6, 8, 12} : std::vector<int>{0}) {
            for (const int pd :
                 prefetches ? std::vector<int>{0, 4, 8, 12, 20, 24} : std::vector<int>{0}) {
                variants.push_back(made_up(rt, "T", st, pt, ps, axes));
                candidates.push_back({nullptr, pd, pw});
            }
        }
    }
};

/// Each family RT ST PT has a level and a best prefetch size and distance; each value of an
/// extension axis has a factor of its own up to `most`, alike for all families: so the best lies
/// around the paper's best. Direct stores bring nothing.
KnownMachine::Ratios extended_landscape(const ExtendedSpace& space, std::uint64_t seed, double most,
                                        const std::vector<Workload>& workloads) {
    KnownMachine::Ratios ratios;
    for (const Workload workload : workloads) {
        noise::Random random(1000 + seed * 16 + ratios.size());
        std::map<std::string, double> drawn;
        const auto draw = [&](const std::string& name, double low, double high) {
            const auto [at, fresh] = drawn.emplace(name, 0);
            if (fresh) at->second = low + (high - low) * noise::uniform(random);
            return at->second;
        };
        const auto effect = [&](const std::string& name) { return draw(name, 0.9 / most, most); };
        for (const Candidate& candidate : space.candidates) {
            const asterope_variant& v = *candidate.variant;
            const bool direct = std::string_view(v.rt) == "MOVDIR64B";
            const std::string family = std::string(direct ? "ZMM" : v.rt) + ' ' + v.st + ' ' + v.pt;
            double ratio = draw(family, 0.9, 1.3);
            if (candidate.prefetches()) {
                ratio *= 1 - 0.10 * std::pow((v.ps - draw(family + " ps", 2, 12)) / 10, 2) -
                         0.20 * std::pow((candidate.pd - draw(family + " pd", 0, 24)) / 24, 2);
            }
            if (direct) ratio *= 0.95;
            const std::string tb = value(candidate, "tb"), pw = value(candidate, "pw");
            if (tb != "2") ratio *= effect("tb" + tb);
            if (value(candidate, "pi") != "1") ratio *= effect("pi");
            if (pw != "0") ratio *= effect("pw" + pw);
            if (value(candidate, "dir") == "down") ratio *= effect("down");
            ratios[workload].push_back(ratio);
        }
    }
    return ratios;
}

Found search_extended(ExtendedSpace& space, KnownMachine& machine, const std::string& rigor,
                      std::uint64_t seed, const std::vector<Weights>& objectives,
                      Entrant neighbour = kLibc) {
    noise::Random random(seed);
    return search_size(space.candidates, space.paper, &space.extension, kSize, objectives,
                       parse_rigor(rigor), std::vector(objectives.size(), std::vector{neighbour}),
                       random, machine);
}

std::set<Entrant> timed_on(const KnownMachine& machine) {
    std::set<Entrant> timed;
    for (const KnownMachine::Call& call : machine.calls) {
        if (std::get<2>(call) >= 0) timed.insert(std::get<2>(call));
    }
    return timed;
}

const std::vector<Weights> kOnlyHot = {{{Workload::hot, 1}}};

/// What the search tells of the axes under one workload, each named once at most.
std::map<std::string_view, Finalist> told(const Found& found, Workload workload = Workload::hot) {
    std::map<std::string_view, Finalist> axes;
    for (const AxisResult& axis : found.axes) {
        if (axis.workload != workload) continue;
        EXPECT_TRUE(axes.emplace(axis.axis, axis.best).second) << axis.axis << " twice";
    }
    return axes;
}

} // namespace

TEST_P(Rigors, find_what_the_extension_axes_bring) {
    Shares quiet, noisy;
    int beyond = 0; // where no axis is better than the paper's, it wins
    int undecided = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        ExtendedSpace space;
        const auto ratios = extended_landscape(space, seed, 1.2, kHot);
        JitteryMachine one(ratios, 0.001, seed);
        NoisyMachine other(ratios, 0.01, seed);
        const double best = best_worth(one, all_of(space.candidates), kOnlyHot.front());
        const auto search = [&](KnownMachine& machine) {
            return search_extended(space, machine, GetParam(), seed, kOnlyHot).results.front();
        };
        const Entrant on_quiet = winner(search(one));
        beyond += !space.in_paper(on_quiet);
        quiet.add(one.ratio(on_quiet) / best);
        const SizeResult on_noisy = search(other);
        if (on_noisy.undecided) {
            ++undecided; // it says so: libc was more than kWidestFloor from itself
        } else {
            noisy.add(other.ratio(winner(on_noisy)) / best);
        }
    }
    EXPECT_LE(undecided, 1);
    EXPECT_GE(beyond, 8);
    EXPECT_GE(quiet.worst, 0.97);
    EXPECT_GE(noisy.mean(), least(GetParam(), 0.94, 0.97));
    EXPECT_GE(noisy.worst, least(GetParam(), 0.75, 0.90));
}

TEST_P(Rigors, find_what_the_axes_bring_to_each_objective) {
    const std::vector<Weights> objectives = balanced_and_intents();
    std::vector<Shares> shares(objectives.size());
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        ExtendedSpace space;
        JitteryMachine machine(extended_landscape(space, seed, 1.15, kThree), 0.002, seed);
        const Found found = search_extended(space, machine, GetParam(), seed, objectives);
        for (std::size_t i = 0; i < objectives.size(); ++i) {
            shares[i].add(worth(machine, winner(found.results[i]), objectives[i]) /
                          best_worth(machine, all_of(space.candidates), objectives[i]));
        }
    }
    for (const Shares& one : shares) EXPECT_GE(one.worst, least(GetParam(), 0.90, 0.95));
}

// Which only bases of non-temporal stores lead to.
TEST_P(Rigors, find_direct_stores_where_they_are_best) {
    ExtendedSpace space;
    KnownMachine::Ratios ratios;
    for (const Candidate& candidate : space.candidates) {
        const asterope_variant& v = *candidate.variant;
        const bool stream = std::string_view(v.st) == "NT";
        const bool direct = std::string_view(v.rt) == "MOVDIR64B";
        ratios[Workload::cold].push_back(direct ? 1.5 : stream ? 1.3 : 1);
    }
    NoisyMachine machine(ratios, 0.01, 1);
    const Found found = search_extended(space, machine, GetParam(), 1, {{{Workload::cold, 1}}});
    EXPECT_STREQ(space[winner(found.results.front())].variant->rt, "MOVDIR64B");
    EXPECT_EQ(told(found, Workload::cold).count("movdir64b"),
              parse_rigor(GetParam()).compares_axes ? 1u : 0u);
}

// Where copies are too short to prefetch, all of one axis are the same but for their prefetching.
// Quick has too few bases to have seen the one that does not.
TEST(Search, gives_a_tie_of_those_with_one_axis_to_the_one_without_prefetch) {
    for (const char* rigor : {"standard", "exhaustive"}) {
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            ExtendedSpace space;
            KnownMachine::Ratios ratios;
            for (const Candidate& candidate : space.candidates) {
                const asterope_variant& v = *candidate.variant;
                const bool good = std::string_view(v.rt) == "ZMM" && std::string_view(v.st) == "T";
                const bool best = good && candidate.axis() == "tb" && value(candidate, "tb") == "4";
                ratios[Workload::hot].push_back(best ? 1.3 : good ? 1.1 : 1);
            }
            JitteryMachine machine(ratios, 0.002, seed);
            const Found found = search_extended(space, machine, rigor, seed, kOnlyHot);
            const Candidate& won = space[winner(found.results.front())];
            EXPECT_EQ(value(won, "tb"), "4") << won.name();
            EXPECT_FALSE(won.prefetches()) << won.name();
        }
    }
}

// The paper's tuples come first, as they are simpler.
TEST_P(Rigors, give_a_tie_of_all_axes_to_the_paper) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        ExtendedSpace space;
        KnownMachine::Ratios ratios;
        ratios[Workload::hot].assign(space.candidates.size(), 1.1);
        JitteryMachine machine(ratios, 0.002, seed);
        const Found found = search_extended(space, machine, GetParam(), seed, kOnlyHot);
        EXPECT_TRUE(space.in_paper(winner(found.results.front())))
            << space[winner(found.results.front())].name();
    }
}

TEST_P(Rigors, choose_no_axis_that_is_worse) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        ExtendedSpace space;
        KnownMachine::Ratios ratios = extended_landscape(space, seed, 1.1, kHot);
        for (std::size_t i = space.paper.size(); i < space.candidates.size(); ++i) {
            ratios[Workload::hot][i] = 0.85;
        }
        NoisyMachine machine(ratios, 0.01, seed);
        const Found found = search_extended(space, machine, GetParam(), seed, kOnlyHot);
        EXPECT_TRUE(space.in_paper(winner(found.results.front())));
    }
}

TEST_P(Rigors, time_everything_that_the_extension_offers_or_a_grid_of_it_and_nothing_else) {
    ExtendedSpace space;
    KnownMachine machine(extended_landscape(space, 1, 1.2, kHot));
    search_extended(space, machine, GetParam(), 1, kOnlyHot);
    const Rigor rigor = parse_rigor(GetParam());
    EXPECT_EQ(std::ssize(space.distance_grid), rigor.planes);
    EXPECT_GE(std::ssize(space.neighbours),
              std::min(rigor.bases, 18)); // 18 families in the paper's
    EXPECT_LE(std::ssize(space.neighbours), rigor.bases);
    const std::set<Entrant> timed = timed_on(machine);
    if (rigor.fine.pd.empty()) {
        for (const Entrant entrant : space.offered) EXPECT_EQ(timed.count(entrant), 1u);
    }
    for (const Entrant entrant : timed) {
        EXPECT_TRUE(space.in_paper(entrant) || space.offered.count(entrant));
    }
    for (const Entrant base : space.neighbours) EXPECT_TRUE(space.in_paper(base));
}

TEST_P(Rigors, tell_how_many_they_timed_beyond_the_paper) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        ExtendedSpace space;
        KnownMachine machine(extended_landscape(space, seed, 1.05, kThree));
        const Found found = search_extended(space, machine, GetParam(), 1, balanced_and_intents());
        const std::set<Entrant> timed = timed_on(machine);
        EXPECT_EQ(std::ssize(timed) - std::count_if(timed.begin(), timed.end(),
                                                    [&](Entrant e) { return space.in_paper(e); }),
                  static_cast<std::ptrdiff_t>(found.extended));
    }
}

TEST_P(Rigors, work_with_an_extension_that_has_nothing_to_offer) {
    Extension nothing;
    nothing.neighbours = nothing.distance_grid = [](Entrant) { return std::vector<Entrant>(); };
    KnownMachine with(landscape(1)), without(landscape(1));
    noise::Random one(1), other(1);
    const Found found = search_size(whole_space(), all_of(whole_space()), &nothing, kSize, kOnlyHot,
                                    parse_rigor(GetParam()), {{}}, one, with);
    const Found plain = search_size(whole_space(), all_of(whole_space()), nullptr, kSize, kOnlyHot,
                                    parse_rigor(GetParam()), {{}}, other, without);
    EXPECT_EQ(found.extended, 0u);
    if (parse_rigor(GetParam()).compares_axes) {
        ASSERT_EQ(found.axes.size(), 1u); // what none of them brought anything to
        EXPECT_EQ(found.axes.front().axis, "paper");
    }
    EXPECT_EQ(winner(found.results.front()), winner(plain.results.front()));
}

namespace {

/// Of all that were timed, the best ratio of those that use one axis alone, and of the paper's.
std::map<std::string_view, double>
best_of_each_axis(const ExtendedSpace& space, const KnownMachine& machine, Workload workload) {
    std::map<std::string_view, double> best;
    for (const Entrant entrant : timed_on(machine)) {
        double& ratio = best[space[entrant].axis()];
        ratio = std::max(ratio, machine.ratio(entrant, workload));
    }
    best.erase("several");
    return best;
}

} // namespace

// The best of the paper's that was timed, and of those that use one axis: on a machine without
// noise there is no doubt who that is.
TEST_P(RigorsWithAxes, report_truthfully_what_each_axis_brought) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        ExtendedSpace space;
        KnownMachine machine(extended_landscape(space, seed, 1.15, kHot));
        const Found found = search_extended(space, machine, GetParam(), seed, kOnlyHot);
        const auto best = best_of_each_axis(space, machine, Workload::hot);
        const auto axes = told(found);
        EXPECT_EQ(axes.size(), found.axes.size());
        for (const auto& [axis, finalist] : axes) {
            EXPECT_EQ(space[finalist.candidate].axis(), axis);
            EXPECT_EQ(space.in_paper(finalist.candidate), axis == "paper");
            EXPECT_NEAR(machine.ratio(finalist.candidate), best.at(axis), 1e-9) << axis;
            EXPECT_NEAR(finalist.workloads.at(Workload::hot).ratio.median, best.at(axis), 1e-9);
        }
        for (const auto& [axis, ratio] : best) EXPECT_EQ(axes.count(axis), 1u) << axis;
        EXPECT_TRUE(axes.count("tb") && axes.count("pi") && axes.count("dir"));
    }
}

// What is good where data is cached is another than where it is not: each has its own best.
TEST_P(RigorsWithAxes, report_what_each_axis_brought_to_each_workload) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        ExtendedSpace space;
        KnownMachine machine(extended_landscape(space, seed, 1.15, kThree));
        const Found found =
            search_extended(space, machine, GetParam(), seed, balanced_and_intents());
        std::size_t count = 0;
        for (const Workload workload : kThree) {
            const auto best = best_of_each_axis(space, machine, workload);
            const auto axes = told(found, workload);
            EXPECT_EQ(axes.size(), best.size());
            for (const auto& [axis, finalist] : axes) {
                EXPECT_EQ(space[finalist.candidate].axis(), axis);
                EXPECT_NEAR(machine.ratio(finalist.candidate, workload), best.at(axis), 1e-9);
            }
            count += axes.size();
        }
        EXPECT_EQ(count, found.axes.size()) << "the mix is no workload";
    }
}

// Each axis' best would run beside the finalists and make quick half as long again.
TEST(Search, quick_compares_no_axes) {
    ExtendedSpace space;
    KnownMachine machine(extended_landscape(space, 1, 1.15, kHot));
    const Found found = search_extended(space, machine, "quick", 1, kOnlyHot);
    EXPECT_TRUE(found.axes.empty());
    EXPECT_GT(found.extended, 0u);
}

TEST_P(Rigors, report_no_axis_for_a_mix_alone) {
    ExtendedSpace space;
    KnownMachine machine(extended_landscape(space, 1, 1.15, kThree));
    const Found found = search_extended(space, machine, GetParam(), 1, {equal_weights(kThree)});
    EXPECT_TRUE(found.axes.empty());
    EXPECT_GT(found.extended, 0u);
}

// Where one axis alone is behind it is told, too: the figures come from the same run-off.
TEST_P(RigorsWithAxes, report_an_axis_that_brings_nothing) {
    ExtendedSpace space;
    KnownMachine::Ratios ratios;
    for (const Candidate& candidate : space.candidates) {
        const bool back = value(candidate, "dir") == "down";
        ratios[Workload::hot].push_back((value(candidate, "tb") == "4" ? 1.2 : 1) *
                                        (back ? 0.7 : 1));
    }
    JitteryMachine machine(ratios, 0.002, 1);
    const Found found = search_extended(space, machine, GetParam(), 1, kOnlyHot);
    EXPECT_EQ(value(space[winner(found.results.front())], "tb"), "4");
    const auto axes = told(found);
    for (const auto& [axis, truth] :
         {std::pair{"paper", 1.0}, {"tb", 1.2}, {"pi", 1.0}, {"dir", 0.7}}) {
        ASSERT_EQ(axes.count(axis), 1u) << axis;
        EXPECT_NEAR(axes.at(axis).ratio, truth, 0.01) << axis;
    }
}

TEST_P(Rigors, let_the_neighbours_winner_with_axes_win_its_ties) {
    ExtendedSpace space;
    KnownMachine::Ratios ratios;
    ratios[Workload::hot].assign(space.candidates.size(), 1.1);
    JitteryMachine machine(ratios, 0.002, 3);
    const auto neighbour = static_cast<Entrant>(space.candidates.size() - 5);
    const Found found = search_extended(space, machine, GetParam(), 1, kOnlyHot, neighbour);
    EXPECT_EQ(winner(found.results.front()), neighbour);
}

TEST(PlannedTrials, grow_with_rigor_and_extension_and_count_less_what_is_timed_later) {
    std::size_t last = 0;
    for (const char* name : {"quick", "standard", "exhaustive"}) {
        const Rigor rigor = parse_rigor(name);
        using enum Timed;
        const auto planned = [&](Timed timed, bool extended) {
            return planned_trials(rigor, whole_space(), timed, extended);
        };
        EXPECT_GT(planned(from_start, false), last);
        EXPECT_GT(planned(from_start, true), planned(from_start, false));
        EXPECT_LT(planned(from_last_cut, true), planned(from_start, false));
        EXPECT_EQ(planned(from_last_cut, true),
                  planned(from_last_cut, false)); // nothing is screened there
        EXPECT_LE(planned(in_run_off, true), planned(from_last_cut, true));
        last = planned(from_start, false);
    }
}
