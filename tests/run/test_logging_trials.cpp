// The journal: a search that is asked again gets what it got before, and then goes on.
#include "run/logging_trials.hpp"

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "run/logged_trials.hpp"
#include "support/made_up_log.hpp"
#include "support/temporary_folder.hpp"

using namespace asterope;
using nlohmann::json;

namespace {

const json kHeader = made_up_header();

/// Counts what it is asked for; every figure is another.
class EveryFigure : public TrialSource {
  public:
    void enter(const std::string& step, std::size_t known) override {
        entered.emplace_back(step, known);
    }
    Trial trial(const TrialKey&, const std::function<double(Instruments&)>&) override {
        return {next += 1, 10};
    }
    std::vector<double> readings(const ProbeKey&,
                                 const std::function<std::vector<double>(Instruments&)>&) override {
        return {next += 1};
    }
    Calibration calibration(std::size_t, Workload,
                            const std::optional<Calibration>& known) override {
        if (known) taken_over.push_back(known->calls);
        return known ? *known : Calibration{static_cast<std::size_t>(next += 1), 1};
    }
    std::vector<Disturbance> round_ended() override {
        ++rounds;
        return rounds % 2 ? std::vector<Disturbance>() : std::vector{Disturbance::steal};
    }
    double next = 0;
    int rounds = 0;
    std::vector<std::size_t> taken_over;
    std::vector<std::pair<std::string, std::size_t>> entered;
};

TrialKey trial_of(std::uint64_t round) {
    return {128, Workload::hot, "libc", round};
}

class LoggingTrialsFile : public TemporaryFolder {
  protected:
    std::filesystem::path path() const { return folder / "trials.jsonl"; }

    std::string refusal(const json& header) {
        try {
            open_log_to_resume(path(), header);
        } catch (const BadInput& error) {
            return error.what();
        }
        return "taken";
    }

    /// A search of eight figures, as one text. A disturbed round is one of the figures.
    static std::string search(TrialSource& figures) {
        std::string found;
        figures.enter("calibration");
        found += std::to_string(figures.calibration(128, Workload::hot).calls) + ' ';
        figures.enter("pipelines 128");
        for (std::uint64_t round = 0; round < 2; ++round) {
            found += std::to_string(figures.trial(trial_of(round), nullptr).ns) + ' ';
            found += std::to_string(figures.round_ended().size()) + ' ';
        }
        figures.enter("sensing 128");
        found += std::to_string(
            figures.readings({128, Workload::hot, "source 2", "copy"}, nullptr).at(0));
        return found;
    }

    /// A whole search, and its log. What it found.
    std::string first_run() const {
        EveryFigure machine;
        LoggingTrials journal(machine, path(), kHeader, std::nullopt);
        return search(journal);
    }
};

} // namespace

TEST_F(LoggingTrialsFile, lets_the_first_run_see_the_machine) {
    EveryFigure alone, machine;
    LoggingTrials journal(machine, path(), kHeader, std::nullopt);
    EXPECT_EQ(search(journal), search(alone));
    EXPECT_EQ(journal.resumed(), 0);
}

TEST_F(LoggingTrialsFile, serves_all_that_a_killed_run_left_at_whatever_line_it_was_killed) {
    first_run();
    const std::string text = content(path());
    EveryFigure alone;
    const std::string expected = search(alone);
    const std::size_t header = text.find('\n') + 1;
    for (std::size_t end = header; end <= text.size(); ++end) {
        put("trials.jsonl", text.substr(0, end));
        // The machine goes on where the killed run left it: each figure is asked for once.
        std::optional<LogToResume> earlier = open_log_to_resume(path(), kHeader);
        const auto& steps = earlier->contents.steps;
        EveryFigure machine;
        for (const auto& [step, records] : steps) {
            for (const Record& record : records) {
                const bool hits = std::holds_alternative<std::vector<Disturbance>>(record);
                machine.next += hits ? 0 : 1;
            }
        }
        const auto trials = steps.find("pipelines 128");
        // of the two rounds the first is quiet, and leaves no line
        machine.rounds = trials == steps.end() ? 0 : trials->second.size() > 1 ? 1 : 0;
        LoggingTrials journal(machine, path(), kHeader, std::move(earlier));
        EXPECT_EQ(journal.resumed(), 1);
        EXPECT_EQ(search(journal), expected) << "killed behind byte " << end;
    }
}

TEST_F(LoggingTrialsFile, tells_the_machine_what_the_log_has) {
    first_run();
    EveryFigure machine;
    LoggingTrials journal(machine, path(), kHeader, open_log_to_resume(path(), kHeader));
    search(journal);
    EXPECT_EQ(machine.next, 0); // nothing was measured again
    EXPECT_EQ(machine.taken_over, std::vector<std::size_t>{1});
    EXPECT_EQ(machine.entered, (std::vector<std::pair<std::string, std::size_t>>{
                                   {"calibration", 1}, {"pipelines 128", 3}, {"sensing 128", 1}}));
}

