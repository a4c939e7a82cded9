// Profiles: what is written holds what was found, what is read is refused in one line if it is bad.
#include "profile.hpp"

#include <nlohmann/json.hpp>
#include <regex>

#include "error.hpp"
#include "temporary_folder.hpp"

using namespace asterope;
using nlohmann::json;

namespace {

const asterope_variant kVariants[] = {
    {"ZMM", "T", "NT", "T0", 4, 2, 1, 0, "up", "avx512f", nullptr},
    {"REP_MOVSB", "T", "T", "none", 0, 2, 1, 0, "up", "", nullptr}};
const std::vector<Candidate> kSpace = {{&kVariants[0], 8}, {&kVariants[1], 0}};

SizeResult result(std::size_t size, Entrant winner, Entrant second) {
    const Measured measured{812.3456789e-9, 1063e-9, {1.30864209, 1.29, 1.33}};
    const std::map<Workload, Measured> workloads = {{Workload::cold, measured}};
    return {size,
            {{winner, workloads, 1.30864209, true}, {second, workloads, 1.2, false}},
            {{Workload::cold, {1.001, 0.99, 1.01}}},
            15};
}

const asterope_small_variant kSmall[] = {{"grouped", "YMM", "up", 256, "avx2", nullptr},
                                         {"rep", "XMM", "up", 512, "", nullptr}};

SmallFacts small(const std::string& distribution = "fleet") {
    SizeResult small = result(0, 1, 0);
    for (Finalist& finalist : small.finalists) {
        finalist.workloads = {{Workload::mix_l1_read, finalist.workloads.at(Workload::cold)}};
    }
    small.noise_floor = {{Workload::mix_l1_read, {1.001, 0.99, 1.01}}};
    return {distribution, "predictable", {&kSmall[0], &kSmall[1]}, small};
}

constexpr asterope_aliased_variant kAliased[] = {{"wide", "XMM", "", nullptr},
                                                 {"backward", "YMM", "avx2", nullptr}};

AliasedFacts aliased() {
    return {{&kAliased[0], &kAliased[1]},
            {{1024, {1.1, 1.0, 1.2}, {1.4, 1.3, 1.5}, 1, {1.0, 1.27}}},
            AliasedChoice{1, 511, 1024}};
}

SearchFacts facts() {
    SearchFacts facts;
    facts.workload = "cold";
    facts.rigor = "quick";
    facts.started = "2026-11-20T22:15:00Z";
    facts.finished = "2026-11-20T22:19:00Z";
    facts.seed = ~std::uint64_t{0};
    facts.cpu = 3;
    facts.candidates = 2;
    facts.trials = 4711;
    facts.seconds = 123.456789;
    facts.invalid = {{"MM T T none 0 0", "wrong byte 3 of 129"}};
    facts.warnings = {"a warning"};
    facts.without = {"avx512", "sse4_1"};
    return facts;
}

const json kTuple = {{"rt", "ZMM"}, {"lt", "T"}, {"st", "NT"}, {"pt", "T0"}, {"ps", 4}, {"pd", 8}};

class ProfileFile : public TemporaryFolder {
  protected:
    json good() const {
        return make_profile({{"fingerprint", "0123456789abcdef"}}, facts(), kSpace,
                            {result(128, 1, 0), result(8192, 0, 1)}, small(), aliased());
    }
    std::filesystem::path path() const { return folder / "profile.json"; }

    /// The message with which `text` is refused; empty if it is not.
    std::string fault(const std::string& text) {
        put("profile.json", text);
        try {
            read_profile(path());
            return "";
        } catch (const BadInput& error) {
            return error.what();
        }
    }
    std::string fault(const char* field, const json& value) {
        json profile = good();
        profile[field] = value;
        return fault(profile.dump());
    }
    static bool says(const std::string& message, const std::string& what) {
        return message.find(what) != std::string::npos &&
               message.find("profile.json") != std::string::npos &&
               message.find('\n') == std::string::npos;
    }
};

} // namespace

TEST_F(ProfileFile, has_an_interval_for_each_size_from_0_on) {
    const json profile = good();
    EXPECT_EQ(profile["format"], "asterope-profile");
    EXPECT_EQ(profile["version"], 1);
    EXPECT_EQ(profile["complete"], true);
    const json& intervals = profile["intervals"];
    ASSERT_EQ(intervals.size(), 2u);
    EXPECT_EQ(intervals[0]["above"], 0);
    EXPECT_EQ(intervals[0]["up_to"], 128);
    EXPECT_EQ(intervals[1]["above"], 128);
    EXPECT_EQ(intervals[1]["up_to"], 8192);
}

