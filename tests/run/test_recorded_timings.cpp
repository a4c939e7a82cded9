// Timings from recordings: each candidate's own, in an order that depends on nobody else.
#include "run/recorded_timings.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "support/made_up_log.hpp"
#include "support/temporary_folder.hpp"
#include "timing/cache_effect.hpp"

using namespace asterope;

namespace {

constexpr std::size_t kSize = 4096;
const std::vector<Workload> kBoth = {Workload::hot, Workload::cold};

/// Those of the paper's first that a CPU without any feature has.
std::vector<Candidate> some(std::size_t count) {
    return {plain_space().begin(), plain_space().begin() + static_cast<std::ptrdiff_t>(count)};
}

class RecordedFile : public TemporaryFolder {
  protected:
    Recording load(const MadeUpLog& log) {
        put("log", log.text());
        return Recording(folder / "log");
    }
    /// Every candidate takes 100, 110, 120 ... ns in its first, second, third ... round.
    Recording stairs(int samples, std::size_t candidates = 3) {
        MadeUpLog log = made_up_log(kBoth);
        std::map<std::pair<Entrant, Workload>, int> count;
        add_pipelines(log, kSize, kBoth, some(candidates), samples,
                      [&](Entrant entrant, Workload workload) {
                          if (entrant < 0) return 100.0;
                          return 100.0 + 10 * count[{entrant, workload}]++;
                      });
        log.step("small copies");
        return load(log);
    }
    std::string fault(const MadeUpLog& log) {
        const Recording recording = load(log);
        try {
            const RecordedSpace space(recording, "log x");
            return "";
        } catch (const BadInput& error) {
            return error.what();
        }
    }
};

double ask(RecordedTimings& timings, Entrant entrant, std::uint64_t round,
           Workload workload = Workload::hot) {
    return timings.trial({TimedCopy{}, entrant, kSize, workload, round}).seconds();
}

std::vector<double> served(RecordedTimings& timings, Entrant entrant, int count,
                           Workload workload = Workload::hot) {
    std::vector<double> ns;
    for (int i = 0; i < count; ++i) {
        ns.push_back(std::round(ask(timings, entrant, 0, workload) * 1e12) / 1000);
    }
    return ns;
}

std::vector<double> sorted(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values;
}

} // namespace

// --- Who is recorded -----------------------------------------------------------------------------

TEST_F(RecordedFile, knows_who_of_the_space_was_recorded) {
    const Recording recording = stairs(2);
    const RecordedSpace space(recording, "log x");
    EXPECT_FALSE(space.extended());
    const RecordedField& field = recording.sizes.at(kSize).at(Workload::hot);
    for (std::size_t i = 0; i < space.spaces().space.size(); ++i) {
        EXPECT_EQ(space.samples(field, static_cast<Entrant>(i)) != nullptr, i < 3) << i;
    }
}

TEST_F(RecordedFile, has_the_space_of_the_recorded_machine_whatever_this_one_is) {
    MadeUpLog log = made_up_log({Workload::hot});
    log.header["machine"]["cpu"]["features"] = {"avx512f", "no_such_thing"};
    log.step("pipelines 4096");
    log.trial(kSize, Workload::hot, "libc", 0, 100);
    log.step("small copies");
    const Recording recording = load(log);
    const RecordedSpace space(recording, "log x");
    EXPECT_EQ(space.spaces().entrants.size(),
              paper_space([](std::string_view feature) { return feature == "avx512f"; }).size());
}

TEST_F(RecordedFile, leaves_out_what_copied_wrongly_there) {
    MadeUpLog log = made_up_log({Workload::hot});
    log.header["invalid"].push_back({plain_space()[1].name(), "wrong byte 3"});
    add_pipelines(log, kSize, {Workload::hot}, some(1), 1, [](Entrant, Workload) { return 100; });
    log.step("small copies");
    const Recording recording = load(log);
    const RecordedSpace space(recording, "log x");
    EXPECT_EQ(space.spaces().entrants[0], 0);
    EXPECT_EQ(space.spaces().entrants[1], 2);
}

TEST_F(RecordedFile, refuses_candidates_that_it_does_not_know) {
    for (const std::string name : {"ZMM T T none 0 0", "XMM T T none 0 0 TB4", "nonsense"}) {
        MadeUpLog log = made_up_log({Workload::hot});
        log.step("pipelines 4096");
        log.trial(kSize, Workload::hot, "libc", 0, 100);
        log.trial(kSize, Workload::hot, name, 0, 100);
        log.step("small copies");
        EXPECT_EQ(fault(log), "log x: the candidate '" + name +
                                  "' is none that this version has for its CPU: replay it with "
                                  "the version that recorded it");
    }
}