TEST_F(LoggingTrialsFile, can_be_resumed_again_and_again) {
    const std::string expected = first_run();
    for (int times = 1; times <= 3; ++times) {
        EveryFigure machine;
        LoggingTrials journal(machine, path(), kHeader, open_log_to_resume(path(), kHeader));
        EXPECT_EQ(journal.resumed(), times);
        EXPECT_EQ(journal.started(), "2026-11-21T10:00:00Z");
        EXPECT_EQ(search(journal), expected);
    }
}

TEST_F(LoggingTrialsFile, serves_a_step_that_was_cut_short_before_a_later_one) {
    {
        EveryFigure machine;
        LoggingTrials journal(machine, path(), kHeader, std::nullopt);
        journal.enter("pipelines 128");
        journal.trial(trial_of(0), nullptr); // then the time budget ended
        journal.enter("aliased 512");
        journal.trial(trial_of(7), nullptr);
    }
    EveryFigure machine;
    machine.next = 100;
    LoggingTrials journal(machine, path(), kHeader, open_log_to_resume(path(), kHeader));
    journal.enter("pipelines 128");
    EXPECT_EQ(journal.trial(trial_of(0), nullptr).ns, 1);
    EXPECT_EQ(journal.trial(trial_of(1), nullptr).ns, 101);
    journal.enter("aliased 512");
    EXPECT_EQ(journal.trial(trial_of(7), nullptr).ns, 2);
}

TEST_F(LoggingTrialsFile, refuses_another_search_in_the_middle) {
    first_run();
    EveryFigure machine;
    LoggingTrials journal(machine, path(), kHeader, open_log_to_resume(path(), kHeader));
    journal.enter("pipelines 128");
    EXPECT_THROW(journal.trial(trial_of(1), nullptr), BadInput); // it was round 0
    EXPECT_THROW(journal.readings({128, Workload::hot, "source 2", "copy"}, nullptr), BadInput);
}

TEST_F(LoggingTrialsFile, keeps_the_log_of_an_earlier_run) {
    put("trials.jsonl", "hours of work\n");
    EveryFigure machine;
    EXPECT_THROW(LoggingTrials(machine, path(), kHeader, std::nullopt), BadInput);
    EXPECT_EQ(content(path()), "hours of work\n");
}

TEST_F(LoggingTrialsFile, refuses_the_log_of_another_machine_version_space_seed_or_search) {
    put("trials.jsonl", kHeader.dump() + '\n');
    EXPECT_EQ(refusal(kHeader), "taken");
    const auto with = [](const char* pointer, const json& value) {
        json header = kHeader;
        header[json::json_pointer(pointer)] = value;
        return header;
    };
    EXPECT_NE(refusal(with("/machine/fingerprint", "xyz")).find("another machine"),
              std::string::npos);
    EXPECT_NE(refusal(with("/tool_version", "1.1")).find("another version"), std::string::npos);
    EXPECT_NE(refusal(with("/space_hash", "xyz")).find("another space"), std::string::npos);
    EXPECT_NE(refusal(with("/seed", 2)).find("another seed"), std::string::npos);
    EXPECT_NE(refusal(with("/options/rigor", "standard")).find("another rigor"), std::string::npos);
    EXPECT_NE(refusal(with("/options/sizes", {128})).find("another sizes"), std::string::npos);
    EXPECT_EQ(refusal(with("/started", "now")), "taken");
}

TEST_F(LoggingTrialsFile, a_whole_log_serves_the_search_without_the_machine) {
    const std::string expected = first_run();
    const TrialLogContents log = read_trial_log(path());
    LoggedTrials logged(log, "log");
    EXPECT_EQ(search(logged), expected);
    // and behind a journal of its own, which has the beginning
    put("half.jsonl", content(path()).substr(0, content(path()).rfind("{\"step\"")));
    LoggingTrials journal(logged, folder / "half.jsonl", kHeader,
                          open_log_to_resume(folder / "half.jsonl", kHeader));
    EXPECT_EQ(search(journal), expected);
}

TEST_F(LoggingTrialsFile, a_log_that_ends_early_cannot_be_replayed) {
    first_run();
    TrialLogContents log = read_trial_log(path());
    log.steps.at("pipelines 128").pop_back();
    log.steps.at("pipelines 128").pop_back();
    LoggedTrials logged(log, "log");
    EXPECT_THROW(search(logged), BadInput);
}
