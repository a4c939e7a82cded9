// The race on made-up machines: the order of timings, and the samples that count.
#include "search/race.hpp"

#include "search/race_track.hpp"

using namespace asterope::races;

namespace {

/// Every third leaves the caches otherwise than libc does, where `mixed`.
int cache_effect(Entrant entrant, bool mixed) {
    return mixed && entrant.is_listed() && entrant.index() % 3 == 0;
}

/// The copies of these cache effects, for a race that minds them.
std::vector<TimedCopy> copies(std::size_t count, bool mixed) {
    std::vector<TimedCopy> copies;
    for (const Entrant i : all_entrants(count))
        copies.push_back({.cache_effect = cache_effect(i, mixed)});
    return copies;
}

/// The calls of each round and workload, in their order.
using Turns = std::map<std::pair<std::uint64_t, Workload>, Entrants>;

Turns turns(const KnownMachine& machine) {
    Turns turns;
    for (const auto& [size, workload, entrant, round] : machine.calls) {
        turns[{round, workload}].push_back(entrant);
    }
    return turns;
}

Truths no_two_alike(int count) {
    Truths truths;
    for (int i = 0; i < count; ++i) truths.push_back({1 + 0.01 * (i * 7 % count), 1 + 0.01 * i});
    return truths;
}

/// Each turn has one change, and the next goes on with the cache effect that ended it.
void expect_companies_together(const Turns& turns) {
    int last = cache_effect(turns.begin()->second.front(), true);
    for (const auto& [when, turn] : turns) {
        std::vector<int> effects;
        for (const Entrant entrant : turn) effects.push_back(cache_effect(entrant, true));
        effects.erase(std::unique(effects.begin(), effects.end()), effects.end());
        EXPECT_EQ(effects, (std::vector{last, 1 - last}));
        last = effects.back();
    }
}

// A candidate is compared with a copy that was timed in its round, at most 12 samples away, and
// that left the caches as libc does. Cache effects go one after the other.
TEST(Race, samples_each_as_often_as_asked_in_heats_of_another_order_with_libc_all_along) {
    for (const bool mixed : {false, true}) {
        Track track(no_two_alike(120), {kBothAlike}, 1, jitter(0, 1), copies(120, mixed));
        track.race.sample(track.all, 4);
        const Turns heats = turns(track.machine);
        ASSERT_EQ(heats.size(), 2u * 2 * 4); // of 96 and 24, twice four times
        if (mixed) expect_companies_together(heats);
        std::set<Entrants> orders;
        for (const auto& [when, heat] : heats) {
            EXPECT_TRUE(orders.insert(heat).second);
            Entrants own = heat;
            std::erase_if(own, [&](Entrant one) { return cache_effect(one, mixed) != 0; });
            EXPECT_EQ(own.front(), kLibc);
            EXPECT_EQ(own.back(), kLibc);
            const auto libcs = std::count(heat.begin(), heat.end(), kLibc);
            EXPECT_EQ(libcs, (std::ssize(heat) - libcs) / 12 + 1);
            for (auto at = own.begin(); own.end() - at > 13; ++at) {
                EXPECT_GT(std::count(at, at + 13, kLibc), 0);
            }
        }
        EXPECT_EQ(track.samples().size(), 2u * 120);
        for (const auto& [what, count] : track.samples()) EXPECT_EQ(count, 4) << what.first.index();
        const auto truth = [&](Entrant one) { return std::round(1e9 * track.machine.ratio(one)); };
        EXPECT_TRUE(std::ranges::is_sorted(track.ranked(), std::greater(), truth))
            << "each time was kept with what was timed";
    }
}

TEST(Race, samples_what_waits_for_the_run_off_only_when_asked_for_all_and_then_ranks_by_it) {
    KnownMachine machine({{Workload::hot, {1.0, 1.1}}, {Workload::fetch, {1.5, 0.9}}});
    Race race(kRaceSize, Weights{{Workload::hot, 1}, {Workload::fetch, 1}}, machine);
    Entrants entrants = all_entrants(2);
    race.sample(entrants, 1);
    for (const auto& call : machine.calls) EXPECT_EQ(std::get<1>(call), Workload::hot);
    race.rank(entrants);
    EXPECT_EQ(entrants, (Entrants{1, 0}));
    race.sample(entrants, 1, Race::Weighed::all);
    race.rank(entrants);
    EXPECT_EQ(entrants, (Entrants{0, 1}));
}

TEST(Race, ranks_by_the_weighted_mean) {
    Track track({{1.1, 1.3}, {2, 1.01}, {1, 1}}, {kBothAlike, weights(1, 3), weights(0, 1)});
    track.race.sample(track.all, 3);
    EXPECT_EQ(track.ranked(0), (Entrants{1, 0, 2})); // 1.42, 1.20, 1
    EXPECT_EQ(track.ranked(1), (Entrants{0, 1, 2})); // 1.25, 1.20, 1
    EXPECT_EQ(track.ranked(2), (Entrants{0, 1, 2})); // 1.3, 1.01, 1
}

TEST(Race, keeps_the_best_and_ranks_a_large_loss_behind_a_small_gain) {
    Truths truths;
    for (int i = 0; i < 6; ++i) truths.push_back({0.8, 1.3 + 0.1 * i});
    for (int i = 0; i < 3; ++i) truths.push_back({1.01 + 0.1 * i, 1});
    Track track(truths, {kBothAlike});
    track.race.sample(all_entrants(9), 3);
    EXPECT_EQ(track.race.best(all_entrants(9), 4), (Entrants{8, 7, 6, 5}));
    EXPECT_EQ(track.race.best(all_entrants(9), 1), Entrants{8});
    EXPECT_EQ(track.race.best(all_entrants(9), 100).size(), 9u);
}

TEST(RunOff, times_each_cache_effect_one_after_the_other) {
    Track track(Truths(8, {1, 1}), {kBothAlike}, 1, jitter(0, 1), copies(8, true));
    track.run_off();
    const Turns rounds = turns(track.machine);
    ASSERT_EQ(rounds.size(), 18u);
    expect_companies_together(rounds);
    for (const auto& [when, round] : rounds) EXPECT_EQ(round.size(), 10u);
}

/// Every round is disturbed twice before it is quiet. In a disturbed try libc is far slower, and
/// what is timed late far faster.
struct DisturbedMachine : KnownMachine {
    using KnownMachine::KnownMachine;

