// What is read of a program's recording, and which are refused in one line.
#include "timing/distribution.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "support/mentions.hpp"
#include "support/refusal.hpp"
#include "support/temporary_folder.hpp"

namespace asterope {
namespace {

using nlohmann::json;

json recording() {
    json one = json::parse(R"({
        "format": "asterope-recording", "version": 2, "tool_version": "0.1.0",
        "program": {"command": ["./fetcher"], "executable": "/fetcher", "name": "fetcher"},
        "machine": {"cpu": "AMD EPYC", "cpus": 2, "libc": "glibc 2.36"},
        "started": "2026-11-24T18:25:14Z", "seconds": 0.5, "cpu_seconds": 0.4, "complete": true,
        "unseen": 0.0, "outlived_by": 0, "processes": 1, "threads": 1,
        "sampling": {"period": 8388608, "drawn": 4146, "samples": 4096},
        "copies": {"calls": 1281, "bytes": 9000, "share": 0.5},
        "sets": {"calls": 0, "bytes": 0, "share": 0.0},
        "calls": [{"function": "memcpy", "from": 32, "to": 34, "calls": 1200}],
        "sizes": [[0, 10], [32, 900], [33, 300.5], [3000, 70]],
        "bands": [], "places": [], "warnings": []})");
    for (int i = 0; i < 10; ++i) {
        one["bands"].push_back(
            {{"from", 64 * i}, {"to", 64 * (i + 1)}, {"calls", 1}, {"bytes", 1}, {"share", 0.1}});
    }
    return one;
}

class RecordingFile : public TemporaryFolder {
  protected:
    CallStatistics read(const std::string& text) {
        std::ofstream(folder / "r.json") << text;
        return recorded_statistics(folder / "r.json");
    }
    std::string refusal(const std::string& text) {
        return refusal_of([&] { read(text); }, "accepted");
    }
};

TEST_F(RecordingFile, has_sizes_and_a_name_and_the_fleets_alignments) {
    const CallStatistics read_back = read(recording().dump());
    EXPECT_EQ(read_back.name, "fetcher");
    EXPECT_EQ(read_back.sizes.pairs(), (std::vector<std::pair<std::size_t, double>>{
                                           {0, 10}, {32, 900}, {33, 300.5}, {3000, 70}}));
    EXPECT_EQ(read_back.alignments.pairs(), fleet_statistics().alignments.pairs());
}

TEST_F(RecordingFile, is_refused_in_one_line_where_it_is_none) {
    const auto changed = [](const char* place, const json& value) {
        json one = recording();
        one[json::json_pointer(place)] = value;
        return one.dump();
    };
    json without = recording();
    without.erase("sizes");
    const std::pair<std::string, const char*> cases[] = {
        {"", "it is empty"},
        {R"({"format": "asterope-rec)", "not JSON"},
        {changed("/format", "asterope-profile"), "is no recording"},
        {changed("/version", 1), "is of another version: record anew"},
        {changed("/version", "2"), "is of another version"},
        {changed("/program", 7), "program: has no name: record anew"},
        {without.dump(), "sizes: missing, or no list: record anew"},
        {changed("/sizes/0", {16}), "sizes[0]: [16] is no size with its calls"},
        {changed("/sizes/0/0", -3), "sizes[0]: [-3,10] is no size"},
        {changed("/sizes/0/1", 0), "sizes[0]: [0,0] is no size"},
        {changed("/sizes", 7), "sizes: missing, or no list"},
        {changed("/sizes", json::array()), "too few small copies"},
        {changed("/sizes/1/1", 9), "too few small copies"},
    };
    for (const auto& [text, says] : cases) {
        const std::string message = refusal(text);
        EXPECT_EQ(message.rfind("recording " + (folder / "r.json").string() + ':', 0), 0u)
            << message;
        EXPECT_TRUE(mentions(message, says));
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
}

} // namespace
} // namespace asterope
