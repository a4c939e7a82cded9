// The race on made-up machines: what is timed when, what counts, what wins and what ties.
#include "search/race.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <set>

#include "support/known_machine.hpp"
#include "timing/timed_copy.hpp"

using namespace asterope;

namespace {

constexpr std::size_t kSize = 4096;

/// Libc's time over each entrant's: under hot, cold and consume, as far as given.
using Truths = std::vector<std::vector<double>>;

KnownMachine::Ratios ratios(const Truths& truths) {
    constexpr Workload kWorkloads[] = {Workload::hot, Workload::cold, Workload::consume};
    KnownMachine::Ratios ratios;
    for (const std::vector<double>& truth : truths) {
        for (std::size_t i = 0; i < truth.size(); ++i) ratios[kWorkloads[i]].push_back(truth[i]);
    }
    return ratios;
}

Weights weights(double hot, double cold) {
    return {{Workload::hot, hot}, {Workload::cold, cold}};
}

const Weights kBoth = weights(1, 1);
const Weights kHotAlone = {{Workload::hot, 1}}, kColdAlone = {{Workload::cold, 1}},
              kConsume = {{Workload::consume, 1}},
              kMean = {{Workload::hot, 1}, {Workload::cold, 1}, {Workload::consume, 1}};

using Entrants = std::vector<Entrant>;

Entrants first(std::size_t count) {
    Entrants entrants;
    for (std::size_t i = 0; i < count; ++i) entrants.push_back(static_cast<Entrant>(i));
    return entrants;
}

/// Every third leaves the caches otherwise than libc does, where `mixed`.
int cache_effect(Entrant entrant, bool mixed) {
    return mixed && entrant >= 0 && entrant % 3 == 0 ? 1 : 0;
}

/// A race on a machine of which the truth is known. What follows the seed goes to the machine.
template <class Machine = KnownMachine> struct Track {
    template <class... Rest>
    Track(const Truths& truths, std::vector<Weights> objectives, std::uint64_t seed = 1,
          Rest... rest)
        : all(first(truths.size())), random(seed), machine(ratios(truths), rest...),
          race(kSize, std::move(objectives), random, machine) {}

    SizeResult run_off(int rounds = 9, Entrant favourite = kLibc, Entrant plain = kLibc) {
        return race.run_off(all, rounds, favourite, plain);
    }
    Entrant winner(int rounds = 9, Entrant favourite = kLibc) {
        return run_off(rounds, favourite).finalists.front().candidate;
    }
    Entrants ranked(std::size_t objective = 0) const {
        Entrants entrants = all;
        race.rank(entrants, objective);
        return entrants;
    }
    /// How often each candidate was timed under each workload.
    std::map<std::pair<Entrant, Workload>, int> samples() const {
        std::map<std::pair<Entrant, Workload>, int> samples;
        for (const auto& [size, workload, entrant, round] : machine.calls) {
            EXPECT_EQ(size, kSize);
            if (entrant >= 0) ++samples[{entrant, workload}];
        }
        return samples;
    }
    std::set<Workload> workloads() const {
        std::set<Workload> seen;
        for (const auto& [what, count] : samples()) seen.insert(what.second);
        return seen;
    }

    Entrants all;
    noise::Random random;
    Machine machine;
    Race race;
};

/// The calls, those of one round and workload together.
std::vector<Entrants> turns(const KnownMachine& machine) {
    std::vector<Entrants> turns;
    const KnownMachine::Call* last = nullptr;
    for (const KnownMachine::Call& call : machine.calls) {
        const auto& [size, workload, entrant, round] = call;
        if (!last || std::get<1>(*last) != workload || std::get<3>(*last) != round) {
            turns.emplace_back();
        }
        turns.back().push_back(entrant);
        last = &call;
    }
    return turns;
}

/// Each turn has one change at most, and the next goes on with the cache effect that ended it.
void expect_companies_together(const std::vector<Entrants>& turns) {
    int last = 0;
    for (const Entrants& turn : turns) {
        int changes = 0, before = cache_effect(turn.front(), true);
        EXPECT_EQ(before, last) << "the company changes between two turns";
        for (const Entrant entrant : turn) {
            const int own = cache_effect(entrant, true);
            changes += own != before;
            before = own;
        }
        EXPECT_EQ(changes, 1);
        last = before;
    }
}

/// The copies of these cache effects, for a race that minds them.
std::vector<TimedCopy> copies(std::size_t count, bool mixed) {
    std::vector<TimedCopy> copies;
    for (const Entrant i : first(count)) {
        copies.push_back({nullptr, 0, cache_effect(i, mixed), nullptr, std::to_string(i)});
    }
    return copies;
}

} // namespace

// --- Samples -------------------------------------------------------------------------------------

