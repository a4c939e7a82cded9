// Replays of logs whose truth is known: what strategies cost, find and miss.
#include "replay/replay.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "support/made_up_log.hpp"
#include "support/made_up_variants.hpp"
#include "support/random_figures.hpp"
#include "support/temporary_folder.hpp"

using namespace asterope;

namespace {

const std::vector<Workload> kBoth = {Workload::hot, Workload::cold};

/// libc's time over each candidate's, the same at all sizes.
using Truth = std::function<double(const Candidate&, Workload)>;

class Replays : public TemporaryFolder {
  protected:
    /// The whole space of a CPU without any feature, recorded with noise.
    Recording record(const Truth& truth, double jitter = 0.003,
                     const std::vector<std::size_t>& sizes = {1024, 4096, 65536},
                     const std::vector<Workload>& workloads = kBoth) {
        noise::Random random(1);
        MadeUpLog log = made_up_log(workloads);
        for (const std::size_t size : sizes) {
            add_pipelines(
                log, size, workloads, plain_space(), 3, [&](Entrant entrant, Workload workload) {
                    const double ratio =
                        entrant < 0
                            ? 1
                            : truth(plain_space()[static_cast<std::size_t>(entrant)], workload);
                    return 1000 / ratio * std::exp(jitter * noise::normal(random));
                });
        }
        log.step("small copies");
        return load(log);
    }
    Recording load(const MadeUpLog& log) {
        put("log", log.text());
        return Recording(folder / "log");
    }

    static std::string fault(const ReplayRequest& request, const Recording& recording) {
        try {
            const Replay replay(request, recording);
            return "";
        } catch (const BadInput& error) {
            return error.what();
        }
    }
};

ReplayRequest request(std::vector<std::string> rigors = {"exhaustive", "standard", "quick"},
                      int seeds = 3) {
    ReplayRequest request;
    request.log = "x";
    request.rigors = std::move(rigors);
    request.seeds = seeds;
    return request;
}

bool is(const Candidate& candidate, std::string_view st, std::string_view pt) {
    return candidate.variant->st == st && candidate.variant->pt == pt;
}

/// Non-temporal stores with a T1 prefetch are best, the nearer to 8 lines and a distance of 12 the
/// better.
double smooth(const Candidate& candidate, Workload) {
    if (!is(candidate, "NT", "T1")) return 0.9;
    return 1.3 - 0.01 * std::abs(candidate.variant->ps - 8) - 0.004 * std::abs(candidate.pd - 12);
}

/// All alike but one, where no coarse grid looks, in a family that is worse than the others.
double needle(const Candidate& candidate, Workload) {
    const asterope_variant& v = *candidate.variant;
    if (v.rt != std::string_view("R64") || !is(candidate, "T", "T2")) return 1;
    return candidate.name() == "R64 T T T2 10 22" ? 1.2 : 0.85;
}

} // namespace

// --- What is told --------------------------------------------------------------------------------

TEST_F(Replays, find_the_best_where_every_strategy_can) {
    const Recording recording = record(smooth);
    const Replay replay(request(), recording);
    const auto strategies = replay.run();
    ASSERT_EQ(strategies.size(), 3u);
    for (const ReplayedStrategy& one : strategies) {
        ASSERT_EQ(one.winners.size(), 3u);
        for (const auto& winners : one.winners) {
            ASSERT_EQ(winners.size(), 3u);
            for (const ReplayedWinner& winner : winners) {
                const auto at = static_cast<std::size_t>(winner.candidate);
                EXPECT_TRUE(is(replay.space.spaces().space[at], "NT", "T1"));
            }
        }
        EXPECT_LE(one.worst_regret, 0.03) << one.name;
        EXPECT_LE(one.mean_regret, one.worst_regret);
        EXPECT_LE(one.difference, 0.03);
    }
    EXPECT_GT(strategies[0].trials, strategies[1].trials);
    EXPECT_GT(strategies[1].trials, strategies[2].trials);
    EXPECT_GT(strategies[0].seconds, strategies[2].seconds);
}

// Exhaustive finds it, the others are a sixth slower.
TEST_F(Replays, tell_by_how_much_a_strategy_misses_the_best) {
    const Recording recording = record(needle, 0.003, {2048, 4096, 65536}, {Workload::hot});
    const Replay replay(request(), recording);
    const auto strategies = replay.run();
    EXPECT_NEAR(strategies[0].mean_regret, 0, 1e-9);
    EXPECT_NEAR(strategies[0].difference, 0, 1e-9);
    for (const std::size_t i : {1, 2}) {
        EXPECT_NEAR(strategies[i].mean_regret, 0.2, 0.01);
        EXPECT_NEAR(strategies[i].worst_regret, 0.2, 0.01);
        EXPECT_LE(strategies[i].difference, 0.01);
    }
}