TEST_F(ProfileFile, has_the_winner_and_the_others_apart) {
    const json profile = good();
    const json& interval = profile["intervals"][1];
    EXPECT_EQ(interval["winner"]["tuple"], kTuple);
    EXPECT_EQ(interval["winner"]["tied"], true);
    ASSERT_EQ(interval["runners_up"].size(), 1u);
    EXPECT_EQ(interval["runners_up"][0]["tuple"]["rt"], "REP_MOVSB");
    EXPECT_EQ(interval["runners_up"][0]["tied"], false);
    EXPECT_EQ(profile["intervals"][0]["winner"]["tuple"]["rt"], "REP_MOVSB");
}

TEST_F(ProfileFile, has_measurements_in_six_digits) {
    const json winner = good()["intervals"][1]["winner"];
    EXPECT_EQ(winner["ratio"], 1.30864);
    const json& cold = winner["workloads"]["cold"];
    EXPECT_EQ(cold["ns"], 812.346);
    EXPECT_EQ(cold["gb_per_s"], 10.0844); // 8192 / 812.3456789
    EXPECT_EQ(cold["libc_ns"], 1063);
    EXPECT_EQ(cold["ratio"], (json{{"median", 1.30864}, {"low", 1.29}, {"high", 1.33}}));
    EXPECT_EQ(cold["rounds"], 15);
    EXPECT_EQ(good()["intervals"][1]["noise_floor"]["cold"]["median"], 1.001);
}

TEST_F(ProfileFile, has_the_small_copies_with_what_they_were_timed_for) {
    const json profile = good(), small = profile["small"];
    EXPECT_EQ(small["distribution"], "fleet");
    EXPECT_EQ(small["objective"], "predictable");
    EXPECT_EQ(small["winner"]["tuple"],
              (json{{"shape", "rep"}, {"rt", "XMM"}, {"order", "up"}, {"bound", 512}}));
    ASSERT_EQ(small["runners_up"].size(), 1u);
    EXPECT_EQ(small["runners_up"][0]["tuple"],
              (json{{"shape", "grouped"}, {"rt", "YMM"}, {"order", "up"}, {"bound", 256}}));
    EXPECT_EQ(small["winner"]["workloads"]["mix_l1_read"]["ns"], 812.346);
    EXPECT_EQ(small["noise_floor"]["mix_l1_read"]["median"], 1.001);
    EXPECT_EQ(small["winner"]["ratio"], 1.30864);
}

// They are of many sizes.
TEST_F(ProfileFile, has_no_rate_for_small_copies) {
    const json small = good()["small"];
    for (const json& entry : {small["winner"], small["runners_up"][0]}) {
        EXPECT_FALSE(entry["workloads"]["mix_l1_read"].contains("gb_per_s"));
    }
}

// The name of a file, which lands in C comments later.
TEST_F(ProfileFile, has_the_distributions_name_without_odd_characters) {
    const json profile =
        make_profile({}, facts(), kSpace, {result(128, 1, 0)}, small("a*/\"\\b\n?.csv"), aliased());
    EXPECT_EQ(profile["small"]["distribution"], "a_/__b__.csv");
}

TEST_F(ProfileFile, has_what_was_found_where_buffers_alias) {
    const json found = good()["aliased"];
    EXPECT_EQ(
        found["winner"],
        (json{{"above", 511}, {"up_to", 1024}, {"tuple", {{"kind", "backward"}, {"rt", "YMM"}}}}));
    EXPECT_EQ(found["sizes"][0]["size"], 1024);
    EXPECT_EQ(found["sizes"][0]["pipeline"]["median"], 1.1);
    EXPECT_EQ(found["sizes"][0]["best"]["rt"], "YMM");
    EXPECT_EQ(found["sizes"][0]["best_ratio"]["high"], 1.5);
}

TEST_F(ProfileFile, has_no_aliased_winner_where_none_was_chosen) {
    AliasedFacts none = aliased();
    none.choice.reset();
    const json profile = make_profile({}, facts(), kSpace, {result(128, 1, 0)}, small(), none);
    EXPECT_FALSE(profile["aliased"].contains("winner"));
}