// What a candidate is compared with was timed in its round, at most 12 trials away, and left the
// caches as libc does. Cache effects go one after the other.
TEST(Race, samples_each_as_often_as_asked_in_heats_with_libc_all_along) {
    for (const bool mixed : {false, true}) {
        noise::Random random(1);
        KnownMachine machine(ratios(Truths(120, {1, 1})));
        const auto entrants = copies(120, mixed);
        Race race(kSize, kBoth, random, TimedCopies(machine, entrants, {.name = "libc"}));
        race.sample(first(120), 4);
        const auto heats = turns(machine);
        ASSERT_EQ(heats.size(), 2u * 2 * 4); // of 96 and 24, twice four times
        if (mixed) expect_companies_together(heats);
        std::map<Entrant, int> samples;
        for (const Entrants& heat : heats) {
            Entrants own;
            for (const Entrant entrant : heat) {
                ++samples[entrant];
                if (cache_effect(entrant, mixed) == 0) own.push_back(entrant);
            }
            EXPECT_EQ(own.front(), kLibc);
            EXPECT_EQ(own.back(), kLibc);
            const auto libcs = std::count(heat.begin(), heat.end(), kLibc);
            EXPECT_EQ(libcs, (std::ssize(heat) - libcs) / 12 + 1);
            for (auto at = own.begin(); own.end() - at > 13; ++at) {
                EXPECT_GT(std::count(at, at + 13, kLibc), 0);
            }
        }
        for (const Entrant entrant : first(120)) EXPECT_EQ(samples[entrant], 8) << entrant;
    }
}

TEST(Race, samples_in_another_order_each_time) {
    Track track(Truths(20, {1, 1}), {kBoth});
    track.race.sample(track.all, 10);
    const auto heats = turns(track.machine);
    EXPECT_EQ(std::set(heats.begin(), heats.end()).size(), 20u); // ten of each workload
}

TEST(Race, samples_what_waits_for_the_run_off_only_when_asked_for_all_and_then_ranks_by_it) {
    noise::Random random{1};
    KnownMachine machine({{Workload::hot, {1.0, 1.1}}, {Workload::fetch, {1.5, 0.9}}});
    Race race(kSize, Weights{{Workload::hot, 1}, {Workload::fetch, 1}}, random, machine);
    Entrants entrants = first(2);
    race.sample(entrants, 1);
    for (const auto& call : machine.calls) EXPECT_EQ(std::get<1>(call), Workload::hot);
    race.rank(entrants);
    EXPECT_EQ(entrants, (Entrants{1, 0}));
    race.sample(entrants, 1, Race::Weighed::all);
    race.rank(entrants);
    EXPECT_EQ(entrants, (Entrants{0, 1}));
}

TEST(Race, keeps_each_time_with_what_was_timed) {
    Truths truths;
    for (int i = 0; i < 30; ++i) truths.push_back({1 + 0.01 * (i * 7 % 30)});
    noise::Random random(1);
    KnownMachine machine(ratios(truths));
    const auto entrants = copies(30, true);
    Race race(kSize, kHotAlone, random, TimedCopies(machine, entrants, {.name = "libc"}));
    race.sample(first(30), 2);
    Entrants ranked = first(30);
    race.rank(ranked);
    for (std::size_t i = 1; i < ranked.size(); ++i) {
        EXPECT_GT(machine.ratio(ranked[i - 1]), machine.ratio(ranked[i]));
    }
}

// --- Ranks ---------------------------------------------------------------------------------------

TEST(Race, ranks_by_the_weighted_mean) {
    Track track({{1.1, 1.3}, {2, 1.01}, {1, 1}}, {kBoth, weights(1, 3), weights(0, 1)});
    track.race.sample(track.all, 3);
    EXPECT_EQ(track.ranked(0), (Entrants{1, 0, 2})); // 1.42, 1.20, 1
    EXPECT_EQ(track.ranked(1), (Entrants{0, 1, 2})); // 1.25, 1.20, 1
    EXPECT_EQ(track.ranked(2), (Entrants{0, 1, 2})); // 1.3, 1.01, 1
}

TEST(Race, keeps_the_best_and_ranks_a_large_loss_behind_a_small_gain) {
    Truths truths;
    for (int i = 0; i < 6; ++i) truths.push_back({0.8, 1.3 + 0.1 * i});
    for (int i = 0; i < 3; ++i) truths.push_back({1.01 + 0.1 * i, 1});
    Track track(truths, {kBoth});
    track.race.sample(first(9), 3);
    EXPECT_EQ(track.race.best(first(9), 4), (Entrants{8, 7, 6, 5}));
    EXPECT_EQ(track.race.best(first(9), 1), Entrants{8});
    EXPECT_EQ(track.race.best(first(9), 100).size(), 9u);
}

// --- The run-off ---------------------------------------------------------------------------------

