// The trial log: a header, then a JSON object a trial, on the disk as soon as it has happened.
#include "trial_log.hpp"

#include <nlohmann/json.hpp>

#include "error.hpp"
#include "temporary_folder.hpp"

using namespace asterope;
using nlohmann::json;

namespace {

class TrialLogFile : public TemporaryFolder {
  protected:
    std::vector<json> lines() {
        std::vector<json> result;
        std::istringstream text(content(folder / "trials.jsonl"));
        for (std::string line; std::getline(text, line);) result.push_back(json::parse(line));
        return result;
    }
};

const json kHeader = {{"format", "asterope-trials"}, {"version", 1}};

} // namespace

TEST_F(TrialLogFile, begins_with_the_header) {
    const TrialLog log(folder / "trials.jsonl", kHeader);
    ASSERT_EQ(lines().size(), 1u);
    EXPECT_EQ(lines()[0], kHeader);
}

TEST_F(TrialLogFile, has_a_line_for_each_trial_while_it_is_still_open) {
    TrialLog log(folder / "trials.jsonl", kHeader);
    log.write(8192, Workload::cold, "ZMM T NT T0 4 8", 17, 250, 1.2345678e-6);
    ASSERT_EQ(lines().size(), 2u);
    EXPECT_EQ(lines()[1], (json{{"size", 8192},
                                {"workload", "cold"},
                                {"candidate", "ZMM T NT T0 4 8"},
                                {"round", 17},
                                {"calls", 250},
                                {"ns", 1234.568}}));
    log.write(128, Workload::hot, "libc", 18, 10, 2e-9);
    ASSERT_EQ(lines().size(), 3u);
    EXPECT_EQ(lines()[2]["candidate"], "libc");
    EXPECT_EQ(lines()[2]["ns"], 2.0);
}

TEST_F(TrialLogFile, replaces_an_earlier_log) {
    put("trials.jsonl", "an earlier log\n");
    const TrialLog log(folder / "trials.jsonl", kHeader);
    EXPECT_EQ(lines().size(), 1u);
}

TEST_F(TrialLogFile, refuses_a_place_where_it_cannot_be) {
    EXPECT_THROW(TrialLog(folder / "missing" / "trials.jsonl", kHeader), BadInput);
    EXPECT_THROW(TrialLog(folder, kHeader), BadInput);
    EXPECT_THROW(TrialLog("", kHeader), BadInput);
}

TEST_F(TrialLogFile, says_when_the_disk_is_full) {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
    EXPECT_THROW(TrialLog("/dev/full", kHeader), Failure);
}
