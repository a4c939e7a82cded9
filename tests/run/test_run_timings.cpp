// The figures of a run: a search that is repeated gets the earlier figures, and then goes on.
#include "run/run_timings.hpp"

#include "support/made_up_files.hpp"
#include "support/made_up_variants.hpp"
#include "support/unit_test.hpp"
#include "timing/timings_by.hpp"

namespace {

const json kHeader = made_up_header();

/// Counts the figures that it is asked for; each is another. A round that ends with an odd one is
/// disturbed, another leaves no line.
class EveryFigure : public Timings {
  public:
    Sample sample(const SampleRequest&) override { return {take(), 10}; }
    ProbeTicks readings(const ProbeRequest&) override { return {{take()}}; }
    Calibration calibration(std::size_t, Workload,
                            const std::optional<Calibration>& known) override {
        if (known) taken_over.push_back(known->calls);
        return known ? *known : Calibration{static_cast<std::size_t>(take()), 1};
    }
    RoundEnd round_ended() override {
        return static_cast<int>(next) % 2 ? RoundEnd{{Disturbance::steal}} : RoundEnd();
    }
    double take() {
        if (spent) throw BudgetSpent();
        return next += 1;
    }
    double next = 0;
    bool spent = false;
    std::vector<std::size_t> taken_over;
};

const TimedCopy kCopy{.name = "libc"};
const asterope_copy kProbe = made_up("source 2", {{"kind", "source", 0}, {"lines", nullptr, 2}});

double sample(Timings& timings, std::uint64_t round) {
    return timings.sample({kCopy, kLibc, 128, Workload::hot, round}).ns;
}

ProbeTicks readings(Timings& timings) {
    return timings.readings({kProbe, kCopy, 128, Workload::hot, 1});
}

class RunTimingsWithLog : public TemporaryFolder {
  protected:
    std::filesystem::path path() const { return folder / "trials.jsonl"; }

    std::string refusal(const json& header) {
        return refusal_of([&] { open_run_log(path(), log_header_of(header), true); }, "taken");
    }

    /// A search of eight figures, as one text. A disturbed round is one of the figures.
    static std::string search(Timings& timings) {
        std::string found;
        timings.enter(LoggedStep{Step::calibration});
        found += std::to_string(timings.calibration(128, Workload::hot).calls) + ' ';
        timings.enter(LoggedStep{Step::pipelines, 128});
        for (std::uint64_t round = 0; round < 2; ++round) {
            found += std::to_string(sample(timings, round)) + ' ';
            found += std::to_string(timings.round_ended().disturbances.size()) + ' ';
        }
        timings.enter(LoggedStep{Step::sensing, 128});
        return found + std::to_string(readings(timings).source.at(0));
    }

    /// A run on `machine`, which goes on with the log at `path`, if there is one.
    struct Run {
        Run(Timings& machine, const std::filesystem::path& path)
            : log(open_run_log(path, log_header_of(kHeader), exists(path))) {
            timings.keep(log);
            timings.go_on_with(machine);
        }
        RunLog log;
        RunTimings timings = RunTimings(true);
    };

    /// Runs a whole search, which writes its log. Returns its findings.
    std::string first_run() const {
        EveryFigure machine;
        Run run(machine, path());
        return search(run.timings);
    }
};

/// A machine that preempts the thread in every round, or in none, and a run's timings of it.
struct PreemptingMachine {
    bool disturbs = false;
    std::int64_t switches = 0;
    TimingsBy source{DisturbanceMonitor(
        0,
        [this] {
            MachineCounters glance;
            glance.switches = disturbs ? switches++ : switches;
            return glance;
        },
        1e9)};
    RunTimings timings{true};