// Shares or not: what counts is how they compare.
TEST_F(Replays, tell_the_same_at_any_scale_of_the_weights) {
    const auto regret = [&](double scale) {
        Recording recording = record(needle, 0.003, {4096}, {Workload::hot});
        recording.header["options"]["weights"]["hot"] = scale;
        return Replay(request({"quick"}, 1), recording).run().front().worst_regret;
    };
    EXPECT_NEAR(regret(7), regret(1), 1e-9);
    EXPECT_GT(regret(7), 0.15);
}

TEST_F(Replays, tell_where_the_worst_is) {
    noise::Random random(1);
    MadeUpLog log = made_up_log({Workload::hot});
    for (const std::size_t size : {128, 2048, 32768}) {
        add_pipelines(log, size, {Workload::hot}, plain_space(), 3,
                      [&](Entrant entrant, Workload workload) {
                          const bool special = entrant >= 0 && size == 2048;
                          const auto at = static_cast<std::size_t>(entrant);
                          const double ratio = special ? needle(plain_space()[at], workload) : 1;
                          return 1000 / ratio * std::exp(0.003 * noise::normal(random));
                      });
    }
    log.step("small copies");
    const Recording recording = load(log);
    const ReplayedStrategy one = Replay(request({"quick"}), recording).run().front();
    EXPECT_EQ(one.worst_size, 2048u);
    EXPECT_NEAR(one.worst_regret, 0.2, 0.01);
    EXPECT_NEAR(one.mean_regret, 0.2 / 3, 0.01);
}

// So noisy that the seeds disagree: the difference holds between any two that are behind.
TEST_F(Replays, tell_by_how_much_two_seeds_differ) {
    const Recording recording = record(
        [](const Candidate& candidate, Workload) {
            return is(candidate, "NT", "T1") ? 1.06 : is(candidate, "T", "T0") ? 1.05 : 0.9;
        },
        0.08);
    const Replay replay(request({"quick"}, 8), recording);
    const ReplayedStrategy one = replay.run().front();
    double widest = 0;
    for (const auto& winners : one.winners) {
        double low = 1e9, high = 0;
        for (const ReplayedWinner& winner : winners) {
            low = std::min(low, winner.regret);
            high = std::max(high, winner.regret);
        }
        if (low > 0) widest = std::max(widest, (1 + high) / (1 + low) - 1);
    }
    EXPECT_GE(one.difference, widest - 1e-9);
    EXPECT_GT(one.difference, 0);
}

TEST_F(Replays, count_trials_and_time_as_recorded) {
    const Recording recording = record(smooth, 0, {1024});
    const auto strategies = Replay(request({"quick"}, 1), recording).run();
    // 10 calls of at most 1.2 us each, and 5 us besides
    const double each = strategies[0].seconds / strategies[0].trials;
    EXPECT_GE(each, 5e-6 + 10 * 1e-6 / 1.3);
    EXPECT_LE(each, 5e-6 + 10 * 1e-6 / 0.9);
    EXPECT_GT(strategies[0].trials, 2 * 9 * 7); // the run-off alone
}

TEST_F(Replays, are_the_same_each_time) {
    const Recording recording = record(smooth, 0.03);
    const Replay one(request(), recording), other(request(), recording);
    const auto strategies = one.run();
    EXPECT_EQ(to_json(one, strategies).dump(), to_json(other, other.run()).dump());
    EXPECT_EQ(replay_table(one, strategies), replay_table(other, other.run()));
}

TEST_F(Replays, give_ties_to_what_won_at_the_sizes_that_were_done) {
    const Recording recording = record([](const Candidate&, Workload) { return 1.1; }, 0.002,
                                       {128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768});
    const ReplayedStrategy one = Replay(request({"standard"}, 1), recording).run().front();
    std::set<Entrant> winners;
    for (const auto& by_seed : one.winners) winners.insert(by_seed.front().candidate);
    EXPECT_EQ(winners.size(), 1u);
}

TEST_F(Replays, offer_no_candidate_that_was_not_recorded) {
    MadeUpLog log = made_up_log({Workload::hot});
    log.header["options"]["space"] = "extended";
    std::vector<Candidate> known = plain_space();
    std::set<std::string> names;
    for (const Candidate& candidate :
         extension_space([](std::string_view) { return false; })) { // one block size of all axes
        if (candidate.axis() == "tb" && value(candidate, "tb") == "4") known.push_back(candidate);
    }
    for (const Candidate& candidate : known) names.insert(candidate.name());
    add_pipelines(log, 4096, {Workload::hot}, known, 3, [&](Entrant entrant, Workload) {
        if (entrant < 0) return 1000.0;
        return 1000 / (value(known[static_cast<std::size_t>(entrant)], "tb") == "4" ? 1.2 : 1.0);
    });
    log.step("small copies");
    const Recording recording = load(log);
    const Replay replay(request({"standard"}), recording);
    const ReplayedStrategy one = replay.run().front();
    EXPECT_GT(one.unrecorded, 0);
    for (const ReplayedWinner& winner : one.winners.front()) {
        const Candidate& won =
            replay.space.spaces().space[static_cast<std::size_t>(winner.candidate)];
        EXPECT_EQ(value(won, "tb"), "4");
        EXPECT_EQ(names.count(won.name()), 1u);
    }
    EXPECT_NE(replay_table(replay, {one}).find("which were not recorded"), std::string::npos);
}

