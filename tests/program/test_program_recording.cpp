// Recordings as asterope-record writes them, and all others.
#include "program/program_recording.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "support/made_up_program.hpp"
#include "support/temporary_folder.hpp"

using namespace asterope;
using nlohmann::json;

namespace {

class Recordings : public TemporaryFolder {
  protected:
    std::string file(const std::string& name, const std::string& text) {
        put(name, text);
        return (folder / name).string();
    }
    std::string refusal(const std::string& text) {
        try {
            read_program_recording(file("bad.json", text));
        } catch (const BadInput& error) {
            return error.what();
        }
        return "accepted";
    }
    /// Of the made-up recording with a change.
    template <class Change> std::string refusal_of(const Change& change) {
        json recording = made_up_recording();
        change(recording);
        return refusal(recording.dump());
    }
};

} // namespace

TEST_F(Recordings, say_what_a_program_copies) {
    const Program program = read_program_recording(file("r.json", made_up_recording().dump()));
    const Program expected = made_up_program();
    EXPECT_EQ(program.name, expected.name);
    EXPECT_EQ(program.share.low, 0.27);
    ASSERT_EQ(program.bands.size(), 10u);
    EXPECT_EQ(program.bands[6].above, 65536u);
    EXPECT_EQ(program.bands[6].up_to, 262144u);
    EXPECT_EQ(program.bands[9].up_to, kLargestCopy);
    for (std::size_t i = 0; i < 2; ++i) {
        const ProgramBand &band = program.bands[6 * i], &wanted = expected.bands[i];
        EXPECT_EQ(band.calls, wanted.calls);
        EXPECT_NEAR(band.share.high, wanted.share.high, 1e-9);
        EXPECT_EQ(band.situations, wanted.situations);
        EXPECT_EQ(band.probed, 180);
        EXPECT_EQ(band.read, wanted.read);
    }
    const auto& alignments = program.statistics.alignments.pairs();
    ASSERT_EQ(alignments.size(), 2u);
    EXPECT_EQ(alignments[1], std::make_pair(std::size_t{16}, 1.75));
}

TEST_F(Recordings, tell_the_sizes_of_a_class_apart_by_their_trace_and_leave_out_memset) {
    const Program program = read_program_recording(file("r.json", made_up_recording().dump()));
    const std::vector<std::pair<std::size_t, double>> expected = {
        {32, 750000}, {33, 250000}, {140000, 1000}};
    EXPECT_EQ(program.statistics.sizes.pairs(), expected);
    ASSERT_EQ(program.statistics.trace.size(), 2u);
    EXPECT_EQ(program.statistics.trace[0][1].size, 33u);
    EXPECT_EQ(program.statistics.trace[0][1].destination_offset, 4u);
}

TEST_F(Recordings, without_probes_or_watched_copies_say_nothing_of_situations) {
    json recording = made_up_recording();
    recording["bands"][0]["situations"] = json::array();
    recording["bands"][0]["read"] = nullptr;
    const Program program = read_program_recording(file("r.json", recording.dump()));
    EXPECT_EQ(program.bands[0].probed, 0);
    EXPECT_FALSE(program.bands[0].read);
}

TEST_F(Recordings, that_are_none_are_refused_with_their_name_and_what_is_wrong) {
    EXPECT_NE(refusal("").find("bad.json: it is empty"), std::string::npos);
    EXPECT_NE(refusal("{\"format\": \"asterope-rec").find("not JSON"), std::string::npos);
    EXPECT_NE(refusal("[]").find("is no recording"), std::string::npos);
    EXPECT_NE(refusal("{}").find("is no recording"), std::string::npos);
    EXPECT_NE(refusal(std::string(1000, '[')).find("bad.json"), std::string::npos);
    const struct {
        const char* place;
        json value;
        const char* said;
    } bad[] = {
        {"/version", 2, "is of another version"},
        {"/cpu_seconds", 0, "cpu_seconds: the program did nothing"},
        {"/cpu_seconds", "10", "cpu_seconds: \"10\" where a number is expected"},
        {"/cpu_seconds", 1e300, "cpu_seconds: 1e+300 is more than"},
        {"/cpu_seconds", 1e-17, "bands[0].seconds: is more than cpu_seconds"},
        {"/program/name", 5, "program.name: 5 where"},
        {"/share", json::array(), "share: an array where an object is expected"},
        {"/share/value", 1e17, "share.value: 1e+17 is more than 1"},
        {"/share/high", 0.28, "share: is not low <= value <= high"},
        {"/share/low", nullptr, "share.low: null where a number is expected"}, // NaN, to many
        {"/bands/1/seconds/low", -1, "bands[1].seconds.low: -1 is less than 0"},
        {"/bands/6/seconds/low", 3, "bands[6].seconds: is not low <= value <= high"},
        {"/bands/1/fresh", "x", "bands[1].fresh: \"x\" where"},
        {"/bands/1/fresh", 1.5, "bands[1].fresh: 1.5 is more than 1"},
        {"/bands/0/read/soon", 2, "bands[0].read.soon: 2 is more than 1"},
        {"/bands/1/calls", 1e17, "bands[1].calls: 1e+17 where an integer is expected"},
        {"/bands/1/above", 2048, "bands[1]: does not begin"},
        {"/bands/9/up_to", 1u << 30, "bands: do not end"},
        {"/bands/0/situations/0/source_cached", 1, "bands[0].situations[0].source_cached: 1 where"},
        {"/calls/0/to", 32, "calls[0]: is no range"},
        {"/calls/0/calls", 1ull << 63, "calls[0].calls: 9223372036854775808 is more than"},
        {"/calls", json::array(), "holds no copies"},
        {"/trace/0/0", {1, 2}, "trace[0][0]: a list of 2"},
        {"/trace/0/0/0", -1, "trace[0][0][0]: -1 is less than 0"},
        {"/trace/0", 3, "trace[0]: 3 where an array"},
        {"/alignments/source/0/0", 3, "alignments.source[0][0]: 3 is none of"},
    };
    for (const auto& [place, value, said] : bad) {
        const std::string refused = refusal_of(
            [&, at = place, to = value](json& one) { one[json::json_pointer(at)] = to; });
        EXPECT_NE(refused.find(std::string("bad.json: ") + said), std::string::npos)
            << place << ": " << refused;
    }
    EXPECT_NE(refusal_of([](json& one) {
                  one["share"] = nullptr;
                  for (json& band : one["bands"]) band["seconds"] = nullptr;
              }).find("no copy was timed"),
              std::string::npos);
    const std::string missing = refusal_of([](json& one) { one.erase("trace"); });
    EXPECT_NE(missing.find("bad.json: trace: missing"), std::string::npos) << missing;
}

TEST_F(Recordings, are_joined_by_the_weights_behind_their_names) {
    const std::string one = file("one.json", made_up_recording("one").dump());
    const std::string other = file("a=b.json", made_up_recording("other").dump());
    EXPECT_EQ(read_program({one + "=2", other}).name, "one, other");
    EXPECT_EQ(read_program({other + "=0.5"}).name, "other");
    for (const char* weight : {"=0", "=-1", "=inf", "=nan"}) {
        EXPECT_THROW(read_program({one + weight}), BadInput) << weight;
    }
    json less = made_up_recording("less");
    less["bands"][0]["up_to"] = less["bands"][1]["above"] = 128;
    EXPECT_THROW(read_program({one, file("less.json", less.dump())}), BadInput);
}