    PreemptingMachine() {
        timings.go_on_with(source);
        source.time_by([](const SampleRequest& asked) { return std::vector{7e-9 * asked.round}; },
                       1e-3);
    }
    /// One round of two samples, until it counts. Returns how often it was timed.
    int time_round() {
        int times = 0;
        do {
            ++times;
            EXPECT_NEAR(sample(timings, 1), 7, 1e-9);
            EXPECT_NEAR(sample(timings, 2), 14, 1e-9);
        } while (timings.round_ended().again);
        return times;
    }
};

} // namespace

TEST_F(RunTimingsWithLog, serves_all_that_a_killed_run_left_at_whatever_line_it_was_killed) {
    EveryFigure alone, first;
    const std::string expected = search(alone);
    {
        Run run(first, path());
        EXPECT_EQ(search(run.timings), expected);
        EXPECT_EQ(run.log.resumed, 0);
        EXPECT_EQ(run.timings.samples(), 2u);
        EXPECT_EQ(run.timings.recorded_seconds(), 0);
        EXPECT_EQ(run.timings.disturbed_rounds().facts().disturbed.at("steal"), 1u);
    }
    const std::string text = content(path());
    const std::size_t header = text.find('\n') + 1;
    for (std::size_t end = header; end <= text.size(); ++end) {
        put("trials.jsonl", text.substr(0, end));
        // The machine goes on where the killed run left it: each figure is asked for once.
        EveryFigure machine;
        Run run(machine, path());
        for (const auto& [step, records] : run.log.known) {
            for (const Record& record : records)
                machine.next += !std::holds_alternative<std::vector<Disturbance>>(record);
        }
        EXPECT_EQ(run.log.resumed, 1);
        EXPECT_EQ(search(run.timings), expected) << "killed behind byte " << end;
    }
}

TEST_F(RunTimingsWithLog, tells_the_machine_how_long_samples_are_and_asks_it_for_nothing_known) {
    const std::string expected = first_run();
    for (int times = 1; times <= 3; ++times) {
        EveryFigure machine;
        Run run(machine, path());
        EXPECT_EQ(search(run.timings), expected);
        EXPECT_EQ(machine.next, 0);
        EXPECT_EQ(machine.taken_over, std::vector<std::size_t>{1});
        EXPECT_EQ(run.log.resumed, times);
        EXPECT_EQ(run.log.header.started, "2026-11-21T10:00:00Z");
        EXPECT_DOUBLE_EQ(run.timings.recorded_seconds(), 20e-6);
    }
}

// A choice from fewer sizes than planned is timed again, as it may come out differently.
TEST_F(RunTimingsWithLog, keeps_nothing_that_comes_after_the_end_of_the_budget) {
    for (const auto& ask :
         {+[](Timings& run) { sample(run, 1); }, +[](Timings& run) { readings(run); },
          +[](Timings& run) { run.calibration(256, Workload::hot); }}) {
        std::filesystem::remove(path());
        {
            EveryFigure machine;
            Run run(machine, path());
            search(run.timings);
            run.timings.enter(LoggedStep{Step::pipelines, 256});
            EXPECT_EQ(sample(run.timings, 0), 5);
            machine.spent = true;
            EXPECT_THROW(ask(run.timings), BudgetSpent);
            machine.spent = false; // the steps after the sizes have time of their own
            run.timings.enter(LoggedStep{Step::rows, 128});
            EXPECT_EQ(sample(run.timings, 7), 6);
        }
        EveryFigure machine;
        machine.next = 100;
        Run run(machine, path());
        search(run.timings);
        run.timings.enter(LoggedStep{Step::pipelines, 256});
        EXPECT_EQ(sample(run.timings, 0), 5);
        EXPECT_EQ(sample(run.timings, 1), 101);
        run.timings.enter(LoggedStep{Step::rows, 128});
        EXPECT_EQ(sample(run.timings, 8), 102); // another one than before
    }
}