TEST(RunOff, has_all_and_libc_under_both_names_in_every_round) {
    Track track({{1, 1}, {1.1, 1}, {1.2, 1}}, {kBoth, kHotAlone});
    track.race.sample(track.all, 2);
    const std::size_t before = track.machine.calls.size();
    const std::uint64_t last = std::get<3>(track.machine.calls.back());
    track.race.run_offs(track.all, 9, {{}, {}});
    std::map<std::pair<std::uint64_t, Workload>, std::multiset<Entrant>> rounds;
    for (std::size_t i = before; i < track.machine.calls.size(); ++i) {
        const auto& [size, workload, entrant, round] = track.machine.calls[i];
        rounds[{round, workload}].insert(entrant);
    }
    EXPECT_EQ(rounds.size(), 18u);
    for (const auto& [round, entrants] : rounds) {
        EXPECT_EQ(entrants, (std::multiset<Entrant>{kLibcAgain, kLibc, 0, 1, 2}));
        EXPECT_GT(round.first, last) << "the samples are not fresh";
    }
}

TEST(RunOff, times_each_cache_effect_one_after_the_other) {
    noise::Random random(1);
    KnownMachine machine(ratios(Truths(8, {1, 1})));
    const auto entrants = copies(8, true);
    Race(kSize, kBoth, random, TimedCopies(machine, entrants, {.name = "libc"}))
        .run_off(first(8), 9, kLibc);
    const auto rounds = turns(machine);
    ASSERT_EQ(rounds.size(), 18u);
    expect_companies_together(rounds);
    for (const Entrants& round : rounds) EXPECT_EQ(round.size(), 10u);
}

TEST(RunOff, reports_size_rounds_times_and_order) {
    Track track({{1.2, 1}, {1.5, 0.98}, {0.9, 1.2}, {1.3, 1}}, {kBoth});
    const SizeResult result = track.run_off(7);
    EXPECT_EQ(result.size, kSize);
    EXPECT_EQ(result.rounds, 7);
    EXPECT_NEAR(result.noise_floor.at(Workload::hot).median, 1, 1e-9);
    Entrants order;
    for (const Finalist& finalist : result.finalists) order.push_back(finalist.candidate);
    EXPECT_EQ(order, (Entrants{1, 3, 0, 2})); // 2 loses in the hot workload
    const Measured& cold = result.finalists.front().workloads.at(Workload::cold);
    EXPECT_NEAR(cold.ns, 1e9 * kLibcSeconds / 0.98, 1e-3);
    EXPECT_NEAR(cold.libc_ns, 1e9 * kLibcSeconds, 1e-3);
    EXPECT_NEAR(cold.ratio.low, 0.98, 1e-9);
    EXPECT_TRUE(result.finalists.front().tied);
}

TEST(RunOff, chooses_by_weights_losses_ties_and_favourites) {
    const struct {
        const char* rule;
        Truths truths;
        Weights weights;
        Entrants favourites;
        Entrant winner;
    } cases[] = {
        {"a loss counts several times", {{0.9, 1.3}, {1.01, 1.02}}, kBoth, {}, 1},
        {"a small one less", {{0.97, 1.3}, {1.01, 1.02}}, kBoth, {}, 0},
        {"a gain can be large enough", {{0.9, 3}, {1.01, 1.02}}, kBoth, {}, 0},
        {"all lose somewhere", {{0.96, 3}, {1.5, 0.96}}, kBoth, {}, 0},
        {"a loss where it does not count", {{1.2, 0.3}, {1.1, 1.1}}, weights(1, 0), {}, 0},
        {"a loss where it counts little", {{3, 0.9}, {1.01, 1.02}}, weights(99, 1), {}, 0},
        {"a favourite that loses somewhere", {{1.06, 1.0}, {0.96, 1.105}}, kBoth, {1}, 0},
        {"weights", {{1.6, 1}, {1, 1.3}}, kBoth, {}, 0},
        {"other weights", {{1.6, 1}, {1, 1.3}}, weights(1, 3), {}, 1},
        {"a tie goes to the lowest index", {{1.300, 1}, {1.305, 1}, {1.302, 1}}, kBoth, {}, 0},
        {"or to a favourite", {{1.300, 1}, {1.305, 1}, {1.302, 1}}, kBoth, {2, 1}, 2},
        {"the first of them", {{1.300, 1}, {1.305, 1}, {1.302, 1}}, kBoth, {1, 2}, 1},
        {"that ties", {{1.302, 1}, {1.305, 1}, {1.3, 1}, {1.2, 1}}, kBoth, {3, 2, 1}, 2},
        {"and runs", {{1.302, 1}, {1.305, 1}, {1.3, 1}}, kBoth, {9, kLibc, 1}, 1},
        {"no favourite ties", {{1.302, 1}, {1.305, 1}, {1.3, 1}, {1.2, 1}}, kBoth, {3}, 0},
        {"a real lead", {{1.30, 1}, {1.37, 1}, {1.31, 1}}, kBoth, {0}, 1},
        {"ties are by the weighted mean", {{1.2, 1.2}, {1.44, 1.0}}, kBoth, {1}, 1},
        {"and by that alone", {{1.2, 1.2}, {1.44, 1.0}}, kBoth, {0}, 0},
        {"of these weights", {{1.2, 1.2}, {1.44, 1.0}}, weights(2, 1), {0}, 1},
        {"not of those that are 0", {{1.2, 1}, {1.2, 9}}, weights(1, 0), {}, 0},
    };
    for (const auto& [rule, truths, weights, favourites, winner] : cases) {
        Track track(truths, {weights});
        const auto results = track.race.run_offs(track.all, 9, {favourites});
        EXPECT_EQ(results.front().finalists.front().candidate, winner) << rule;
    }
}