TEST_F(Replays, count_what_is_only_measured) {
    MadeUpLog log = made_up_log({Workload::hot});
    add_pipelines(log, 4096, {Workload::hot}, plain_space(), 2,
                  [](Entrant, Workload) { return 100; });
    const Recording alone = load([&] {
        MadeUpLog whole = log;
        whole.step("small copies");
        return whole;
    }());
    for (std::uint64_t round = 900; round < 905; ++round) {
        log.trial(4096, Workload::hot_read, "libc", round, 150);
        log.trial(4096, Workload::hot_read, plain_space()[0].name(), round, 150);
    }
    log.step("small copies");
    const Recording both = load(log);
    const auto trials = [&](const Recording& recording) {
        return Replay(request({"quick"}, 1), recording).run().front().trials;
    };
    EXPECT_GT(trials(both), trials(alone));
}

// --- The table -----------------------------------------------------------------------------------

TEST_F(Replays, print_a_line_a_strategy_with_units) {
    const Recording recording = record(needle);
    const Replay replay(request(), recording);
    const std::string table = replay_table(replay, replay.run());
    EXPECT_EQ(table.rfind("Made Up, glibc 2.36: 3 sizes from 1 KiB to 64 KiB recorded, workload "
                          "weights, paper space, 3 seeds\n\nStrategy ",
                          0),
              0u)
        << table;
    for (const char* name : {"\nexhaustive ", "\nstandard ", "\nquick "}) {
        EXPECT_NE(table.find(name), std::string::npos) << table;
    }
    EXPECT_NE(table.find(" KiB)"), std::string::npos);
    EXPECT_NE(table.find("without verification"), std::string::npos);
}

TEST_F(Replays, refuse_names_that_a_terminal_would_obey) {
    MadeUpLog log = made_up_log({Workload::hot});
    log.header["machine"]["cpu"]["brand"] = "Bad\x1b[2J";
    EXPECT_THROW(load(log), BadInput);
}

// --- What is refused -----------------------------------------------------------------------------

TEST_F(Replays, refuse_what_the_log_cannot_serve) {
    const Recording recording = record(smooth, 0, {1024});
    ReplayRequest other = request();
    other.workload = "consume";
    EXPECT_EQ(fault(other, recording), "log x: every candidate was timed under weights only, "
                                       "without consume: choose a workload that was");
    other.workload = "balanced";
    EXPECT_NE(fault(other, recording), "");
    other = request();
    other.weights = "hot=1,produce=1";
    EXPECT_NE(fault(other, recording), "");
    other.weights = "cold=2,hot=1";
    EXPECT_EQ(fault(other, recording), "");
    other = request();
    other.workload = "hot";
    EXPECT_EQ(fault(other, recording), "");
    other = request();
    other.space = "extended";
    EXPECT_EQ(fault(other, recording), "log x: is of the paper's space only: choose --space paper");
}

TEST_F(Replays, refuse_what_nobody_understands) {
    const Recording recording = record(smooth, 0, {1024});
    EXPECT_NE(fault(request({"hasty"}), recording).find("hasty"), std::string::npos);
    EXPECT_NE(fault(request({}), recording), "");
    EXPECT_EQ(fault(request({"quick"}, 0), recording), "seeds 0: choose 1 to 1000");
    EXPECT_EQ(fault(request({"quick"}, 1001), recording), "seeds 1001: choose 1 to 1000");
    ReplayRequest other = request();
    other.space = "huge";
    EXPECT_NE(fault(other, recording), "");
    other = request();
    other.workload = "warm";
    EXPECT_NE(fault(other, recording), "");
}

TEST_F(Replays, refuse_a_log_without_weights) {
    MadeUpLog log = made_up_log({Workload::hot});
    log.header["options"]["weights"] = {{"hot", 0}};
    add_pipelines(log, 4096, {Workload::hot}, plain_space(), 1,
                  [](Entrant, Workload) { return 100; });
    log.step("small copies");
    EXPECT_EQ(fault(request(), load(log)), "log x: its header has no weight above 0");
}

TEST_F(Replays, refuse_a_size_that_has_no_candidates) {
    MadeUpLog log = made_up_log({Workload::hot});
    log.step("pipelines 4096");
    log.trial(4096, Workload::hot, "libc", 0, 100);
    log.step("small copies");
    EXPECT_EQ(fault(request(), load(log)), "log x: has no timings of the paper's space at 4 KiB");
}
