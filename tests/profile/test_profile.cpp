// Profiles: what is written holds what was found, what is read is refused in one line if it is bad.
#include "profile/profile.hpp"

#include <nlohmann/json.hpp>
#include <regex>

#include "base/error.hpp"
#include "support/made_up_pipelines.hpp"
#include "support/made_up_variants.hpp"
#include "support/temporary_folder.hpp"

using namespace asterope;
using nlohmann::json;

namespace {

const asterope_variant kVariants[] = {made_up("ZMM", "T", "NT", "T0", 4),
                                      made_up("REP_MOVSB", "T", "T", "none", 0),
                                      made_up("YMM", "T", "T", "T1", 8, {4, 1, 1, "up"})};
const std::vector<Candidate> kSpace = {
    {&kVariants[0], 8}, {&kVariants[1], 0}, {&kVariants[2], 6, 16}};

const Measured kMeasuredOnce{812.3456789e-9, 1063e-9, {1.30864209, 1.29, 1.33}};

Finalist finalist(Entrant candidate, double ratio = 1.30864209, bool tied = false) {
    return {candidate, {{Workload::cold, kMeasuredOnce}}, ratio, tied};
}

SizeResult result(std::size_t size, Entrant winner, Entrant second) {
    return {size,
            {finalist(winner, 1.30864209, true), finalist(second, 1.2)},
            {{Workload::cold, {1.001, 0.99, 1.01}}},
            15,
            43,
            {1.0912345678, 1.07, 1.11}};
}

/// One objective, the paper's space, nothing that senses: each size an interval up to itself.
PipelineFacts pipelines(const std::vector<SizeResult>& results) {
    return made_up_pipelines({"cold", {{Workload::cold, 1}, {Workload::hot, 0}}}, results);
}

PipelineFacts pipelines() {
    return pipelines({result(128, 1, 0), result(8192, 0, 1)});
}

const asterope_copy kSmall[] = {
    made_up("grouped YMM up 256",
            R"({"shape": "grouped", "rt": "YMM", "order": "up", "bound": 256})"),
    made_up("rep XMM up 512", R"({"shape": "rep", "rt": "XMM", "order": "up", "bound": 512})")};

SmallFacts small(const std::string& distribution = "fleet") {
    SizeResult small = result(0, 1, 0);
    for (Finalist& finalist : small.finalists) {
        finalist.workloads = {{Workload::mix_l1_read, finalist.workloads.at(Workload::cold)}};
    }
    small.noise_floor = {{Workload::mix_l1_read, {1.001, 0.99, 1.01}}};
    return {distribution, "predictable", {&kSmall[0], &kSmall[1]}, small};
}

const asterope_copy kAliased[] = {made_up("wide XMM", R"({"kind": "wide", "rt": "XMM"})"),
                                  made_up("backward YMM", R"({"kind": "backward", "rt": "YMM"})")};

AliasedFacts aliased() {
    return {{&kAliased[0], &kAliased[1]},
            {{1024, {1.1, 1.0, 1.2}, {1.4, 1.3, 1.5}, 1, {1.0, 1.27}}},
            AliasedChoice{1, 511, 1024}};
}

const asterope_copy kOverlapping[] = {
    made_up("overlapping XMM 128", R"({"rt": "XMM", "block": 128})"),
    made_up("overlapping ZMM 256", R"({"rt": "ZMM", "block": 256})")};

OverlappingFacts overlapping() {
    SizeResult race = result(0, 1, 0);
    for (Finalist& finalist : race.finalists) {
        finalist.workloads = {{Workload::overlapping, finalist.workloads.at(Workload::cold)}};
    }
    race.noise_floor = {{Workload::overlapping, {1.001, 0.99, 1.01}}};
    return {{&kOverlapping[0], &kOverlapping[1]}, race};
}

SearchFacts facts() {
    SearchFacts facts;
    facts.rigor = "quick";
    facts.space = "paper";
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
const json kExtended = {{"rt", "YMM"}, {"lt", "T"}, {"st", "T"}, {"pt", "T1"},
                        {"ps", 8},     {"pd", 6},   {"tb", 4},   {"pw", 16}};

/// Whether a tuple is the expected one; axes at their defaults may be left out of either.
bool is_tuple(json tuple, json expected) {
    static const json defaults = {{"tb", 2}, {"pi", 1}, {"pw", 0}, {"dir", "up"}};
    for (json* one : {&tuple, &expected}) {
        if (!one->is_object()) return false;
        for (const auto& [axis, value] : defaults.items()) one->emplace(axis, value);
    }
    return tuple == expected;
}

class ProfileFile : public TemporaryFolder {
  protected:
    json good() const {
        return make_profile({{"fingerprint", "0123456789abcdef"}}, facts(), kSpace, pipelines(),
                            small(), aliased());
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
    EXPECT_TRUE(is_tuple(interval["winner"]["tuple"], kTuple));
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
        make_profile({}, facts(), kSpace, pipelines(), small("a*/\"\\b\n?.csv"), aliased());
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

TEST_F(ProfileFile, has_the_copies_of_overlapping_buffers_the_winner_first) {
    const json found = make_profile({}, facts(), kSpace, pipelines(), small(), aliased(),
                                    std::nullopt, overlapping())["overlapping"];
    EXPECT_EQ(found["winner"]["tuple"], (json{{"rt", "ZMM"}, {"block", 256}}));
    EXPECT_EQ(found["winner"]["ratio"], 1.30864);
    EXPECT_EQ(found["winner"]["workloads"]["overlapping"]["rounds"], 15);
    ASSERT_EQ(found["runners_up"].size(), 1u);
    EXPECT_EQ(found["runners_up"][0]["tuple"], (json{{"rt", "XMM"}, {"block", 128}}));
    EXPECT_EQ(found["noise_floor"]["overlapping"]["median"], 1.001);
    EXPECT_FALSE(good().contains("overlapping"));
}

TEST_F(ProfileFile, has_no_aliased_winner_where_none_was_chosen) {
    AliasedFacts none = aliased();
    none.choice.reset();
    const json profile = make_profile({}, facts(), kSpace, pipelines(), small(), none);
    EXPECT_FALSE(profile["aliased"].contains("winner"));
}

TEST_F(ProfileFile, says_how_it_was_found) {
    const json profile = good(), search = profile["search"];
    EXPECT_EQ(search["seed"], ~std::uint64_t{0});
    EXPECT_EQ(search["workload"], "cold");
    EXPECT_EQ(search["weights"], (json{{"cold", 1}})); // not what is only measured
    EXPECT_EQ(search["space"], "paper");
    EXPECT_EQ(search["axes"], json::array());
    EXPECT_EQ(search["extended_candidates"], 0);
    EXPECT_FALSE(search.contains("source_map"));
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

// --- How far the winners can be trusted ----------------------------------------------------------

TEST_F(ProfileFile, says_what_each_winner_rests_on) {
    EXPECT_EQ(good()["intervals"][1]["proof"],
              (json{{"samples", 43},
                    {"rounds", 15},
                    {"lead", {{"median", 1.09123}, {"low", 1.07}, {"high", 1.11}}},
                    {"ties", json::array()}}));
}

// Of all finalists, also of those that are not kept as runners-up.
TEST_F(ProfileFile, names_all_that_tie_with_a_winner_but_not_itself) {
    SizeResult several = result(4096, 1, 0);
    for (int i = 0; i < 9; ++i) several.finalists.push_back(finalist(0, 1.1));
    several.finalists.push_back(finalist(2, 1.0, true));
    json proof = make_profile({}, facts(), kSpace, pipelines({several}), small(),
                              aliased())["intervals"][0]["proof"];
    EXPECT_EQ(proof["ties"], json{"YMM T T T1 8 6 TB4 PW16"});
    several.finalists[1].tied = true;
    proof = make_profile({}, facts(), kSpace, pipelines({several}), small(),
                         aliased())["intervals"][0]["proof"];
    EXPECT_EQ(proof["ties"], (json{"ZMM T NT T0 4 8", "YMM T T T1 8 6 TB4 PW16"}));
}

TEST_F(ProfileFile, says_what_the_small_winner_rests_on) {
    SmallFacts facts = small();
    facts.result.finalists[1].tied = true;
    facts.result.lead = {0.9985, 0.99, 1.02};
    const json proof =
        make_profile({}, ::facts(), kSpace, pipelines(), facts, aliased())["small"]["proof"];
    EXPECT_EQ(proof["ties"], json{"grouped YMM up 256"});
    EXPECT_EQ(proof["lead"]["median"], 0.9985);
    EXPECT_EQ(proof["samples"], 43);
}

TEST_F(ProfileFile, says_what_was_left_out) {
    SearchFacts search = facts();
    EXPECT_FALSE(good().contains("left_out"));
    search.left_out.sizes = {256, 65536};
    search.left_out.steps = {"small copies", "aliasing buffers"};
    json profile = make_profile({}, search, kSpace, pipelines(), std::nullopt, std::nullopt);
    EXPECT_EQ(profile["complete"], false);
    EXPECT_EQ(profile["left_out"],
              (json{{"sizes", {256, 65536}}, {"steps", {"small copies", "aliasing buffers"}}}));
    EXPECT_FALSE(profile.contains("small"));
    EXPECT_FALSE(profile.contains("aliased"));
    search.left_out = {{}, {"boundaries"}};
    profile = make_profile({}, search, kSpace, pipelines(), small(), aliased());
    EXPECT_EQ(profile["complete"], false);
    EXPECT_EQ(profile["left_out"], (json{{"sizes", json::array()}, {"steps", {"boundaries"}}}));
    EXPECT_TRUE(profile.contains("small"));
    EXPECT_TRUE(profile.contains("aliased"));
}

TEST_F(ProfileFile, says_what_several_threads_are_worth) {
    EXPECT_FALSE(good().contains("threads")); // nobody looked
    const Measured measured{2e-4, 3e-4, {1.5, 1.4, 1.6}};
    const ThreadsFacts threads{2,
                               {{1 << 20,
                                 {2, 65536},
                                 true,
                                 1.23456789,
                                 {{Workload::cold, measured}},
                                 {{Workload::cold, {1, 0.99, 1.01}}},
                                 15}},
                               {{(1 << 20) - 1, 1 << 20, {2, 65536}}}};
    const json found =
        make_profile({}, facts(), kSpace, pipelines(), small(), aliased(), threads)["threads"];
    EXPECT_EQ(found["most"], 2);
    EXPECT_EQ(found["intervals"],
              json::parse(R"([{"above":1048575,"up_to":1048576,"threads":2,"chunk":65536}])"));
    EXPECT_EQ(found["results"], json::parse(R"([{"size":1048576,"threads":2,"chunk":65536,
        "taken":true,"ratio":1.23457,"workloads":{"cold":{"ns":200000.0,"alone_ns":300000.0,
        "ratio":{"median":1.5,"low":1.4,"high":1.6},"rounds":15}},
        "noise_floor":{"cold":{"median":1.0,"low":0.99,"high":1.01}}}])"));
}

TEST_F(ProfileFile, says_what_disturbed_the_run) {
    EXPECT_FALSE(good()["search"].contains("noise")); // nobody watched
    SearchFacts search = facts();
    search.noise = DisturbanceCounts{1000, 30, 2, {{"steal", 25}, {"clock", 7}}, true};
    const json noise =
        make_profile({}, search, kSpace, pipelines(), small(), aliased())["search"]["noise"];
    EXPECT_EQ(noise, (json{{"rounds", 1000},
                           {"disturbed", {{"steal", 25}, {"clock", 7}}},
                           {"repeated", 30},
                           {"kept", 2},
                           {"provisional", true}}));
    search.noise = DisturbanceCounts{1000, 0, 0, {}, false};
    const json quiet =
        make_profile({}, search, kSpace, pipelines(), small(), aliased())["search"]["noise"];
    EXPECT_EQ(quiet["disturbed"], json::object());
    EXPECT_EQ(quiet["provisional"], false);
}

TEST_F(ProfileFile, says_where_noise_decided_and_is_provisional_then) {
    SearchFacts search = facts();
    search.noise = DisturbanceCounts{1000, 0, 0, {}, false};
    PipelineFacts undecided = pipelines();
    undecided.found.front().results.front().undecided = true;
    json profile = make_profile({}, search, kSpace, undecided, small(), aliased());
    EXPECT_EQ(profile["intervals"][0]["undecided"], true);
    EXPECT_FALSE(profile["intervals"][1].contains("undecided"));
    EXPECT_EQ(profile["search"]["noise"]["provisional"], true);

    SmallFacts small_copies = small();
    small_copies.result.undecided = true;
    profile = make_profile({}, search, kSpace, pipelines(), small_copies, aliased());
    EXPECT_EQ(profile["small"]["undecided"], true);
    EXPECT_EQ(profile["search"]["noise"]["provisional"], true);

    AliasedFacts at_aliases = aliased();
    at_aliases.sizes.front().undecided = true;
    profile = make_profile({}, search, kSpace, pipelines(), small(), at_aliases);
    EXPECT_EQ(profile["aliased"]["sizes"][0]["undecided"], true);
    EXPECT_EQ(profile["search"]["noise"]["provisional"], false); // the pipelines do there
}

TEST_F(ProfileFile, says_where_the_time_went_in_the_order_of_the_run) {
    EXPECT_FALSE(good()["search"].contains("phases"));
    SearchFacts search = facts();
    search.phases = {{"verifying", 1.23456789}, {"calibrating", 0}, {"run-off", 20}};
    const auto phases =
        make_profile({}, search, kSpace, pipelines(), small(), aliased())["search"]["phases"];
    EXPECT_EQ(phases.dump(), R"({"verifying":1.23457,"calibrating":0.0,"run-off":20.0})");
}

TEST_F(ProfileFile, says_how_it_was_resumed_and_what_it_might_take) {
    const json plain = good()["search"];
    EXPECT_FALSE(plain.contains("resumed"));
    EXPECT_FALSE(plain.contains("time_budget_seconds"));
    SearchFacts search = facts();
    search.resumed = 2;
    search.budget_seconds = 600;
    const json found = make_profile({}, search, kSpace, pipelines(), small(), aliased())["search"];
    EXPECT_EQ(found["resumed"], 2);
    EXPECT_EQ(found["time_budget_seconds"], 600);
}

// --- Intervals, intents, sensing and axes --------------------------------------------------------

namespace {

const asterope_copy kProbe = made_up("source 4", R"({"kind": "source", "lines": 4})");

/// A balanced run over two sizes: at the larger one sensing won, and two axes were tried.
PipelineFacts balanced() {
    PipelineFacts facts;
    facts.objectives = {
        {"balanced", {{Workload::hot, 1.0 / 3}, {Workload::cold, 2.0 / 3}, {Workload::produce, 0}}},
        {"hot", {{Workload::hot, 1}, {Workload::produce, 0}}},
        {"cold", {{Workload::cold, 1}, {Workload::produce, 0}}}};
    const Found small{{result(4096, 1, 0), result(4096, 0, 1), result(4096, 2, 1)}, {}, 0};
    const Found large{{result(65536, 0, 1), result(65536, 1, 0), result(65536, 0, 2)},
                      {{Workload::hot, "paper", finalist(1, 1.0625)},
                       {Workload::hot, "tb", finalist(2, 1.375)},
                       {Workload::cold, "paper", finalist(1, 1.125)},
                       {Workload::cold, "pi", finalist(0, 0.875)},
                       {Workload::cold, "tb", finalist(2, 1.25)}},
                      640};
    facts.found = {small, large};
    const SensingCopy copy{&kProbe, kSpace[1], kSpace[2], {187, 91.23456789, 383}};
    facts.sensing = {std::nullopt, SensingResult{copy, finalist(3, 1.5), 21}};
    facts.intervals = {{{0, 6400, 0}, {6400, 65536, 1}},
                       {{0, 4096, 0}, {4096, 65536, 1}},
                       {{0, 32768, 0}, {32768, 65536, 1}}};
    return facts;
}

json profile_of(const PipelineFacts& pipelines, const SearchFacts& search = facts()) {
    return make_profile({}, search, kSpace, pipelines, small(), aliased());
}

} // namespace

TEST_F(ProfileFile, has_intervals_up_to_where_winners_change_and_the_size_they_were_measured_at) {
    const json profile = profile_of(balanced()), &intervals = profile["intervals"];
    ASSERT_EQ(intervals.size(), 2u);
    EXPECT_EQ(intervals[0]["above"], 0);
    EXPECT_EQ(intervals[0]["up_to"], 6400);
    EXPECT_EQ(intervals[0]["size"], 4096);
    EXPECT_EQ(intervals[1]["above"], 6400);
    EXPECT_EQ(intervals[1]["up_to"], 65536);
    EXPECT_EQ(intervals[1]["size"], 65536);
    // The rate is that of the size measured.
    EXPECT_EQ(intervals[0]["winner"]["workloads"]["cold"]["gb_per_s"], 5.04219); // 4096 / 812.3457
    put("profile.json", profile.dump());
    EXPECT_EQ(profile_sizes(read_profile(path())), (std::vector<std::size_t>{4096, 65536}));
}

// Those made before there were such sizes.
TEST_F(ProfileFile, has_been_measured_at_its_intervals_ends_where_it_says_nothing_else) {
    const json profile =
        json::parse(R"({"intervals": [{"up_to": 128}, {"up_to": 512, "size": 256}]})");
    EXPECT_EQ(profile_sizes(profile), (std::vector<std::size_t>{128, 256}));
}

TEST_F(ProfileFile, has_the_mix_and_its_weights) {
    const json search = profile_of(balanced())["search"];
    EXPECT_EQ(search["workload"], "balanced");
    EXPECT_EQ(search["weights"], (json{{"hot", 0.333333}, {"cold", 0.666667}}));
}

TEST_F(ProfileFile, has_intents_for_the_workloads_of_a_mix) {
    const json intents = profile_of(balanced())["intents"];
    ASSERT_EQ(intents.size(), 2u);
    const json& hot = intents["hot"]["intervals"];
    ASSERT_EQ(hot.size(), 2u);
    EXPECT_EQ(hot[0]["up_to"], 4096);
    EXPECT_TRUE(is_tuple(hot[0]["winner"]["tuple"], kTuple));
    EXPECT_EQ(hot[1]["winner"]["tuple"]["rt"], "REP_MOVSB");
    EXPECT_EQ(hot[1]["proof"]["samples"], 43);
    const json& cold = intents["cold"]["intervals"];
    EXPECT_EQ(cold[0]["up_to"], 32768);
    EXPECT_TRUE(is_tuple(cold[0]["winner"]["tuple"], kExtended));
}

TEST_F(ProfileFile, has_no_intents_where_it_was_tuned_for_one_workload) {
    EXPECT_FALSE(good().contains("intents"));
}

// The routine has no entry point for what was just written: a caller seldom knows.
TEST_F(ProfileFile, has_no_intent_but_hot_cold_and_consume) {
    PipelineFacts facts = balanced();
    facts.objectives[1].name = "produce";
    facts.objectives[2].name = "consume";
    const json intents = profile_of(facts)["intents"];
    EXPECT_EQ(intents.size(), 1u);
    EXPECT_TRUE(intents.contains("consume"));
}

TEST_F(ProfileFile, has_what_senses_where_that_won) {
    const json profile = profile_of(balanced());
    EXPECT_FALSE(profile["intervals"][0].contains("sensing"));
    const json& sensing = profile["intervals"][1]["sensing"];
    EXPECT_EQ(sensing["kind"], "source");
    EXPECT_EQ(sensing["lines"], 4);
    EXPECT_EQ(sensing["threshold"], 187);
    EXPECT_EQ(sensing["cached_ticks"], 91.2346);
    EXPECT_EQ(sensing["uncached_ticks"], 383);
    EXPECT_EQ(sensing["hot"]["rt"], "REP_MOVSB");
    EXPECT_TRUE(is_tuple(sensing["cold"], kExtended));
    EXPECT_EQ(sensing["ratio"], 1.5);
    EXPECT_EQ(sensing["workloads"]["cold"]["ratio"]["median"], 1.30864);
    EXPECT_EQ(sensing["workloads"]["cold"]["rounds"], 21);
    EXPECT_FALSE(sensing.contains("tuple"));
    // What is taken where there is no time stamp counter stays beside it.
    EXPECT_TRUE(is_tuple(profile["intervals"][1]["winner"]["tuple"], kTuple));
}

// The interval of an evaluated size may begin below what a sensing copy can do: bisection moves it.
TEST_F(ProfileFile, has_no_sensing_where_the_interval_begins_below_its_minimum) {
    PipelineFacts facts = balanced();
    facts.sensing[0] = facts.sensing[1];
    facts.intervals[0] = {{0, 4095, 0}, {4095, 65536, 1}};
    drop_sensing_below_minimum(facts);
    EXPECT_FALSE(facts.sensing[0]);
    EXPECT_TRUE(facts.sensing[1]); // from 4096 on
    facts.intervals[0] = {{0, 4094, 0}, {4094, 65536, 1}};
    facts.intervals[1] = {{0, 4095, 0}, {4095, 65536, 1}}; // an intent's, which does not count
    drop_sensing_below_minimum(facts);
    EXPECT_FALSE(facts.sensing[1]);
    for (const json& interval : profile_of(facts)["intervals"]) {
        EXPECT_FALSE(interval.contains("sensing"));
    }
}

TEST_F(ProfileFile, has_what_each_axis_brought_to_each_workload_beside_the_papers_best) {
    const json profile = profile_of(balanced());
    EXPECT_FALSE(profile["intervals"][0].contains("axes")); // none was tried there
    const json& axes = profile["intervals"][1]["axes"];
    ASSERT_EQ(axes.size(), 2u); // workloads
    ASSERT_EQ(axes["hot"].size(), 2u);
    EXPECT_EQ(axes["hot"]["paper"]["ratio"], 1.0625);
    EXPECT_EQ(axes["hot"]["tb"]["ratio"], 1.375);
    ASSERT_EQ(axes["cold"].size(), 3u);
    EXPECT_EQ(axes["cold"]["paper"]["ratio"], 1.125);
    EXPECT_EQ(axes["cold"]["paper"]["tuple"]["rt"], "REP_MOVSB");
    EXPECT_EQ(axes["cold"]["tb"]["ratio"], 1.25);
    EXPECT_TRUE(is_tuple(axes["cold"]["tb"]["tuple"], kExtended));
    EXPECT_EQ(axes["cold"]["pi"]["ratio"], 0.875); // a loss is told, too
    EXPECT_EQ(axes["cold"]["pi"]["workloads"]["cold"]["ratio"]["median"], 1.30864);
}

TEST_F(ProfileFile, has_sensing_and_axes_in_the_routines_own_intervals_only) {
    const json intents = profile_of(balanced())["intents"];
    for (const char* intent : {"hot", "cold"}) {
        for (const json& interval : intents[intent]["intervals"]) {
            EXPECT_FALSE(interval.contains("sensing"));
            EXPECT_FALSE(interval.contains("axes"));
        }
    }
}

TEST_F(ProfileFile, says_which_axes_were_explored_and_how_many_candidates_that_took) {
    SearchFacts search = facts();
    search.space = "extended";
    json found = profile_of(balanced(), search)["search"];
    EXPECT_EQ(found["space"], "extended");
    EXPECT_EQ(found["extended_candidates"], 640); // the most at any size
    EXPECT_EQ(found["axes"], (json{"pi", "tb"}));
    search.sensing = true;
    EXPECT_EQ(profile_of(balanced(), search)["search"]["axes"], (json{"pi", "tb", "sensing"}));
    EXPECT_EQ(profile_of(pipelines(), search)["search"]["axes"], json{"sensing"});
}

TEST_F(ProfileFile, says_what_its_sources_were_mapped_from_without_odd_characters) {
    SearchFacts search = facts();
    search.source_map = "a*/\"\\b\n?.bin";
    EXPECT_EQ(profile_of(pipelines(), search)["search"]["source_map"], "a_/__b__.bin");
}

TEST_F(ProfileFile, keeps_five_runners_up_and_two_of_an_intent) {
    PipelineFacts facts = balanced();
    for (SizeResult& result : facts.found[1].results) {
        for (int i = 0; i < 12; ++i) result.finalists.push_back(finalist(1, 1.1 - 0.01 * i));
    }
    const json profile = profile_of(facts);
    EXPECT_EQ(profile["intervals"][0]["runners_up"].size(), 1u);
    EXPECT_EQ(profile["intervals"][1]["runners_up"].size(), 5u);
    EXPECT_EQ(profile["intents"]["hot"]["intervals"][0]["runners_up"].size(), 1u);
    EXPECT_EQ(profile["intents"]["hot"]["intervals"][1]["runners_up"].size(), 2u);
    EXPECT_EQ(profile["intervals"][1]["runners_up"][0]["ratio"], 1.2); // the best of them
}

TEST(WinnerFor, is_that_of_the_routines_own_interval) {
    const PipelineFacts facts = balanced();
    for (const std::size_t size : {1, 128, 4096, 5000, 6400}) EXPECT_EQ(facts.winner_for(size), 1);
    for (const std::size_t size : {6401, 65536}) EXPECT_EQ(facts.winner_for(size), 0);
    EXPECT_EQ(facts.winner_for(std::size_t{1} << 40), 0) << "beyond the last, as the last";
}

// --- What is read --------------------------------------------------------------------------------

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
    EXPECT_TRUE(says(fault(""), "it is empty"));
    EXPECT_TRUE(says(fault(text.substr(0, text.size() / 2)), "not JSON"));
    EXPECT_TRUE(says(fault(text + text), "not JSON"));
    EXPECT_TRUE(says(fault(std::string("\x7f"
                                       "ELF\0\0\1\xff",
                                       8)),
                     "line 1 column 1: not JSON"));
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