namespace {

/// Entrant 0 lags 4 % behind entrant 1 in two rounds of three under each workload, and is far ahead
/// in the third, which is another one for each: by the medians it is behind, by the rounds' means
/// ahead.
class Alternating : public TimingsInSeconds {
  public:
    double seconds(std::size_t, Workload workload, Entrant entrant, std::uint64_t round) override {
        if (entrant < 0) return 1e-6;
        const bool ahead = round % 3 == (workload == Workload::hot ? 1u : 2u);
        const double lag = entrant == 1 ? 0 : ahead ? -0.2 : 0.04;
        return 1e-6 / 1.1 * std::exp(lag);
    }
};

} // namespace

// What libc's own time differs by is no loss.
TEST(RunOff, forgives_a_loss_where_libc_is_as_far_from_itself) {
    class LibcApart : public KnownMachine {
      public:
        using KnownMachine::KnownMachine;
        double seconds(std::size_t size, Workload workload, Entrant entrant,
                       std::uint64_t round) override {
            return KnownMachine::seconds(size, workload, entrant, round) *
                   (entrant == kLibcAgain ? 1.12 : 1);
        }
    };
    const Truths truths = {{0.9, 1.3}, {1.01, 1.02}};
    EXPECT_EQ(Track(truths, {kBoth}).winner(), 1);
    EXPECT_EQ(Track<LibcApart>(truths, {kBoth}).winner(), 0);
}

// What is reported is the mean of the medians.
TEST(RunOff, ties_nothing_whose_score_is_behind_by_more_than_a_tie_may_cost) {
    noise::Random random(1);
    Alternating timings;
    const SizeResult result = Race(kSize, kBoth, random, timings).run_off({0, 1}, 9, kLibc);
    EXPECT_EQ(result.finalists.front().candidate, 1);
    EXPECT_NEAR(result.finalists.front().ratio / result.finalists.back().ratio, std::exp(0.04),
                1e-9);
}

// --- What a winner rests on ----------------------------------------------------------------------

TEST(Proof, counts_how_often_the_winner_was_timed_where_it_counts) {
    for (const Weights& each : {kBoth, weights(1, 0)}) {
        const std::size_t workloads = each == kBoth ? 2 : 1;
        Track track({{1, 1}, {1.5, 1.5}, {1.2, 1}}, {each});
        track.race.sample(track.all, 4);
        track.race.sample({0, 1}, 3); // 2 was dropped
        const SizeResult result = track.run_off();
        ASSERT_EQ(result.finalists.front().candidate, 1);
        EXPECT_EQ(result.samples, workloads * (4 + 3 + 9));
    }
    // The winner of a neighbouring size takes part without having been screened at this one.
    Track joined({{1, 1}, {1.5, 1.5}}, {kBoth});
    joined.race.sample({0}, 4);
    EXPECT_EQ(joined.run_off().samples, 2u * 9);
    // The winner of a tie is not the leader, which was sampled more often.
    Track tied({{1.5, 1.5}, {1.505, 1.505}}, {kBoth});
    tied.race.sample(tied.all, 4);
    tied.race.sample({1}, 3);
    EXPECT_EQ(tied.run_off(9, 0).samples, 2u * (4 + 9));
}

TEST(Proof, has_the_lead_over_the_runner_up_by_the_weights) {
    const auto lead = [](const Truths& truths, const Weights& weights, Entrant favourite = kLibc) {
        const Estimate lead = Track(truths, {weights}).run_off(9, favourite).lead;
        EXPECT_NEAR(lead.low, lead.median, 1e-9); // nothing is random here
        EXPECT_NEAR(lead.high, lead.median, 1e-9);
        return lead.median;
    };
    const Truths truths = {{1, 1}, {1.5, 1.2}, {1.2, 1.1}};
    EXPECT_NEAR(lead(truths, kBoth), std::sqrt(1.5 / 1.2 * 1.2 / 1.1), 1e-9);
    EXPECT_NEAR(lead(truths, weights(1, 3)), std::pow(1.5 / 1.2, 0.25) * std::pow(1.2 / 1.1, 0.75),
                1e-9);
    EXPECT_NEAR(lead(truths, weights(1, 0)), 1.5 / 1.2, 1e-9);
    // The runner-up has the better mean, but loses much in one workload.
    EXPECT_NEAR(lead({{1.2, 1.2}, {0.8, 2}}, kBoth), std::sqrt(1.2 * 1.2 / 0.8 / 2), 1e-9);
    EXPECT_NEAR(lead({{1.300, 1}, {1.305, 1}}, weights(1, 0), 0), 1.300 / 1.305, 1e-9) << "a tie";
    EXPECT_EQ(lead({{1.5, 1.2}}, kBoth), 1) << "it ran alone";
}

