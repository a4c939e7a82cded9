// The contestants, and the worth of each at a size.
#include "search/contestants.hpp"

#include "search/utility.hpp"
#include "support/made_up_variants.hpp"
#include "support/unit_test.hpp"

namespace {

using Entrants = std::vector<Entrant>;

constexpr double kNever = -std::numeric_limits<double>::infinity();
const Weights kByHot = {{Workload::hot, 1}};
/// One workload of each locality.
const Weights kByThree = {{Workload::hot, 0.5}, {Workload::fetch, 0.25}, {Workload::cold, 0.25}};

/// A finalist's worth under each workload of kByThree, as ratios of time.
struct Ratios {
    Entrant entrant;
    double hot, fetch = 1, cold = 1;
};

Measured measured(double ratio) {
    return {.ns = 100,
            .libc_ns = 100 * ratio,
            .ratio = {ratio, ratio, ratio},
            .worth = utility(std::log(ratio))};
}

/// The result of a run-off. The scores are those of kByThree.
SizeResult result(std::size_t size, const std::vector<Ratios>& all) {
    SizeResult result;
    result.size = size;
    for (const Ratios& one : all) {
        Finalist finalist{};
        finalist.candidate = one.entrant;
        finalist.workloads = {{Workload::hot, measured(one.hot)},
                              {Workload::fetch, measured(one.fetch)},
                              {Workload::cold, measured(one.cold)}};
        for (const auto& [workload, weight] : kByThree) {
            finalist.score += weight * finalist.workloads.at(workload).worth;
        }
        result.finalists.push_back(finalist);
    }
    return result;
}

Found found(std::size_t size, const std::vector<Ratios>& all) {
    return {{result(size, all)}, 0};
}

const asterope_variant kVariant = made_up("YMM", "T", "NT", "T2", 6),
                       kPlain = made_up("YMM", "T", "NT", "none", 0),
                       kNear = made_up("YMM", "T", "NT", "T0", 2),
                       kOther = made_up("ZMM", "T", "T", "none", 0);

/// Caches that hold both sides of every copy.
const auto kFits = [](std::size_t) { return false; };

/// Where none of the pipelines is standard.
Entrants contestants(const std::vector<Found>& found, const std::vector<Weights>& objectives,
                     Entrant plain, std::size_t most) {
    const std::vector<Candidate> space(64, Candidate{&kVariant, 24});
    const StandardPipelines none(space, [](Entrant) { return true; });
    return choose_contestants(found, objectives, kFits, space, none, plain, most);
}

} // namespace

TEST(ChooseContestants, takes_the_plain_copy_and_the_best_by_size_objective_and_locality) {
    const std::vector<Found> plain_wins_nowhere = {found(4096, {{3, 1.5}, {9, 1.0}})};
    const std::vector<Found> one_each = {found(128, {{4, 1.5}, {1, 1.2}, {2, 1.1}}),
                                         found(4096, {{5, 1.5}, {1, 1.2}, {2, 1.1}}),
                                         found(65536, {{6, 1.5}, {1, 1.2}, {2, 1.1}})};
    const std::vector<Found> about_the_best = {found(128, {{4, 1.50}, {7, 1.49}}),
                                               found(4096, {{5, 1.50}, {7, 1.49}}),
                                               found(65536, {{6, 1.50}, {8, 1.30}})};
    const std::vector<Found> hot_or_cold = {found(4096, {{1, 1.5}, {2, 1, 1, 1.5}, {3, 1.4}})};
    const std::vector<Found> localities = {
        found(4096, {{1, 1.2, 1.2, 1.2}, {2, 1.3}, {3, 1, 1.3}, {4, 1, 1, 1.3}})};
    const struct {
        const char* rule;
        const std::vector<Found>& found;
        std::vector<Weights> objectives;
        Entrant plain;
        std::size_t most;
        Entrants chosen;
    } cases[] = {
        {"the plain copy first", plain_wins_nowhere, {kByHot}, 9, 2, {9, 3}},
        {"or alone", plain_wins_nowhere, {kByHot}, 9, 1, {9}},
        {"unless it copies wrongly", plain_wins_nowhere, {kByHot}, kLibc, 1, {3}},
        {"the best of each size", one_each, {kByHot}, kLibc, 3, {4, 5, 6}},
        {"then the second best", one_each, {kByHot}, kLibc, 4, {1, 4, 5, 6}},
        {"then all", one_each, {kByHot}, kLibc, 9, {1, 2, 4, 5, 6}},
        {"about the best at many sizes first", about_the_best, {kByHot}, kLibc, 1, {7}},
        {"then the best at one", about_the_best, {kByHot}, kLibc, 2, {6, 7}},
        {"the best by one objective", hot_or_cold, {kByHot}, kLibc, 1, {1}},
        {"or by each", hot_or_cold, {kByHot, {{Workload::cold, 1}}}, kLibc, 2, {1, 2}},
        {"what a probe could tell apart", localities, {kByThree}, kLibc, 4, {1, 2, 3, 4}},
    };
    for (const auto& one : cases) {
        EXPECT_EQ(contestants(one.found, one.objectives, one.plain, one.most), one.chosen)
            << one.rule;
    }
}