    Sample sample(const SampleRequest& asked) override {
        const double ns = KnownMachine::sample(asked).ns;
        ++in_try;
        if (is_quiet()) return {ns};
        return {!asked.entrant.is_listed() ? 9 * ns : ns / static_cast<double>(in_try)};
    }
    RoundEnd round_ended() override {
        if (is_quiet()) quiet.insert(quiet.end(), calls.end() - in_try, calls.end());
        in_try = 0;
        return {{}, tries++ % 3 != 2};
    }
    void enter(Stage stage) override { stages.emplace_back(stage, calls.size()); }
    bool is_quiet() const { return tries % 3 == 2; }

    std::vector<Call> quiet;                           ///< what counts
    std::vector<std::pair<Stage, std::size_t>> stages; ///< with the calls before each
    int tries = 0;
    std::ptrdiff_t in_try = 0;
};

TEST(RunOff, times_fresh_memory_seldom_where_it_counts_little_for_all_objectives) {
    const Weights little = {{Workload::hot, 0.97}, {Workload::fresh, 0.03}};
    const std::pair<std::vector<Weights>, int> rows[] = {{{little}, 3},
                                                         {{little, {{Workload::fresh, 1}}}, 9}};
    for (const auto& [objectives, rounds] : rows) {
        KnownMachine machine({{Workload::hot, {1.1}}, {Workload::fresh, {1.2}}});
        Race race(std::size_t{1} << 20, objectives, machine);
        const std::vector<SizeResult> results =
            race.run_offs({0}, 9, std::vector<Entrants>(objectives.size()));
        const auto fresh = std::ranges::count_if(machine.calls, [](const auto& call) {
            return std::get<1>(call) == Workload::fresh && std::get<2>(call) == 0;
        });
        EXPECT_EQ(fresh, rounds);
        EXPECT_EQ(results.front().samples, static_cast<std::size_t>(9 + rounds));
        EXPECT_NEAR(results.front().finalists.front().workloads.at(Workload::fresh).ratio.median,
                    1.2, 1e-9);
    }
}

TEST(DisturbedRounds, are_repeated_alike_do_not_count_and_change_no_other) {
    const Truths truths = no_two_alike(50);
    Track<DisturbedMachine> disturbed(truths, {kBothAlike});
    Track quiet(truths, {kBothAlike});
    const KnownMachine& machine = quiet.machine;
    disturbed.race.sample(all_entrants(50), 2);
    quiet.race.sample(all_entrants(50), 2);
    const std::size_t screened = disturbed.machine.calls.size();

    EXPECT_EQ(disturbed.ranked(), quiet.ranked());
    quiet.race.run_off(all_entrants(6), 9, kLibc);
    const SizeResult result = disturbed.race.run_off(all_entrants(6), 9, kLibc);
    EXPECT_EQ(disturbed.machine.quiet, machine.calls);
    EXPECT_EQ(disturbed.machine.calls.size(), 3 * machine.calls.size());
    for (const Finalist& finalist : result.finalists) {
        EXPECT_NEAR(finalist.ratio, machine.ratio(finalist.candidate), 1e-9);
        const Estimate& hot = finalist.workloads.at(Workload::hot).ratio;
        EXPECT_NEAR(hot.low, machine.ratio(finalist.candidate, Workload::hot), 1e-9);
        EXPECT_NEAR(hot.high, hot.low, 1e-9);
    }
    using Stage = Timings::Stage;
    EXPECT_EQ(disturbed.machine.stages, (std::vector<std::pair<Stage, std::size_t>>{
                                            {Stage::screening, 0}, {Stage::run_off, screened}}));
}

/// The time of one reference, which is slower than libc on cached data, and faster on uncached
/// data.
double reference_time(Workload workload, Entrant entrant, std::uint64_t) {
    return !entrant.is_reference() ? 1 : workload == Workload::hot ? 1 / 0.9 : 1 / 1.2;
}

Track<> judged(const Truths& truths, const Weights& weights) {
    return {truths, {weights}, 1, reference_time, {}, {reference_copy("new-1.0", nullptr, 0)}};
}

// No round of the run-off is one of screening: its samples are fresh.
TEST(References, run_in_every_heat_and_beside_all_and_both_of_libcs_names_in_the_run_off) {
    Track<> track = judged(Truths(100, {1, 1}), kBothAlike);
    track.race.sample(track.all, 2);
    track.race.run_off({0, 1}, 5, kLibc);
    const Turns rounds = turns(track.machine);
    EXPECT_EQ(rounds.size(), 2u * (2 * 2 + 5));
    int run_off = 0;
    for (const auto& [when, round] : rounds) {
        EXPECT_GT(std::ranges::count_if(round, &Entrant::is_reference), 0);
        run_off += std::multiset(round.begin(), round.end()) ==
                   std::multiset<Entrant>{Entrant::reference(0), kLibcAgain, kLibc, 0, 1};
    }
    EXPECT_EQ(run_off, 2 * 5);
}

TEST(References, judge_where_they_are_faster_than_libc) {
    // as fast as libc where cold, which a reference beats
    Track<> track = judged({{1.3, 1}, {1.25, 1.2}}, weights(9, 1));
    track.race.sample(track.all, 2);
    EXPECT_EQ(track.ranked(), (Entrants{1, 0}));
    const SizeResult result = track.run_off();
    EXPECT_EQ(result.winner(), 1);
    const auto& measured = result.finalists.front().workloads;
    const Measured &hot = measured.at(Workload::hot), &cold = measured.at(Workload::cold);
    ASSERT_TRUE(hot.best_ratio && cold.best_ratio);
    EXPECT_EQ(hot.best_reference, "libc");
    EXPECT_NEAR(hot.judged_ratio().median, 1.25, 1e-9);
    EXPECT_EQ(cold.best_reference, "new-1.0");
    EXPECT_NEAR(cold.judged_ratio().median, 1, 1e-9);
    EXPECT_NEAR(cold.ratio.median, 1.2, 1e-9); // libc's as well
}

} // namespace