// --- Disturbed rounds and stages -----------------------------------------------------------------

namespace {

/// Every round is disturbed twice before it is quiet. In a disturbed try libc is far slower, and
/// what is timed late far faster.
class DisturbedMachine : public KnownMachine {
  public:
    using KnownMachine::KnownMachine;

    double seconds(std::size_t size, Workload workload, Entrant entrant,
                   std::uint64_t round) override {
        const double seconds = KnownMachine::seconds(size, workload, entrant, round);
        ++in_try_;
        if (is_quiet()) return seconds;
        return entrant < 0 ? 9 * seconds : seconds / static_cast<double>(in_try_);
    }

    bool disturbed() override {
        const std::vector<Call> round(calls.end() - in_try_, calls.end());
        EXPECT_TRUE(tries_ % 3 == 0 || round == last_) << "it was repeated otherwise";
        last_ = round;
        if (is_quiet()) quiet.insert(quiet.end(), round.begin(), round.end());
        in_try_ = 0;
        return tries_++ % 3 != 2;
    }
    void enter(Stage stage) override { stages.emplace_back(stage, calls.size()); }

    std::vector<Call> quiet;                           ///< what counts
    std::vector<std::pair<Stage, std::size_t>> stages; ///< with the calls before each

  private:
    bool is_quiet() const { return tries_ % 3 == 2; }

    std::vector<Call> last_;
    int tries_ = 0;
    std::ptrdiff_t in_try_ = 0;
};

} // namespace

TEST(DisturbedRounds, are_repeated_alike_do_not_count_and_change_no_other) {
    Truths truths; // no two are alike
    for (int i = 0; i < 50; ++i) truths.push_back({1 + 0.01 * (i * 7 % 50), 1 + 0.01 * i});
    Track<DisturbedMachine> disturbed(truths, {kBoth});
    Track quiet(truths, {kBoth});
    const KnownMachine& machine = quiet.machine;
    disturbed.race.sample(first(50), 2);
    quiet.race.sample(first(50), 2);
    const std::size_t screened = disturbed.machine.calls.size();

    const Entrants ranked = disturbed.ranked();
    for (std::size_t i = 1; i < ranked.size(); ++i) {
        EXPECT_GE(machine.ratio(ranked[i - 1]), machine.ratio(ranked[i]) * (1 - 1e-9));
    }

    quiet.race.run_off(first(6), 9, kLibc);
    const SizeResult result = disturbed.race.run_off(first(6), 9, kLibc);
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

// --- One kind of noise at a time -----------------------------------------------------------------

namespace {

/// How many times as long a trial takes.
using Trouble = std::function<double(Entrant, Workload, noise::Random&)>;

/// A quiet machine with one trouble.
class TroubledMachine : public JitteryMachine {
  public:
    TroubledMachine(Ratios ratios, Trouble trouble, std::uint64_t seed)
        : JitteryMachine(std::move(ratios), 0.002, seed), trouble_(std::move(trouble)) {}

    double seconds(std::size_t size, Workload workload, Entrant entrant,
                   std::uint64_t round) override {
        const double seconds = JitteryMachine::seconds(size, workload, entrant, round);
        return seconds * trouble_(entrant, workload, random_);
    }

  private:
    Trouble trouble_;
};

/// Its frequency falls by a tenth from the first trial to the `trials`-th, as when it warms up.
Trouble falling(double trials) {
    return [trials, trial = 0.0](auto...) mutable { return 1 / (1 - 0.1 * ++trial / trials); };
}

constexpr Entrant kBest = 5, kLucky = 3;

/// One in a hundred trials of kLucky takes half as long, as when a counter is read too late.
double lucky(Entrant entrant, Workload, noise::Random& random) {
    return entrant == kLucky && noise::uniform(random) < 0.01 ? 0.5 : 1;
}

/// Eight of which one leads by `lead`; 1.13 is so much that no rule about ties may take its win.
Truths one_leads(double lead = 1.13) {
    Truths truths(8, {1.1, 1.1});
    truths[kBest] = {lead, lead};
    return truths;
}

} // namespace

// Each heat is compared with the libc of its own: between the first and the last lie 10 %.
TEST(Drift, changes_no_rank_no_ratio_and_no_interval) {
    Truths truths;
    for (int i = 0; i < 96; ++i) truths.push_back({1 + 0.01 * (i * 7 % 96)});
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Track<TroubledMachine> field(truths, {kHotAlone}, seed, falling(3 * 4 * 27), seed);
        field.race.sample(field.all, 3);
        const Entrants ranked = field.ranked();
        for (std::size_t i = 0; i < ranked.size(); ++i) {
            const double expected = 1 + 0.01 * static_cast<double>(95 - i);
            EXPECT_NEAR(field.machine.ratio(ranked[i]), expected, 0.0101) << i;
        }

        Track<TroubledMachine> track(one_leads(), {kBoth}, seed, falling(15 * 2 * 10), seed);
        const SizeResult result = track.run_off(15, 0);
        EXPECT_EQ(result.finalists.front().candidate, kBest);
        for (const Finalist& finalist : result.finalists) {
            EXPECT_NEAR(finalist.ratio / track.machine.ratio(finalist.candidate), 1, 0.005);
            for (const auto& [workload, measured] : finalist.workloads) {
                EXPECT_LT(measured.ratio.high / measured.ratio.low, 1.015);
            }
        }
    }
}