TEST(ChooseContestants, keeps_to_the_bound_in_whatever_order_sizes_come) {
    std::vector<Found> sizes;
    for (int i = 0; i < 12; ++i) {
        sizes.push_back(found(std::size_t{128} << i, {{20 - i, 1.5}, {40 - i, 1.3}, {i, 1.1}}));
    }
    const Entrants chosen = contestants(sizes, {kByHot}, 50, 8);
    EXPECT_EQ(chosen.size(), 8u);
    EXPECT_TRUE(std::is_sorted(chosen.begin() + 1, chosen.end()));
    std::reverse(sizes.begin(), sizes.end());
    EXPECT_EQ(contestants(sizes, {kByHot}, 50, 8), chosen);
}

TEST(ChooseContestants,
     takes_standard_pipelines_like_the_best_first_and_those_that_are_not_cost_more) {
    const std::vector<Candidate> space = {{&kPlain, 0}, {&kNear, 4},  {&kNear, 16},
                                          {&kNear, 8},  {&kOther, 0}, {&kVariant, 24}};
    const StandardPipelines standard(space, [](Entrant entrant) { return entrant != 2; });
    for (const Entrant one : {0, 1, 2, 3, 4}) { // 2 copies wrongly, 3 has no usual distance
        EXPECT_EQ(standard.has(one), one != 2 && one != 3) << one.index();
    }
    const std::vector<Found> one = {found(4096, {{5, 1.5}})};
    const Entrants chosen = choose_contestants(one, {kByHot}, kFits, space, standard, kLibc, 6);
    EXPECT_EQ(chosen, (Entrants{0, 1, 5}));
    EXPECT_EQ(prices_of(chosen, standard, space), (std::vector<double>{0, 0.03, 0.08}));
    EXPECT_EQ(handicaps_of(chosen, standard, space), (std::vector<double>{0, 0.01, 0.02}));
}

TEST(ChooseContestants, take_what_one_instruction_does_although_it_wins_nowhere) {
    asterope_variant whole = made_up("REP", "T", "T", "none", 0);
    whole.whole = 1;
    const std::vector<Candidate> space = {{&kPlain, 0}, {&whole, 0}, {&kOther, 0}};
    const std::vector<Found> one = {found(4096, {{2, 1.5}})};
    for (const bool right : {true, false}) {
        const StandardPipelines standard(space, [&](Entrant e) { return e != 1 || right; });
        EXPECT_EQ(choose_contestants(one, {kByHot}, kFits, space, standard, kLibc, 3),
                  (right ? Entrants{1, 2} : Entrants{2}));
    }
}

TEST(ScoresOf, are_by_contestant_what_the_run_off_says_and_alike_where_noise_hid_everything) {
    SizeResult one = result(4096, {{5, 1.5, 1.2, 0.8}, {3, 1.1, 1.1, 1.1}});
    const SizeScores scores = scores_of(one, kByThree, {3, 4, 5});
    EXPECT_EQ(scores.plain, (std::vector{one.finalists[1].score, kNever, one.finalists[0].score}));
    for (const auto& sensed : scores.sensed) EXPECT_TRUE(sensed.empty()) << "no copy can sense";
    one.undecided = true;
    const SizeScores hidden = scores_of(one, kByThree, {3, 5}, ProbeNs{1e3, 1e3, 1e3});
    const std::vector<double> alike = {0, 0};
    EXPECT_EQ(hidden.plain, alike);
    for (const auto& sensed : hidden.sensed) EXPECT_EQ(sensed, alike);
}

TEST(ScoresOf, behind_a_probe_are_uncached_where_both_sides_outgrow_the_caches_but_fresh_pages) {
    for (const WorkloadFacts& facts : kWorkloads) {
        const Workload one = find_workload(facts.name).value();
        EXPECT_EQ(locality_of(one, true), facts.fresh ? Locality::fetched : Locality::uncached);
    }
    const SizeResult one = result(1 << 25, {{0, 1.5, 1.0, 0.8}, {1, 1.1, 0.9, 1.3}});
    const SizeScores scores = scores_of(one, kByThree, {0, 1}, ProbeNs{}, true);
    const auto& uncached = scores.sensed[static_cast<std::size_t>(Locality::uncached)];
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(scores.sensed[0][i], 0);
        EXPECT_NEAR(uncached[i], scores.plain[i], 1e-12);
    }
}

