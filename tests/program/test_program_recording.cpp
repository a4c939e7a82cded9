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
    ASSERT_EQ(program.bands.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
        const ProgramBand &band = program.bands[i], &wanted = expected.bands[i];
        EXPECT_EQ(band.above, wanted.above);
        EXPECT_EQ(band.up_to, wanted.up_to);
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
    const auto with = [&](const char* pointer, const json& value) {
        return refusal_of([&](json& one) { one[json::json_pointer(pointer)] = value; });
    };
    EXPECT_NE(with("/version", 2).find("another version"), std::string::npos);
    EXPECT_NE(with("/cpu_seconds", 0).find("cpu_seconds"), std::string::npos);
    EXPECT_NE(with("/cpu_seconds", "10").find("cpu_seconds: no number"), std::string::npos);
    EXPECT_NE(with("/program/name", 5).find("program.name"), std::string::npos);
    EXPECT_NE(with("/share", json::array()).find("share: no object"), std::string::npos);
    EXPECT_NE(with("/bands/1/seconds/low", -1).find("bands[1].seconds.low"), std::string::npos);
    EXPECT_NE(refusal_of([](json& one) {
                  one["share"] = one["bands"][0]["seconds"] = one["bands"][1]["seconds"] = nullptr;
              }).find("no copy was timed"),
              std::string::npos);
    EXPECT_NE(with("/bands/1/fresh", "x").find("bands[1].fresh"), std::string::npos);
    EXPECT_NE(with("/bands/1/above", 2048).find("bands[1]: does not begin"), std::string::npos);
    EXPECT_NE(with("/bands/1/up_to", 2048).find("bands: do not end"), std::string::npos);
    EXPECT_NE(with("/bands/0/situations/0/source_cached", 1).find("does not say what is cached"),
              std::string::npos);
    EXPECT_NE(with("/calls/0/to", 32).find("calls[0]: is no range"), std::string::npos);
    EXPECT_NE(with("/calls", json::array()).find("holds no copies"), std::string::npos);
    EXPECT_NE(with("/trace/0/0", {1, 2}).find("trace: a call"), std::string::npos);
    EXPECT_NE(with("/trace/0/0/0", -1).find("trace: a call"), std::string::npos);
    EXPECT_NE(with("/trace/0", 3).find("trace: no list"), std::string::npos);
    EXPECT_NE(with("/alignments/source/0", {0, 1}).find("alignments.source"), std::string::npos);
    for (const char* name :
         {"program", "cpu_seconds", "share", "calls", "bands", "alignments", "trace"}) {
        const std::string said = refusal_of([&](json& one) { one.erase(name); });
        EXPECT_NE(said.find(std::string(name) + ": missing"), std::string::npos) << said;
    }
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
    less["bands"][0]["up_to"] = less["bands"][1]["above"] = 512;
    EXPECT_THROW(read_program({one, file("less.json", less.dump())}), BadInput);
}