TEST(LuckyShots, help_nothing_into_the_run_off_win_none_and_tie_with_no_winner) {
    Truths two_lead = one_leads();
    two_lead[2] = {1.12, 1.12};
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Track<TroubledMachine> screened(two_lead, {weights(1, 0)}, seed, lucky, seed);
        screened.race.sample(first(8), 7);
        EXPECT_EQ(screened.race.best(first(8), 2), (Entrants{kBest, 2})) << seed;

        Track<TroubledMachine> track(one_leads(), {weights(1, 0)}, seed, lucky, seed);
        const SizeResult result = track.run_off(15, kLucky);
        EXPECT_EQ(result.finalists.front().candidate, kBest) << seed;
        for (const Finalist& finalist : result.finalists) {
            EXPECT_EQ(finalist.tied, finalist.candidate == kBest) << seed;
            EXPECT_NEAR(finalist.ratio, track.machine.ratio(finalist.candidate), 0.01) << seed;
        }
    }
}

// In all kinds of noise: how often the best of eight that are alike leads, and a real lead is lost.
TEST(RunOff, tells_identical_work_from_a_real_difference) {
    int won_by_luck = 0, missed = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Track<NoisyMachine> alike(one_leads(1.1), {kBoth}, seed, 0.01, seed);
        won_by_luck += alike.winner(15, 0) != 0;
        Track<NoisyMachine> one(one_leads(1.16), {kBoth}, seed, 0.01, seed);
        missed += one.winner(15, 0) != kBest;
    }
    EXPECT_LE(won_by_luck, 10);
    EXPECT_LE(missed, 5);
}

// --- Several objectives at once ------------------------------------------------------------------

namespace {

/// 0 to 3 are good where data is cached, 4 to 7 where it is not, 8 to 11 where it is read; each
/// worse than the one before, none losing anywhere.
const Truths kSpecialists = {{1.9, 1.1, 1.1}, {1.8, 1.1, 1.1}, {1.7, 1.1, 1.1}, {1.6, 1.1, 1.1},
                             {1.1, 1.9, 1.0}, {1.1, 1.8, 1.0}, {1.1, 1.7, 1.0}, {1.1, 1.6, 1.0},
                             {1.0, 1.0, 1.9}, {1.0, 1.0, 1.8}, {1.0, 1.0, 1.7}, {1.0, 1.0, 1.6}};

Entrants winners(const std::vector<SizeResult>& results) {
    Entrants winners;
    for (const SizeResult& each : results) winners.push_back(each.finalists.front().candidate);
    return winners;
}

} // namespace

TEST(Objectives, sample_once_what_counts_for_any_and_measure_the_rest_in_the_run_off) {
    const Weights hot = {{Workload::hot, 1}, {Workload::cold, 0}, {Workload::consume, 0}};
    Track track(kSpecialists, {hot, kColdAlone, kHotAlone});
    track.race.sample(track.all, 2);
    EXPECT_EQ(track.workloads(), (std::set<Workload>{Workload::hot, Workload::cold}));
    for (const auto& [what, count] : track.samples()) EXPECT_EQ(count, 2);
    const auto results = track.race.run_offs(track.all, 5, {{}, {}, {}});
    EXPECT_EQ(track.samples().size(), 36u);
    for (const auto& [what, count] : track.samples()) {
        EXPECT_EQ(count, what.second == Workload::consume ? 5 : 7);
    }
    // The second does not name consume at all; its figures are there all the same.
    for (const SizeResult& result : results) {
        EXPECT_EQ(result.noise_floor.size(), 3u);
        EXPECT_EQ(result.finalists.size(), 12u);
        EXPECT_EQ(result.rounds, 5);
        for (const Finalist& finalist : result.finalists) {
            const double truth = track.machine.ratio(finalist.candidate, Workload::consume);
            EXPECT_NEAR(finalist.workloads.at(Workload::consume).ratio.median, truth, 1e-9);
        }
    }
}