TEST_F(RecordedFile, keeps_company_as_live_timings_do) {
    MadeUpLog log = made_up_log({Workload::hot});
    log.header["machine"]["cpu"]["features"] = {"sse2"};
    log.step("pipelines 4096");
    log.trial(kSize, Workload::hot, "libc", 0, 100);
    log.step("small copies");
    const Recording recording = load(log);
    const RecordedSpace space(recording, "log x");
    RecordedTimings timings(recording, space, 1);
    const TimedCopies timed = space.timed(timings, kSize);
    EXPECT_EQ(timed.cache_effect(kLibc), kTemporal);
    EXPECT_EQ(space.timed(timings, 2 << 20).cache_effect(kLibcAgain),
              kNonTemporal); // from 1 MiB, says the header
    std::set<int> seen;
    for (const Entrant entrant : space.spaces().entrants) {
        const Candidate& candidate = space.spaces().space[static_cast<std::size_t>(entrant)];
        const bool temporal = std::string_view(candidate.variant->st) == "T";
        EXPECT_EQ(timed.cache_effect(entrant), temporal ? kTemporal : kNonTemporal);
        seen.insert(timed.cache_effect(entrant));
    }
    EXPECT_EQ(seen.size(), 2u);
}

// --- What is served ------------------------------------------------------------------------------

TEST_F(RecordedFile, serves_all_samples_before_any_comes_again) {
    const Recording recording = stairs(5);
    const RecordedSpace space(recording, "log x");
    RecordedTimings timings(recording, space, 1);
    std::set<std::vector<double>> orders;
    for (int turn = 0; turn < 6; ++turn) {
        const std::vector<double> five = served(timings, 1, 5);
        EXPECT_EQ(sorted(five), (std::vector<double>{100, 110, 120, 130, 140}));
        orders.insert(five);
    }
    EXPECT_GT(orders.size(), 3u);
}

TEST_F(RecordedFile, serves_the_same_whoever_else_is_asked) {
    const Recording recording = stairs(9);
    const RecordedSpace space(recording, "log x");
    RecordedTimings one(recording, space, 1), other(recording, space, 1);
    const std::vector<double> first = served(one, 0, 30), second = served(one, 1, 30),
                              cold = served(one, 1, 30, Workload::cold);
    std::vector<double> again[3];
    for (int i = 0; i < 30; ++i) {
        again[2].push_back(served(other, 1, 1, Workload::cold)[0]);
        served(other, kLibc, 3);
        again[1].push_back(served(other, 1, 1)[0]);
        again[0].push_back(served(other, 0, 1)[0]);
    }
    EXPECT_EQ(again[0], first);
    EXPECT_EQ(again[1], second);
    EXPECT_EQ(again[2], cold);
    EXPECT_NE(first, second) << "each has an order of its own";
    EXPECT_NE(second, cold);
}

TEST_F(RecordedFile, serves_in_another_order_for_another_seed) {
    const Recording recording = stairs(9);
    const RecordedSpace space(recording, "log x");
    RecordedTimings one(recording, space, 1), other(recording, space, 2);
    EXPECT_NE(served(one, 0, 9), served(other, 0, 9));
}

TEST_F(RecordedFile, serves_what_libc_was_in_one_round_to_all_its_trials_of_a_round) {
    MadeUpLog log = made_up_log({Workload::hot});
    add_pipelines(log, kSize, {Workload::hot}, some(24), 20, [](Entrant, Workload) { return 100; });
    for (nlohmann::json& line : log.lines) { // in every fourth round libc takes twice as long
        if (line.value("candidate", "") == "libc" && line["round"].get<int>() % 4 == 0) {
            line["ns"] = 200;
        }
    }
    log.step("small copies");
    const Recording recording = load(log);
    const RecordedSpace space(recording, "log x");
    RecordedTimings timings(recording, space, 1);
    int slow = 0;
    for (std::uint64_t round = 0; round < 200; ++round) {
        const double libc = ask(timings, kLibc, round);
        EXPECT_EQ(ask(timings, kLibc, round), libc);
        EXPECT_EQ(ask(timings, kLibcAgain, round), libc);
        EXPECT_NEAR(ask(timings, 3, round), 100e-9, 1e-12);
        slow += libc > 150e-9;
    }
    EXPECT_NEAR(slow, 50, 25);
}

TEST_F(RecordedFile, counts_trials_and_the_time_they_would_have_taken) {
    const Recording recording = stairs(1); // 10 calls of 100 ns and 5 us besides
    const RecordedSpace space(recording, "log x");
    RecordedTimings timings(recording, space, 1);
    served(timings, 0, 4);
    served(timings, kLibc, 3);
    EXPECT_EQ(timings.trials(), 7u);
    EXPECT_NEAR(timings.wall_seconds(), 7 * (10 * 100e-9 + 5e-6), 1e-12);
}

TEST_F(RecordedFile, serves_libcs_time_for_a_candidate_without_samples) {
    const Recording recording = stairs(3);
    const RecordedSpace space(recording, "log x");
    RecordedTimings timings(recording, space, 1);
    EXPECT_EQ(served(timings, 10, 2), (std::vector<double>{100, 100}));
}
