// The search on made-up machines whose fastest copy is known: found in spite of noise, ties broken
// by rule, and nothing that depends on more than the seed.
#include "search/x86_64/search_queries.hpp"

#include "base/contains.hpp"

using namespace asterope::searches;

INSTANTIATE_TEST_SUITE_P(, Rigors, ::testing::Values("quick", "standard", "exhaustive"),
                         [](const auto& rigor) { return std::string(rigor.param); });

// Noise: outliers, lucky shots, slow phases and drift. A tie may cost 2 %, the noise 1 % more.
// Quick misses the best family now and then. Of 300 seeds one in twenty is below 0.97, one in a
// hundred below 0.92, and one in fifty undecided.
TEST_P(Rigors, find_the_best_for_each_objective) {
    const auto expect = [](bool noisy, std::uint64_t seeds, const std::vector<Workload>& workloads,
                           const std::vector<Weights>& objectives, double worst, double mean) {
        const auto ratios = [&](std::uint64_t seed) { return landscape(seed, workloads); };
        for (const Shares& shares :
             shares_of(GetParam(), noisy, seeds, ratios, {.objectives = objectives})) {
            EXPECT_LE(shares.undecided, 1);
            EXPECT_GE(shares.worst, worst) << noisy << ' ' << workloads.size();
            EXPECT_GE(shares.mean(), mean) << noisy << ' ' << workloads.size();
        }
    };
    expect(false, 5, kHot, {equal_weights(kHot)}, 0.98, 0.98);
    expect(true, 20, kHot, {equal_weights(kHot)}, least(0.85, 0.965), 0.98);
    expect(true, 10, kBoth, {equal_weights(kBoth)}, 0.96, 0.98);
    expect(false, 4, kThree, balanced_and_intents(), 0.97, 0.97);
    expect(true, 8, kThree, balanced_and_intents(), least(0.83, 0.91), least(0.95, 0.965));
}

// With other noise and another seed. A tie may cost 2 %. The loss by screening comes on top of it,
// as it has one sample of each in quick and standard. Of 100 seeds, 10 and 3 are further apart.
TEST_P(Rigors, choose_alike_in_two_runs) {
    int apart = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        double ratios[2];
        for (const std::uint64_t run : {0, 1}) {
            KnownMachine machine(landscape(seed), noise_of_others(0.01, 2 * seed + run));
            const Query query = {.seed = 2 * seed + run};
            ratios[run] = machine.ratio(search(machine, GetParam(), query).winner());
        }
        apart += std::abs(std::log(ratios[0] / ratios[1])) > std::log(1.02);
    }
    const std::map<std::string, int> bounds = {{"quick", 4}, {"standard", 1}, {"exhaustive", 0}};
    EXPECT_LE(apart, bounds.at(GetParam()));
}

// How the race decides that is tested there.
TEST(Search, gives_what_noise_hides_to_the_plain_copy_if_that_is_an_entrant) {
    const Entrant plain = entrant_named(asterope_copies.plain);
    Query query;
    for (const bool right : {true, false}) {
        if (!right) std::erase(query.entrants, plain);
        KnownMachine loud(landscape(1), jitter(3, 1));
        const SizeResult result = search(loud, "quick", query);
        EXPECT_EQ(result.undecided, right);
        EXPECT_EQ(result.winner() == plain, right);
    }
}

// A neighbour is the winner of another size. Which of several wins is tested of the race.
TEST_P(Rigors, give_ties_to_the_neighbours_else_to_the_simplest) {
    const Entrant behind = entrant_named("YMM T NT T1 6 18"),
                  tied = entrant_named("XMM T T T2 8 4");
    auto ratios = hot_ratios(whole_space(), [](const auto&) { return 1.1; });
    KnownMachine alike(ratios);
    ratios[Workload::hot][behind.index()] = 1;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        EXPECT_EQ(search(alike, GetParam(), {.seed = seed}).winner(),
                  entrant_named("REP_MOVSB T T none 0 0"));
        KnownMachine machine(ratios, jitter(0.002, seed));
        const SizeResult result =
            search(machine, GetParam(), {.seed = seed, .neighbours = {{behind, tied}}});
        EXPECT_EQ(result.winner(), tied);
        EXPECT_TRUE(contains(result.finalists, behind, &Finalist::candidate));
    }
}

TEST_P(Rigors, time_the_same_in_the_same_order_for_the_same_seed) {
    KnownMachine one(landscape(1)), two(landscape(1)), other(landscape(1));
    search(one, GetParam(), {.seed = 42});
    search(two, GetParam(), {.seed = 42});
    search(other, GetParam(), {.seed = 43});
    EXPECT_TRUE(one.calls == two.calls);
    EXPECT_FALSE(one.calls == other.calls);
}

TEST(Search, times_about_as_much_as_planned_and_every_entrant_in_exhaustive_alone) {
    std::vector<std::size_t> timed;
    const std::vector<Workload> workloads = {Workload::hot, Workload::hot_read}; // which waits
    for (const char* rigor : {"quick", "standard", "exhaustive"}) {
        KnownMachine machine(landscape(1, workloads));
        search(machine, rigor, {.objectives = {equal_weights(workloads)}});
        timed.push_back(timed_on(machine).size());
        std::size_t planned = 2 * run_off_samples(parse_rigor(rigor));
        for (const bool waits : {false, true}) {
            planned += screening_samples(parse_rigor(rigor), whole_space(), waits, false);
        }
        EXPECT_NEAR(static_cast<double>(machine.calls.size()) / static_cast<double>(planned), 1,
                    0.25);
    }
    EXPECT_LT(timed[0], timed[1]);
    EXPECT_LT(timed[1], whole_space().size() / 2);
    EXPECT_EQ(timed[2], whole_space().size());
}

TEST(RigorAt, lets_a_standard_search_try_large_copies_as_a_quick_one_does) {
    for (const char* name : {"quick", "standard", "exhaustive"}) {
        const Rigor rigor = parse_rigor(name);
        EXPECT_EQ(rigor_at(rigor, kModerateCopy - 1).name, name);
        EXPECT_EQ(rigor_at(rigor, kModerateCopy - 1).contest_rounds, rigor.contest_rounds);
        const bool lighter = rigor.name == "standard";
        for (const std::size_t size : {kModerateCopy, kContestedCopy, kContestedCopy + 1}) {
            const Rigor here = rigor_at(rigor, size), quick = parse_rigor("quick");
            EXPECT_EQ(here.name, lighter ? "quick" : name);
            const bool fewer = lighter && size > kContestedCopy;
            EXPECT_EQ(here.contest_rounds, (fewer ? quick : rigor).contest_rounds);
        }
    }
}

TEST_P(Rigors, time_no_entrant_that_was_left_out_and_work_with_few_but_not_with_none) {
    KnownMachine machine(hot_ratios(whole_space(), [](const auto&) { return 1.2; }));
    Query query;
    const Entrants all = query.entrants;
    for (const std::ptrdiff_t count : {1, 2, 7, 2000}) {
        query.entrants.assign(all.end() - count, all.end());
        const SizeResult result = search(machine, GetParam(), query);
        EXPECT_TRUE(count > 7 || result.winner() == query.entrants.front());
        EXPECT_LE(std::ssize(result.finalists), count);
        for (const auto& call : machine.calls) EXPECT_EQ(std::get<0>(call), kSize);
        for (const Entrant timed : timed_on(machine)) EXPECT_GE(timed, query.entrants.front());
        machine.calls.clear();
    }
    query.entrants.clear();
    EXPECT_THROW(search(machine, GetParam(), query), Failure);
}