// Alone, the first would keep the same: its places are not for the others.
TEST(Objectives, leave_all_places_to_the_first_and_share_half_as_many_more) {
    Track track(kSpecialists, {kHotAlone, kColdAlone, kConsume}),
        other(kSpecialists, {kConsume, kColdAlone});
    Track alone(kSpecialists, {kMean}),
        together(kSpecialists, {kMean, kHotAlone, kColdAlone, kConsume});
    for (Track<>* each : {&track, &other, &alone, &together}) each->race.sample(each->all, 3);
    EXPECT_EQ(track.race.best(track.all, 1), (Entrants{0, 4, 8})) << "a place each";
    EXPECT_EQ(track.race.best(track.all, 4), (Entrants{0, 1, 2, 3, 4, 8}));
    // two more places each, but 4 and 5 have theirs already
    EXPECT_EQ(track.race.best(track.all, 8), (Entrants{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(other.race.best(other.all, 4), (Entrants{8, 9, 10, 11, 4, 5}));
    for (const std::size_t keep : {1, 2, 3, 5, 8, 12}) {
        Entrants kept = together.race.best(together.all, keep);
        EXPECT_LE(kept.size(), keep + std::max<std::size_t>(3, keep / 2));
        EXPECT_EQ(std::set(kept.begin(), kept.end()).size(), kept.size()) << "one is kept twice";
        ASSERT_GE(kept.size(), keep);
        kept.resize(keep);
        EXPECT_EQ(kept, alone.race.best(alone.all, keep));
    }
}

TEST(Objectives, choose_each_for_itself) {
    Track track(kSpecialists, {kMean, kHotAlone, kColdAlone, kConsume});
    const auto results = track.race.run_offs(track.all, 7, {{}, {}, {}, {}});
    EXPECT_EQ(winners(results), (Entrants{0, 0, 4, 8}));
    EXPECT_NEAR(results[0].finalists.front().ratio, std::cbrt(1.9 * 1.1 * 1.1), 1e-9);
    EXPECT_NEAR(results[2].finalists.front().ratio, 1.9, 1e-9);
    EXPECT_NEAR(results[1].lead.median, 1.9 / 1.8, 1e-9);
    for (const std::size_t alone : {1, 2, 3}) EXPECT_EQ(results[alone].samples, 7u);

    Track tied(Truths(4, {1.2, 1.2, 1.2}), {kMean, kHotAlone, kColdAlone});
    EXPECT_EQ(winners(tied.race.run_offs(tied.all, 9, {{2}, {}, {3}})), (Entrants{2, 0, 3}));
    // What loses in one workload of the mix may win where that workload does not count.
    Track losing({{0.5, 3, 3}, {1.1, 1.1, 1.1}}, {kMean, kColdAlone, kHotAlone});
    EXPECT_EQ(winners(losing.race.run_offs(losing.all, 9, {{}, {}, {}})), (Entrants{1, 0, 1}));
}

// --- Lost in noise -------------------------------------------------------------------------------

namespace {

constexpr Entrant kPlainEntrant = 0;

/// Under `workloads` every timing is off by a factor of its own, 4 or more as often as not: a
/// machine that is busy with something else.
Trouble loud(const std::set<Workload>& workloads) {
    return [workloads](Entrant, Workload workload, noise::Random& random) {
        return workloads.count(workload) ? std::exp(2 * noise::normal(random)) : 1;
    };
}

const Trouble kAllLoud = loud({Workload::hot, Workload::cold});

} // namespace

TEST(Undecided, gives_what_noise_hides_to_the_plain_copy) {
    int plain = 0, others = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const Truths truths = {{0.9, 0.9}, {1, 1}, {1.1, 1.2}, {1.2, 1.1}};
        Track<TroubledMachine> track(truths, {kBoth}, 1, kAllLoud, seed);
        const SizeResult result = track.run_off(15, kLibc, kPlainEntrant);
        plain += result.finalists.front().candidate == kPlainEntrant;
        EXPECT_EQ(result.finalists.size(), 4u);
        if (result.undecided) {
            EXPECT_EQ(result.finalists.front().candidate, kPlainEntrant);
        }
        Track<TroubledMachine> again(truths, {kBoth}, 1, kAllLoud, seed);
        others += again.winner(15) != kPlainEntrant;
    }
    EXPECT_GE(plain, 40);  // of the best of three, one in twenty seems to be beyond doubt
    EXPECT_GE(others, 25); // luck would have chosen them
}

TEST(Undecided, is_nothing_where_the_lead_is_beyond_the_noise) {
    int kept = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto keeps_its_win = [](auto&& track) {
            const SizeResult result = track.run_off(15, kLibc, kPlainEntrant);
            return result.finalists.front().candidate == 1 && !result.undecided;
        };
        EXPECT_TRUE(keeps_its_win(
            Track<TroubledMachine>({{1, 1}, {1e4, 1e4}}, {kBoth}, 1, kAllLoud, seed)));
        EXPECT_TRUE(keeps_its_win(
            Track<TroubledMachine>({{1, 1}, {1.04, 1.04}}, {kBoth}, 1, loud({}), seed)));
        kept += keeps_its_win(Track<NoisyMachine>({{1, 1}, {1.3, 1.3}}, {kBoth}, seed, 0.01, seed));
    }
    EXPECT_GE(kept, 49);
}

TEST(Undecided, is_said_of_a_plain_copy_among_the_finalists_even_if_it_would_have_won) {
    for (const Entrant plain : {kPlainEntrant, kLibc, Entrant{7}}) {
        Track<TroubledMachine> track({{1.2, 1.2}, {1, 1}}, {kBoth}, 1, kAllLoud, 3);
        const SizeResult result = track.run_off(15, kLibc, plain);
        EXPECT_EQ(result.undecided, plain == kPlainEntrant);
        if (result.undecided) {
            EXPECT_EQ(result.finalists.front().candidate, kPlainEntrant);
        }
    }
}

TEST(Undecided, is_decided_for_each_objective_by_the_noise_of_what_counts_there) {
    Track<TroubledMachine> track({{0.9, 0.9}, {1, 1}}, {weights(1, 0), weights(0, 1)}, 1,
                                 loud({Workload::cold}), 1);
    const auto results = track.race.run_offs(first(2), 15, {{kLibc}, {kLibc}}, kPlainEntrant);
    EXPECT_FALSE(results[0].undecided);
    EXPECT_TRUE(results[1].undecided);
    EXPECT_EQ(winners(results), (Entrants{1, kPlainEntrant}));
}

// --- References ----------------------------------------------------------------------------------

namespace {

/// One reference that has `speeds` of libc's, by workload.
class MachineWithReference : public KnownMachine {
  public:
    MachineWithReference(Ratios ratios, std::map<Workload, double> speeds)
        : KnownMachine(std::move(ratios)), speeds_(std::move(speeds)) {}

    double seconds(std::size_t size, Workload workload, Entrant entrant,
                   std::uint64_t round) override {
        const double seconds = KnownMachine::seconds(size, workload, entrant, round);
        return entrant == kFirstReference ? seconds / speeds_.at(workload) : seconds;
    }

  private:
    std::map<Workload, double> speeds_;
};

const std::map<Workload, double> kFastWhereCold = {{Workload::hot, 0.9}, {Workload::cold, 1.2}};

struct JudgedTrack {
    JudgedTrack(const Truths& truths, const std::map<Workload, double>& speeds, Weights weighed)
        : all(first(truths.size())), copies(truths.size()), random(1),
          machine(ratios(truths), speeds),
          race(kSize, std::move(weighed), random,
               {machine, copies, {.name = "libc"}, {reference_copy("new-1.0", nullptr, 0)}}) {}

    Entrants ranked() const {
        Entrants entrants = all;
        race.rank(entrants);
        return entrants;
    }

    Entrants all;
    std::vector<TimedCopy> copies;
    std::mt19937_64 random;
    MachineWithReference machine;
    Race race;
};

} // namespace

TEST(References, run_in_every_heat_and_in_every_round_of_the_run_off) {
    JudgedTrack track(Truths(100, {1, 1}), kFastWhereCold, kHotAlone);
    track.race.sample(track.all, 2);
    track.race.run_off({0, 1}, 5, kLibc);
    std::map<std::uint64_t, std::set<Entrant>> rounds;
    for (const auto& [size, workload, entrant, round] : track.machine.calls) {
        rounds[round].insert(entrant);
    }
    EXPECT_EQ(rounds.size(), 2u * 2 + 5);
    for (const auto& [round, entrants] : rounds) EXPECT_TRUE(entrants.count(kFirstReference));
}

TEST(References, judge_where_they_are_faster_than_libc) {
    // as fast as libc where cold, which a reference beats
    JudgedTrack track({{1.3, 1}, {1.25, 1.2}}, kFastWhereCold, weights(9, 1));
    track.race.sample(track.all, 2);
    EXPECT_EQ(track.ranked(), (Entrants{1, 0}));
    const SizeResult result = track.race.run_off(track.all, 9, kLibc);
    const Finalist& winner = result.finalists.front();
    EXPECT_EQ(winner.candidate, 1);
    const Measured& hot = winner.workloads.at(Workload::hot);
    const Measured& cold = winner.workloads.at(Workload::cold);
    ASSERT_TRUE(hot.best_ratio && cold.best_ratio);
    EXPECT_EQ(hot.best_reference, "libc");
    EXPECT_NEAR(hot.judged_ratio().median, 1.25, 1e-9);
    EXPECT_EQ(cold.best_reference, "new-1.0");
    EXPECT_NEAR(cold.judged_ratio().median, 1, 1e-9);
    EXPECT_NEAR(cold.ratio.median, 1.2, 1e-9); // libc's, all the same
}