TEST(ScoresOf, behind_a_probe_that_heeds_readers_are_those_of_fetched_where_copies_are_read) {
    const Weights weights = {{Workload::cold, 0.5}, {Workload::consume, 0.5}};
    SizeResult one = result(4096, {{0, 1.0, 1.0, 1.9}, {1, 1.0, 1.0, 1.2}});
    for (Finalist& finalist : one.finalists) {
        finalist.workloads[Workload::consume] = finalist.workloads.at(Workload::cold);
    }
    one.finalists[0].workloads[Workload::consume].worth = utility(std::log(0.8));
    const auto at = static_cast<std::size_t>(Locality::uncached),
               fetched = static_cast<std::size_t>(Locality::fetched);
    const double fast = utility(std::log(1.9)), usual = utility(std::log(1.2));
    const SizeScores blind = scores_of(one, weights, {0, 1}, ProbeNs{}),
                     heeds = scores_of(one, weights, {0, 1}, ProbeNs{}, false, {false, true});
    EXPECT_NEAR(blind.sensed[at][0], (fast + utility(std::log(0.8))) / 2, 1e-12);
    EXPECT_NEAR(heeds.sensed[at][0], fast / 2, 1e-12);
    EXPECT_NEAR(heeds.sensed[at][1], usual / 2, 1e-12);
    EXPECT_EQ(heeds.sensed[fetched], (std::vector{kNever, usual / 2})) << "the former evicts";
    const SizeScores sets = scores_of(one, weights, {0, 1}, ProbeNs{}, false, {false, true}, true);
    EXPECT_NEAR(sets.sensed[at][0], fast / 2, 1e-12) << "a row's pipelines decide where it is read";
    EXPECT_NEAR(sets.read[0], utility(std::log(0.8)) / 2, 1e-12);
    EXPECT_NEAR(sets.read[1], usual / 2, 1e-12);
    EXPECT_TRUE(blind.read.empty() && heeds.read.empty());
}

TEST(ScoresOf, behind_a_probe_are_those_of_each_locality_less_what_it_takes) {
    const SizeResult one = result(4096, {{0, 1.5, 1.0, 0.8}, {1, 1.1, 0.9, 1.3}});
    const SizeScores free = scores_of(one, kByThree, {0, 1}, ProbeNs{}),
                     dear = scores_of(one, kByThree, {0, 1}, ProbeNs{10, 0, 20, 30});
    EXPECT_EQ(dear.plain, free.plain);
    const std::tuple<Locality, double, double, double> rows[] = {
        {Locality::cached, 0.5, 1.5, 10},
        {Locality::fetched, 0.25, 1.0, 20},
        {Locality::uncached, 0.25, 0.8, 30}};
    std::vector<double> sums(2, 0);
    for (const auto& [locality, weight, ratio, ns] : rows) {
        const auto at = static_cast<std::size_t>(locality);
        const double without = utility(std::log(ratio)),
                     with = utility(std::log(ratio) - std::log1p(ns / 100));
        EXPECT_NEAR(free.sensed[at][0], weight * without, 1e-12);
        EXPECT_NEAR(dear.sensed[at][0], weight * with, 1e-12);
        for (const std::size_t i : {0, 1}) sums[i] += free.sensed[at][i];
    }
    for (const std::size_t i : {0, 1}) EXPECT_NEAR(sums[i], free.plain[i], 1e-12);
}

TEST(SharedScores, are_the_mean_of_what_executes_the_same_instructions_at_that_size) {
    const std::span<const asterope_variant> rendered = variants(asterope_copies);
    const auto one = std::find_if(rendered.begin(), rendered.end(),
                                  [](const asterope_variant& v) { return v.acts_above > 0; });
    ASSERT_NE(one, rendered.end());
    const asterope_variant plain = made_up(one->rt, "T", "NT", "none", 0),
                           far = made_up(one->rt, "T", "NT", "T2", 6),
                           near = made_up(one->rt, "T", "NT", "T0", 2);
    asterope_variant whole = made_up(one->rt, "T", "T", "none", 0);
    whole.whole = 1;
    const std::vector<Candidate> space = {{&plain, 0}, {&far, 8}, {&near, 4}, {&whole, 0}};
    const std::vector<double> own = {0.25, 0.75, kNever, 0.7};
    const auto shared_at = [&](std::size_t size) {
        SizeScores scores{.plain = own};
        share_scores(size, {0, 1, 2, 3}, space, scores);
        return scores.plain;
    };
    const std::size_t shortest = short_way(plain);
    ASSERT_GE(shortest, kMinimumBytes);
    EXPECT_EQ(shared_at(shortest), (std::vector{0.5, 0.5, kNever, 0.7}))
        << "the third was not timed, and the fourth is one instruction";
    EXPECT_EQ(shared_at(shortest + 1), own);
}