TEST_F(RunTimingsWithLog, counts_screening_and_run_off_of_pipelines_apart_and_no_other_steps) {
    EveryFigure machine;
    Run run(machine, path());
    for (const Step step : {Step::pipelines, Step::aliased}) {
        run.timings.enter(LoggedStep{step, 128});
        if (step == Step::aliased) run.timings.spent.enter(step);
        run.timings.enter(Timings::Stage::screening);
        run.timings.enter(Timings::Stage::run_off);
    }
    std::vector<Step> phases;
    for (const auto& [phase, seconds] : run.timings.spent.phases()) phases.push_back(phase);
    EXPECT_EQ(phases, (std::vector{Step::screening, Step::run_off, Step::aliased}));
}

TEST_F(RunTimingsWithLog, refuses_another_search_in_the_middle_and_a_second_run_at_once) {
    first_run();
    EveryFigure machine;
    Run run(machine, path());
    EXPECT_TRUE(mentions(refusal(kHeader), "is being written by another run"));
    run.timings.enter(LoggedStep{Step::pipelines, 128});
    EXPECT_THROW(sample(run.timings, 1), BadInput); // it was round 0
    EXPECT_THROW(readings(run.timings), BadInput);
}

TEST_F(RunTimingsWithLog, refuses_the_log_of_another_machine_version_space_seed_or_search) {
    put("trials.jsonl", kHeader.dump() + '\n');
    for (const auto& [place, value, said] :
         {std::tuple("/machine/fingerprint", json("00000000000000ff"), "another machine"),
          {"/tool_version", "1.1", "another version"},
          {"/space_hash", "ff", "another space"},
          {"/seed", 2u, "another seed"},
          {"/options/rigor", "standard", "another rigor"},
          {"/options/sizes", json::array({128u}), "another sizes"},
          {"/started", "2026-11-20T22:15:01Z", "taken"}}) {
        json header = kHeader;
        header[json::json_pointer(place)] = value;
        EXPECT_TRUE(mentions(refusal(header), said));
    }
}

TEST_F(RunTimingsWithLog,
       a_whole_log_serves_the_search_without_the_machine_and_one_that_ends_early_fails) {
    const std::string expected = first_run();
    SampleLogContents log = read_sample_log(path());
    LoggedTimings logged(log.steps, "log");
    EXPECT_EQ(search(logged), expected);
    // and in the place of the machine, where the beginning is known
    put("half.jsonl", content(path()).substr(0, content(path()).rfind("{\"step\"")));
    Run half(logged, folder / "half.jsonl");
    EXPECT_EQ(search(half.timings), expected);
    auto& step = log.steps.at(LoggedStep{Step::pipelines, 128});
    step.erase(step.end() - 2, step.end());
    LoggedTimings early(log.steps, "log");
    EXPECT_THROW(search(early), BadInput);
}

TEST(TimingsBy, repeats_disturbed_rounds_up_to_a_limit_in_each_step_and_counts_all) {
    PreemptingMachine machine;
    EXPECT_EQ(machine.time_round(), 1);
    machine.disturbs = true;
    EXPECT_EQ(machine.time_round(), 4);
    const DisturbanceCounts facts = machine.timings.disturbed_rounds().facts();
    EXPECT_EQ(facts.rounds, 5u);
    EXPECT_EQ(facts.disturbed, (std::map<std::string, std::size_t>{{"preempted", 4}}));
    for (int i = 0; i < 3; ++i) machine.time_round(); // which uses up the repetitions
    EXPECT_EQ(machine.time_round(), 1);
    machine.timings.enter(LoggedStep{Step::rows, 128});
    EXPECT_EQ(machine.time_round(), 4);
}

TEST(TimingsBy, sees_nothing_of_a_round_in_which_nothing_was_timed) {
    PreemptingMachine machine;
    machine.disturbs = true;
    EXPECT_TRUE(machine.source.round_ended().disturbances.empty());
    sample(machine.source, 1);
    machine.source.enter(LoggedStep{Step::rows, 128});
    EXPECT_TRUE(machine.source.round_ended().disturbances.empty());
}