TEST_F(ProfileFile, says_how_it_was_found) {
    const json profile = good(), search = profile["search"];
    EXPECT_EQ(search["seed"], ~std::uint64_t{0});
    EXPECT_EQ(search["workload"], "cold");
    EXPECT_EQ(search["rigor"], "quick");
    EXPECT_EQ(search["cpu"], 3);
    EXPECT_EQ(search["candidates"], 2);
    EXPECT_EQ(search["trials"], 4711);
    EXPECT_EQ(search["seconds"], 123.457);
    EXPECT_EQ(search["invalid"][0]["candidate"], "MM T T none 0 0");
    EXPECT_EQ(search["invalid"][0]["reason"], "wrong byte 3 of 129");
    EXPECT_EQ(search["warnings"], json{"a warning"});
    EXPECT_EQ(search["without"], (json{"avx512", "sse4_1"}));
    EXPECT_EQ(profile["machine"]["fingerprint"], "0123456789abcdef");
}

TEST_F(ProfileFile, comes_back_as_it_was_written) {
    put("profile.json", good().dump(2));
    const json profile = read_profile(path());
    EXPECT_EQ(profile, good());
    EXPECT_EQ(profile_sizes(profile), (std::vector<std::size_t>{128, 8192}));
}

TEST_F(ProfileFile, is_refused_where_it_cannot_be_read) {
    EXPECT_THROW(read_profile(folder / "missing.json"), BadInput);
    EXPECT_THROW(read_profile(folder), BadInput);
    EXPECT_THROW(read_profile(""), BadInput);
}

TEST_F(ProfileFile, is_refused_where_it_is_no_whole_json) {
    const std::string text = good().dump();
    EXPECT_TRUE(says(fault(""), "not whole JSON"));
    EXPECT_TRUE(says(fault(text.substr(0, text.size() / 2)), "not whole JSON"));
    EXPECT_TRUE(says(fault(text + text), "not whole JSON"));
    EXPECT_TRUE(says(fault(std::string("\x7f"
                                       "ELF\0\0\1\xff",
                                       8)),
                     "not whole JSON"));
}

TEST_F(ProfileFile, is_refused_where_it_is_something_else) {
    for (const char* text : {"null", "1", "[]", "{}", "\"asterope-profile\""}) {
        EXPECT_TRUE(says(fault(text), "no asterope profile")) << text;
    }
    EXPECT_TRUE(says(fault("format", "asterope-trials"), "no asterope profile"));
    EXPECT_TRUE(says(fault("format", 1), "no asterope profile"));
}

TEST_F(ProfileFile, is_refused_in_a_version_that_is_unknown) {
    EXPECT_TRUE(says(fault("version", 2), "newer asterope (version 2)"));
    EXPECT_TRUE(says(fault("version", 99), "newer asterope (version 99)"));
    EXPECT_TRUE(says(fault("version", 0), "unknown version 0"));
    EXPECT_TRUE(says(fault("version", -1), "unknown version -1"));
    for (const json& version : {json("1"), json(1.0), json(true), json(nullptr), json::object()}) {
        EXPECT_TRUE(says(fault("version", version), "has no version")) << version;
    }
}

TEST_F(ProfileFile, is_refused_without_ascending_intervals) {
    for (const json& none : {json::array(), json::object(), json("x"), json(nullptr)}) {
        EXPECT_TRUE(says(fault("intervals", none), "has no intervals")) << none;
    }
    const json at[] = {{{"up_to", 256}}, {{"up_to", 128}}};
    EXPECT_TRUE(says(fault("intervals", {at[0], at[1]}), "do not ascend"));
    EXPECT_TRUE(says(fault("intervals", {at[0], at[0]}), "do not ascend"));
    for (const json& end : {json(0), json(-1), json(1.5), json("128"), json(nullptr)}) {
        EXPECT_TRUE(says(fault("intervals", json::array({{{"up_to", end}}})), "do not ascend"))
            << end;
    }
    EXPECT_TRUE(says(fault("intervals", json::array({nullptr})), "do not ascend"));
}

TEST(UtcNow, is_written_as_iso_8601) {
    EXPECT_TRUE(std::regex_match(utc_now(), std::regex(R"(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ)")));
}
