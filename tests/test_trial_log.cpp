// The trial log: what is written is read again; what is no log is refused, and why.
#include "trial_log.hpp"

#include <nlohmann/json.hpp>

#include "error.hpp"
#include "temporary_folder.hpp"

using namespace asterope;
using nlohmann::json;

namespace {

const json kHeader = {{"format", kTrialLogFormat}, {"version", kTrialLogVersion}};

const TrialKey kKey{8192, Workload::cold, "ZMM T NT T0 4 8", 17};

class TrialLogFile : public TemporaryFolder {
  protected:
    std::filesystem::path path() const { return folder / "trials.jsonl"; }

    std::vector<json> lines() {
        std::vector<json> result;
        std::istringstream text(content(path()));
        for (std::string line; std::getline(text, line);) result.push_back(json::parse(line));
        return result;
    }

    TrialLogContents read(const std::string& text) {
        put("trials.jsonl", text);
        return read_trial_log(path());
    }

    std::string refusal(const std::string& text) {
        put("trials.jsonl", text);
        try {
            read_trial_log(path());
        } catch (const BadInput& error) {
            return error.what();
        }
        return "taken";
    }

    /// The refusal of a line that follows a header and a step.
    std::string refusal_of(const std::string& line) {
        return refusal(kHeader.dump() + "\n{\"step\":\"small copies\"}\n" + line + "\n");
    }
};

} // namespace

TEST_F(TrialLogFile, begins_with_the_header) {
    const TrialLogWriter log(path(), kHeader);
    ASSERT_EQ(lines().size(), 1u);
    EXPECT_EQ(lines()[0], kHeader);
}

TEST_F(TrialLogFile, has_a_line_for_each_figure_while_it_is_still_open) {
    TrialLogWriter log(path(), kHeader);
    log.step("pipelines 8192");
    log.write(kKey, {1234.568, 41.2});
    ASSERT_EQ(lines().size(), 3u);
    EXPECT_EQ(lines()[1], (json{{"step", "pipelines 8192"}}));
    EXPECT_EQ(lines()[2], (json{{"size", 8192},
                                {"workload", "cold"},
                                {"candidate", "ZMM T NT T0 4 8"},
                                {"round", 17},
                                {"ns", 1234.568},
                                {"us", 41.2}}));
    log.write({Disturbance::steal});
    ASSERT_EQ(lines().size(), 4u);
    EXPECT_EQ(lines()[3], (json{{"hit", {"steal"}}}));
}

TEST_F(TrialLogFile, gives_back_what_was_written) {
    {
        TrialLogWriter log(path(), kHeader);
        log.step("calibration");
        log.write(8192, Workload::cold, {24, 1.2345678901234567e-6});
        log.step("pipelines 8192");
        log.write(kKey, {1234.568, 41.2});
        log.write({Disturbance::steal, Disturbance::preempted});
        log.step("sensing 8192");
        log.write(ProbeKey{8192, Workload::hot, "source 4", "XMM T T none 0 0"}, {26, 130});
        log.resumed("2026-11-21T10:00:00Z");
        log.step("pipelines 8192");
        log.write({0, Workload::mix_l1_read, "libc", 18}, {0.001, 7.5});
        log.finish({{"finished", "2026-11-21T11:00:00Z"}, {"resumed", 1}});
    }
    const TrialLogContents contents = read_trial_log(path());
    EXPECT_EQ(contents.header, kHeader);
    EXPECT_EQ(contents.resumed, 1);
    EXPECT_FALSE(contents.torn);
    EXPECT_EQ(contents.end.at("finished"), "2026-11-21T11:00:00Z");
    EXPECT_EQ(contents.bytes, std::filesystem::file_size(path()));
    ASSERT_EQ(contents.steps.size(), 3u);

    using Calibrated = std::pair<std::pair<std::size_t, Workload>, Calibration>;
    const auto& calibrated = std::get<Calibrated>(contents.steps.at("calibration").at(0));
    EXPECT_EQ(calibrated.first, std::pair(std::size_t{8192}, Workload::cold));
    EXPECT_EQ(calibrated.second.calls, 24u);
    EXPECT_EQ(calibrated.second.seconds, 1.2345678901234567e-6);

    // The step goes on where the run was taken up again.
    const std::vector<Record>& step = contents.steps.at("pipelines 8192");
    ASSERT_EQ(step.size(), 3u);
    const auto& [key, trial] = std::get<std::pair<TrialKey, Trial>>(step[0]);
    EXPECT_EQ(key, kKey);
    EXPECT_EQ(trial.ns, 1234.568);
    EXPECT_EQ(trial.us, 41.2);
    EXPECT_TRUE(trial.recorded);
    EXPECT_EQ(std::get<std::vector<Disturbance>>(step[1]),
              (std::vector{Disturbance::steal, Disturbance::preempted}));
    EXPECT_EQ((std::get<std::pair<TrialKey, Trial>>(step[2]).first.workload),
              Workload::mix_l1_read);

    const auto& [probe, ticks] =
        std::get<std::pair<ProbeKey, std::vector<double>>>(contents.steps.at("sensing 8192").at(0));
    EXPECT_EQ(probe, (ProbeKey{8192, Workload::hot, "source 4", "XMM T T none 0 0"}));
    EXPECT_EQ(ticks, (std::vector<double>{26, 130}));
}

