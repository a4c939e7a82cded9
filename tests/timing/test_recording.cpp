// What is read of a program's recording, and which are refused in one line.
#include "timing/distribution.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "support/made_up_recording.hpp"
#include "support/mentions.hpp"
#include "support/refusal.hpp"
#include "support/temporary_folder.hpp"

namespace asterope {
namespace {

using nlohmann::json;

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
    const CallStatistics read_back = read(made_up_recording().dump());
    EXPECT_EQ(read_back.name, "fetcher");
    EXPECT_EQ(read_back.sizes.pairs(), (std::vector<std::pair<std::size_t, double>>{
                                           {0, 10}, {32, 900}, {33, 300.5}, {3000, 70}}));
    EXPECT_EQ(read_back.alignments.pairs(), fleet_statistics().alignments.pairs());
}

TEST_F(RecordingFile, is_refused_in_one_line_where_it_is_none) {
    const auto changed = [](const char* place, const json& value) {
        json one = made_up_recording();
        one[json::json_pointer(place)] = value;
        return one.dump();
    };
    json without = made_up_recording();
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
        {changed("/sizes/0", {16, 1e300}), "sizes[0]: [16,1e+300] is no size with its calls"},
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