TEST_F(TrialLogFile, keeps_an_earlier_log) {
    put("trials.jsonl", "hours of work\n");
    EXPECT_THROW(TrialLogWriter(path(), kHeader), BadInput);
    EXPECT_EQ(content(path()), "hours of work\n");
}

TEST_F(TrialLogFile, goes_on_behind_the_whole_lines) {
    const std::string whole = kHeader.dump() + "\n{\"step\":\"small copies\"}\n";
    const TrialLogContents contents = read(whole + "{\"size\":0,\"workl");
    EXPECT_TRUE(contents.torn);
    EXPECT_EQ(contents.bytes, whole.size());
    TrialLogWriter log(path(), contents.bytes);
    EXPECT_EQ(content(path()), whole);
    log.resumed("now");
    EXPECT_EQ(content(path()), whole + "{\"resumed\":\"now\"}\n");
}

TEST_F(TrialLogFile, drops_a_torn_line_that_looks_whole) {
    const TrialLogContents contents =
        read(kHeader.dump() + "\n{\"step\":\"a\"}\n" +
             R"({"size":1,"workload":"hot","candidate":"libc","round":0,"ns":12,"us":1})");
    EXPECT_TRUE(contents.torn); // its last figure may have lost digits
    EXPECT_TRUE(contents.steps.at("a").empty());
}

TEST_F(TrialLogFile, refuses_a_place_where_it_cannot_be) {
    EXPECT_THROW(TrialLogWriter(folder / "missing" / "trials.jsonl", kHeader), BadInput);
    EXPECT_THROW(TrialLogWriter(folder, kHeader), BadInput);
    EXPECT_THROW(TrialLogWriter("", kHeader), BadInput);
}

TEST_F(TrialLogFile, says_when_the_disk_is_full) {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
    EXPECT_THROW(TrialLogWriter("/dev/full", kHeader), Failure);
}

TEST_F(TrialLogFile, refuses_what_is_no_log) {
    EXPECT_THROW(read_trial_log(folder / "missing"), BadInput);
    EXPECT_THROW(read_trial_log(folder), BadInput);
    EXPECT_NE(refusal("").find("trials.jsonl"), std::string::npos);
    EXPECT_NE(refusal(std::string("\x7f"
                                  "ELF\0\1\2\n",
                                  8)),
              "taken");
    EXPECT_NE(refusal("{}\n").find("is no trial log"), std::string::npos);
    EXPECT_NE(refusal("[1]\n").find("is no trial log"), std::string::npos);
    EXPECT_NE(refusal("{\"format\":\"asterope-profile\"}\n").find("is no trial log"),
              std::string::npos);
    EXPECT_NE(refusal(R"({"format":"asterope-trials","version":1})"
                      "\n")
                  .find("version 1"),
              std::string::npos);
    EXPECT_NE(refusal(R"({"format":"asterope-trials","version":"x"})"
                      "\n")
                  .find("version"),
              std::string::npos);
    EXPECT_NE(refusal(kHeader.dump()).find("no whole header"), std::string::npos); // torn
}

TEST_F(TrialLogFile, refuses_lines_that_are_no_figures_and_says_where) {
    const auto trial = [](const char* fields) {
        return R"({"size":1,"workload":"hot","candidate":"libc","round":0,)" + std::string(fields) +
               '}';
    };
    EXPECT_NE(refusal_of(trial("\"ns\":-3,\"us\":1")).find("line 3: ns -3"), std::string::npos);
    EXPECT_NE(refusal_of(trial("\"ns\":0,\"us\":1")).find("line 3: ns 0"), std::string::npos);
    EXPECT_NE(refusal_of(trial("\"ns\":NaN,\"us\":1")).find("line 3: "), std::string::npos);
    EXPECT_NE(refusal_of(trial("\"ns\":1e999,\"us\":1")).find("line 3: "), std::string::npos);
    EXPECT_NE(refusal_of(trial("\"ns\":null,\"us\":1")).find("line 3: ns"), std::string::npos);
    EXPECT_NE(refusal_of(trial("\"ns\":3")).find("us is missing"), std::string::npos);
    EXPECT_NE(refusal_of(R"({"size":1,"workload":"warm","candidate":"libc"})").find("'warm'"),
              std::string::npos);
    EXPECT_NE(refusal_of(R"({"size":-1,"workload":"hot","candidate":"libc"})").find("size"),
              std::string::npos);
    EXPECT_NE(refusal_of(R"({"size":1,"workload":"hot","calls":0,"seconds":1})").find("0 calls"),
              std::string::npos);
    EXPECT_NE(refusal_of(R"({"hit":["flood"]})").find("flood"), std::string::npos);
    EXPECT_NE(refusal_of(R"({"size":1,"workload":"hot","probe":"a","copy":"b","ticks":[-1]})")
                  .find("ticks"),
              std::string::npos);
    EXPECT_NE(refusal_of("nonsense").find("line 3: "), std::string::npos);
    EXPECT_NE(refusal(kHeader.dump() + "\n{\"hit\":[]}\n").find("belongs to no step"),
              std::string::npos);
}
