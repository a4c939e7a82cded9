// Profiles: what is written holds what was found, what is read is refused in one line if it is bad.
#include "profile/make_profile.hpp"

#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>

#include "base/error.hpp"
#include "base/json_text.hpp"
#include "support/made_up_pipelines.hpp"
#include "support/made_up_variants.hpp"
#include "support/temporary_folder.hpp"

using namespace asterope;
using nlohmann::json;

namespace {

const asterope_variant kVariants[] = {made_up("ZMM", "T", "NT", "T0", 4),
                                      made_up("REP_MOVSB", "T", "T", "none", 0),
                                      made_up("YMM", "T", "T", "T1", 8, {4, 1, 1, "up"}),
                                      made_up("XMM", "T", "T", "none", 0, {4, 1, 0, "up"})};
const std::vector<Candidate> kSpace = {
    {&kVariants[0], 8}, {&kVariants[1], 0}, {&kVariants[2], 6, 16}, {&kVariants[3], 0}};

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

const asterope_copy kSmall[] = {made_up_small("grouped YMM up 256", "grouped", "YMM", "up", 256),
                                made_up_small("stepped XMM up 128", "stepped", "XMM", "up", 128)};

SmallFacts small(const std::string& distribution = "fleet") {
    SizeResult small = result(0, 1, 0);
    for (Finalist& finalist : small.finalists) {
        finalist.workloads = {{Workload::mix_l1_read, finalist.workloads.at(Workload::cold)}};
    }
    small.noise_floor = {{Workload::mix_l1_read, {1.001, 0.99, 1.01}}};
    return {distribution, "predictable", {&kSmall[0], &kSmall[1]}, small};
}

const asterope_copy kAliased[] = {
    made_up("overlapping XMM 128", {{"rt", "XMM", 0}, {"block", nullptr, 128}}),
    made_up("overlapping YMM 256", {{"rt", "YMM", 0}, {"block", nullptr, 256}})};

AliasedFacts aliased() {
    return {{&kAliased[0], &kAliased[1]},
            {{1024, {1.1, 1.0, 1.2}, {1.4, 1.3, 1.5}, 1, {1.0, 1.27}}},
            AliasedChoice{1, 511, 1024}};
}

const asterope_copy kOverlapping[] = {
    made_up("overlapping XMM 128", {{"rt", "XMM", 0}, {"block", nullptr, 128}}),
    made_up("overlapping ZMM 256", {{"rt", "ZMM", 0}, {"block", nullptr, 256}})};

OverlappingFacts overlapping() {
    SizeResult race = result(0, 1, 0);
    for (Finalist& finalist : race.finalists) {
        finalist.workloads = {{Workload::overlapping, finalist.workloads.at(Workload::cold)}};
    }
    race.noise_floor = {{Workload::overlapping, {1.001, 0.99, 1.01}}};
    return {{&kOverlapping[0], &kOverlapping[1]}, race};
}

/// All that a run knows besides its results.
Profile bare() {
    Profile profile;
    profile.machine = {{"fingerprint", "0123456789abcdef"}};
    SearchFacts& search = profile.search;
    search.rigor = "quick";
    search.space = "paper";
    search.started = "2026-11-20T22:15:00Z";
    search.finished = "2026-11-20T22:19:00Z";
    search.seed = ~std::uint64_t{0};
    search.cpu = 3;
    search.candidates = 2;
    search.trials = 4711;
    search.seconds = 123.456789;
    search.invalid = {{"MM T T none 0 0", "wrong byte 3 of 129"}};
    search.warnings = {"a warning"};
    search.without = {"avx512", "sse4_1"};
    return profile;
}

const asterope_copy kProbe = made_up("each 4", {{"kind", "each", 0}, {"lines", nullptr, 4}});

/// A balanced run over two sizes: at the larger one sensing won.
PipelineFacts balanced() {
    PipelineFacts facts;
    facts.objectives = {
        {"balanced", {{Workload::hot, 1.0 / 3}, {Workload::cold, 2.0 / 3}, {Workload::produce, 0}}},
        {"hot", {{Workload::hot, 1}, {Workload::produce, 0}}},
        {"cold", {{Workload::cold, 1}, {Workload::produce, 0}}}};
    const Found small{{result(4096, 1, 0), result(4096, 0, 1), result(4096, 2, 1)}, 0};
    const Found large{{result(65536, 0, 1), result(65536, 1, 0), result(65536, 0, 2)}, 640};
    facts.found = {small, large};
    const SensingCopy copy{&kProbe, kSpace[1], kSpace[2], {187, 91.23456789, 383}, kSpace[0]};
    facts.sensing = {std::nullopt, SensingResult{copy, finalist(3, 1.5), 21}};
    facts.intervals = {{{0, 6400, 0}, {6400, 65536, 1}},
                       {{0, 4096, 0}, {4096, 65536, 1}},
                       {{0, 32768, 0}, {32768, 65536, 1}}};
    return facts;
}

ThreadsFacts threads() {
    const Measured measured{2e-4, 3e-4, {1.5, 1.4, 1.6}};
    return {2,
            {{1 << 20,
              {2, 65536},
              true,
              1.23456789,
              {{Workload::cold, measured}},
              {{Workload::cold, {1, 0.99, 1.01}}},
              15}},
            {{(1 << 20) - 1, 1 << 20, {2, 65536}}}};
}

json written(const PipelineFacts& pipelines, Profile profile = bare()) {
    add_results(profile, {kSpace, pipelines, small(), aliased(), {}, {}});
    return to_json(profile);
}

/// One of all parts.
json whole() {
    Profile profile = bare();
    profile.search.noise = DisturbanceCounts{1000, 30, 2, {{"steal", 25}, {"clock", 7}}, true};
    profile.search.phases = {
        {Step::verifying, 1.23456789}, {Step::calibration, 0}, {Step::run_off, 20}};
    profile.search.resumed = 2;
    profile.search.budget_seconds = 600;
    add_results(profile, {kSpace, balanced(), small(), aliased(), threads(), overlapping()});
    return to_json(profile);
}

/// The tuple as files have it, with all axes where it uses one beyond the paper.
json tuple(const Candidate& candidate) {
    const asterope_variant& v = *candidate.variant;
    json tuple = {{"rt", v.rt}, {"lt", v.lt}, {"st", v.st},
                  {"pt", v.pt}, {"ps", v.ps}, {"pd", candidate.pd}};
    if (candidate.axis() != "paper") {
        tuple.update({{"tb", std::stoi(value(candidate, "tb"))},
                      {"pi", std::stoi(value(candidate, "pi"))},
                      {"pw", candidate.pw},
                      {"dir", value(candidate, "dir")}});
    }
    return tuple;
}

json ratio(double median, double low, double high) {
    return {{"median", median}, {"low", low}, {"high", high}};
}

using Parts = std::vector<std::pair<const char*, json>>;

/// `parts` at their pointers; null: not there.
void expect_parts(const json& profile, const Parts& parts) {
    for (const auto& [pointer, value] : parts)
        EXPECT_EQ(part_of(profile, pointer), value) << pointer;
}

class ProfileFile : public TemporaryFolder {
  protected:
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
    std::string fault(const char* pointer, const json& value) {
        json profile = whole();
        profile[json::json_pointer(pointer)] = value;
        return fault(profile.dump());
    }
    static bool says(const std::string& message, const std::string& what) {
        return message.find(what) != std::string::npos &&
               message.find("profile.json") != std::string::npos &&
               message.find('\n') == std::string::npos;
    }
};

} // namespace

// --- What is written -----------------------------------------------------------------------------

TEST(MakeProfile, says_how_the_winners_were_found) {
    expect_parts(whole(),
                 {{"/format", "asterope-profile"},
                  {"/version", 1},
                  {"/complete", true},
                  {"/left_out", nullptr},
                  {"/machine/fingerprint", "0123456789abcdef"},
                  {"/search/seed", ~std::uint64_t{0}},
                  {"/search/workload", "balanced"},
                  {"/search/weights", {{"hot", 0.333333}, {"cold", 0.666667}}}, // those that count
                  {"/search/space", "paper"},
                  {"/search/axes", {"tb"}},
                  {"/search/extended_candidates", 640}, // the most at any size
                  {"/search/rigor", "quick"},
                  {"/search/cpu", 3},
                  {"/search/candidates", 2},
                  {"/search/trials", 4711},
                  {"/search/seconds", 123.457},
                  {"/search/invalid/0/candidate", "MM T T none 0 0"},
                  {"/search/invalid/0/reason", "wrong byte 3 of 129"},
                  {"/search/warnings", {"a warning"}},
                  {"/search/without", {"avx512", "sse4_1"}},
                  {"/search/noise",
                   {{"rounds", 1000},
                    {"disturbed", {{"steal", 25}, {"clock", 7}}},
                    {"repeated", 30},
                    {"kept", 2},
                    {"provisional", true}}},
                  {"/search/phases", {{"verifying", 1.23457}, {"calibrating", 0}, {"run-off", 20}}},
                  {"/search/resumed", 2},
                  {"/search/time_budget_seconds", 600}});
    expect_parts(written(pipelines()), {{"/search/workload", "cold"},
                                        {"/search/axes", json::array()},
                                        {"/search/extended_candidates", 0},
                                        {"/search/source_map", nullptr},
                                        {"/search/noise", nullptr},
                                        {"/search/phases", nullptr},
                                        {"/search/resumed", nullptr},
                                        {"/search/time_budget_seconds", nullptr},
                                        {"/intents", nullptr},
                                        {"/overlapping", nullptr},
                                        {"/threads", nullptr}});
}

TEST(MakeProfile, tells_phases_in_the_order_of_the_run) {
    Profile profile = bare();
    profile.search.phases = {{Step::verifying, 1}, {Step::calibration, 0}, {Step::run_off, 20}};
    EXPECT_EQ(to_json(profile)["search"]["phases"].dump(),
              R"({"verifying":1.0,"calibrating":0.0,"run-off":20.0})");
}

TEST(MakeProfile, has_winner_proof_and_runners_up_of_each_interval_in_four_digits) {
    const json profile = written(pipelines());
    ASSERT_EQ(profile["intervals"].size(), 2u);
    expect_parts(profile, {{"/intervals/0/above", 0},
                           {"/intervals/0/up_to", 128},
                           {"/intervals/0/winner/tuple/rt", "REP_MOVSB"},
                           {"/intervals/1/above", 128},
                           {"/intervals/1/up_to", 8192},
                           {"/intervals/1/winner/tuple", tuple(kSpace[0])},
                           {"/intervals/1/winner/tied", true},
                           {"/intervals/1/winner/ratio", 1.309},
                           {"/intervals/1/winner/workloads/cold/ns", 812.3},
                           {"/intervals/1/winner/workloads/cold/libc_ns", 1063},
                           {"/intervals/1/winner/workloads/cold/ratio", ratio(1.309, 1.29, 1.33)},
                           {"/intervals/1/proof",
                            {{"samples", 43},
                             {"rounds", 15},
                             {"lead", ratio(1.091, 1.07, 1.11)},
                             {"ties", json::array()}}},
                           {"/intervals/1/runners_up/0/tuple/rt", "REP_MOVSB"},
                           {"/intervals/1/runners_up/0/tied", false},
                           {"/intervals/1/runners_up/0/workloads", nullptr},
                           {"/intervals/1/noise_floor/cold/median", 1.001},
                           {"/intervals/1/undecided", nullptr}});
}

TEST(MakeProfile, has_intervals_up_to_where_winners_change_and_the_size_they_were_measured_at) {
    expect_parts(whole(), {{"/intervals/0/up_to", 6400},
                           {"/intervals/0/size", 4096},
                           {"/intervals/1/above", 6400},
                           {"/intervals/1/up_to", 65536},
                           {"/intervals/1/size", 65536}});
}

TEST(MakeProfile, has_the_copies_of_other_kinds) {
    const json small = {{"shape", "stepped"}, {"rt", "XMM"}, {"order", "up"}, {"bound", 128}};
    const json second = {{"shape", "grouped"}, {"rt", "YMM"}, {"order", "up"}, {"bound", 256}};
    const json downwards = {{"rt", "YMM"}, {"block", 256}};
    expect_parts(whole(),
                 {{"/small/distribution", "fleet"},
                  {"/small/objective", "predictable"},
                  {"/small/winner/tuple", small},
                  {"/small/winner/ratio", 1.309},
                  {"/small/winner/workloads/mix_l1_read/ns", 812.3},
                  {"/small/runners_up/0/tuple", second},
                  {"/small/noise_floor/mix_l1_read/median", 1.001},
                  {"/aliased/winner", {{"above", 511}, {"up_to", 1024}, {"tuple", downwards}}},
                  {"/aliased/sizes/0/size", 1024},
                  {"/aliased/sizes/0/pipeline/median", 1.1},
                  {"/aliased/sizes/0/best", downwards},
                  {"/aliased/sizes/0/best_ratio/high", 1.5},
                  {"/aliased/sizes/0/gains/1", {{"tuple", downwards}, {"gain", 1.27}}},
                  {"/overlapping/winner/tuple", {{"rt", "ZMM"}, {"block", 256}}},
                  {"/overlapping/runners_up/0/tuple", {{"rt", "XMM"}, {"block", 128}}},
                  {"/overlapping/noise_floor/overlapping/median", 1.001},
                  {"/overlapping/proof", nullptr},
                  {"/threads/most", 2},
                  {"/threads/intervals",
                   json::parse(R"([{"above":1048575,"up_to":1048576,"threads":2,"chunk":65536}])")},
                  {"/threads/results", json::parse(R"([{"size":1048576,"threads":2,"chunk":65536,
            "taken":true,"ratio":1.235,"workloads":{"cold":{"ns":200000.0,"alone_ns":300000.0,
            "ratio":{"median":1.5,"low":1.4,"high":1.6},"rounds":15}},
            "noise_floor":{"cold":{"median":1.0,"low":0.99,"high":1.01}}}])")}});
    Profile none = bare();
    AliasedFacts unchosen = aliased();
    unchosen.choice.reset();
    add_results(none, {kSpace, pipelines(), {}, unchosen, {}, {}});
    expect_parts(to_json(none), {{"/aliased/winner", nullptr}, {"/small", nullptr}});
}

// The name of a file, which lands in C comments later.
TEST(MakeProfile, has_names_of_files_without_odd_characters) {
    Profile profile = bare();
    profile.search.source_map = "a*/\"\\b\n?.bin";
    add_results(profile, {kSpace, pipelines(), small("a*/\"\\b\n?.csv"), {}, {}, {}});
    EXPECT_EQ(profile.small->distribution, "a_/__b__.csv");
    EXPECT_EQ(profile.search.source_map, "a_/__b__.bin");
}

// Of all finalists, also of those that are not kept as runners-up.
TEST(MakeProfile, names_all_that_tie_with_a_winner_but_not_itself) {
    SizeResult several = result(4096, 1, 0);
    for (int i = 0; i < 9; ++i) several.finalists.push_back(finalist(0, 1.1));
    several.finalists.push_back(finalist(2, 1.0, true));
    const char* ties = "/intervals/0/proof/ties";
    expect_parts(written(pipelines({several})), {{ties, json{"YMM T T T1 8 6 TB4 PW16"}}});
    several.finalists[1].tied = true;
    expect_parts(written(pipelines({several})),
                 {{ties, {"ZMM T NT T0 4 8", "YMM T T T1 8 6 TB4 PW16"}}});
    SmallFacts tied = small();
    tied.result.finalists[1].tied = true;
    Profile profile = bare();
    add_results(profile, {kSpace, pipelines(), tied, {}, {}, {}});
    EXPECT_EQ(profile.small->proof->ties, std::vector<std::string>{"grouped YMM up 256"});
}

TEST(MakeProfile, is_not_complete_where_something_was_left_out) {
    Profile profile = bare();
    profile.left_out = {{256, 65536}, {Step::small}};
    expect_parts(written(pipelines(), profile),
                 {{"/complete", false},
                  {"/left_out", {{"sizes", {256, 65536}}, {"steps", {"small copies"}}}}});
}

TEST(MakeProfile, says_where_noise_decided_and_is_provisional_then) {
    Profile start = bare();
    start.search.noise = DisturbanceCounts{1000, 0, 0, {}, false};
    PipelineFacts undecided = pipelines();
    undecided.found.front().results.front().undecided = true;
    expect_parts(written(undecided, start), {{"/intervals/0/undecided", true},
                                             {"/intervals/1/undecided", nullptr},
                                             {"/search/noise/provisional", true}});
    SmallFacts small_copies = small();
    small_copies.result.undecided = true;
    Profile profile = start;
    add_results(profile, {kSpace, pipelines(), small_copies, aliased(), {}, {}});
    expect_parts(to_json(profile),
                 {{"/small/undecided", true}, {"/search/noise/provisional", true}});
    AliasedFacts at_aliases = aliased();
    at_aliases.sizes.front().undecided = true;
    profile = start;
    add_results(profile, {kSpace, pipelines(), small(), at_aliases, {}, {}});
    expect_parts(to_json(profile), {{"/aliased/sizes/0/undecided", true},
                                    {"/search/noise/provisional", false}}); // the pipelines do
}

TEST(MakeProfile, has_intents_of_hot_cold_and_consume_alone) {
    const json intents = whole()["intents"];
    EXPECT_EQ(intents.size(), 2u);
    expect_parts(intents, {{"/hot/intervals/0/up_to", 4096},
                           {"/hot/intervals/0/winner/tuple", tuple(kSpace[0])},
                           {"/hot/intervals/1/winner/tuple/rt", "REP_MOVSB"},
                           {"/cold/intervals/0/up_to", 32768},
                           {"/cold/intervals/0/winner/tuple", tuple(kSpace[2])},
                           // which concerns all workloads:
                           {"/hot/intervals/1/sensing", nullptr}});
    // The routine has no entry point for what was just written: a caller seldom knows.
    PipelineFacts facts = balanced();
    facts.objectives[1].name = "produce";
    facts.objectives[2].name = "consume";
    EXPECT_EQ(written(facts)["intents"].size(), 1u);
    EXPECT_TRUE(written(facts)["intents"].contains("consume"));
}

TEST(MakeProfile, has_what_senses_beside_the_winner_where_that_won) {
    expect_parts(whole(), {{"/intervals/0/sensing", nullptr},
                           {"/intervals/1/sensing/kind", "each"},
                           {"/intervals/1/sensing/lines", 4},
                           {"/intervals/1/sensing/threshold", 187},
                           {"/intervals/1/sensing/cached_ticks", 91.23},
                           {"/intervals/1/sensing/uncached_ticks", 383},
                           {"/intervals/1/sensing/hot/rt", "REP_MOVSB"},
                           {"/intervals/1/sensing/cold", tuple(kSpace[2])},
                           {"/intervals/1/sensing/fetch", tuple(kSpace[0])},
                           {"/intervals/1/sensing/ratio", 1.5},
                           {"/intervals/1/sensing/workloads/cold/ratio/median", 1.309},
                           {"/intervals/1/winner/tuple", tuple(kSpace[0])}});
}

// The interval of an evaluated size may begin below what a sensing copy can do: bisection moves it.
TEST(MakeProfile, lets_intervals_that_sense_begin_at_the_minimum) {
    PipelineFacts facts = balanced();
    facts.sensing[0] = facts.sensing[1];
    facts.intervals[0] = {{0, 4095, 0}, {4095, 65536, 1}};
    begin_sensing_at_minimum(facts);
    EXPECT_FALSE(facts.sensing[0]) << "nothing comes before it";
    EXPECT_TRUE(facts.sensing[1]);
    facts.intervals[0] = {{0, 2048, 0}, {2048, 65536, 1}};
    facts.intervals[1] = facts.intervals[0]; // an intent's, which senses nothing
    begin_sensing_at_minimum(facts);
    EXPECT_TRUE(facts.sensing[1]);
    EXPECT_EQ(facts.intervals[0][0].up_to, 4095u);
    EXPECT_EQ(facts.intervals[0][1].above, 4095u);
    EXPECT_EQ(facts.intervals[1][1].above, 2048u);
}

TEST(MakeProfile, names_the_axes_that_were_explored_and_sensing) {
    Profile paper = bare(), sensing = bare();
    PipelineFacts facts = balanced();
    add_results(sensing, {kSpace, facts, {}, {}, {}, {}, true});
    EXPECT_EQ(sensing.search.axes, (std::vector<std::string>{"tb", "sensing"}));
    for (Found& found : facts.found) found.extended = 0;
    add_results(paper, {kSpace, facts, {}, {}, {}, {}, false});
    EXPECT_TRUE(paper.search.axes.empty());
}

TEST(MakeProfile, keeps_two_runners_up_and_of_an_intent_the_winner_under_what_counts) {
    PipelineFacts facts = balanced();
    for (SizeResult& result : facts.found[1].results) {
        for (int i = 0; i < 12; ++i) result.finalists.push_back(finalist(1, 1.1 - 0.01 * i));
        result.finalists[0].workloads[Workload::produce] = kMeasuredOnce;
    }
    const json profile = written(facts);
    EXPECT_EQ(profile["intervals"][1]["runners_up"].size(), 2u);
    EXPECT_EQ(profile["intervals"][1]["runners_up"][0]["ratio"], 1.2); // the best of them
    EXPECT_EQ(profile["intervals"][1]["winner"]["workloads"].size(), 2u);
    const json& of_cold = profile["intents"]["cold"]["intervals"][1];
    EXPECT_GT(of_cold["winner"]["ratio"], 0);
    EXPECT_FALSE(of_cold["winner"].contains("workloads"));
    for (const char* left_out : {"runners_up", "proof", "noise_floor"}) {
        EXPECT_FALSE(of_cold.contains(left_out)) << left_out;
    }
}

TEST(ProfileText, has_what_fits_into_one_line_in_one) {
    const std::string text = text_of(profile_of(whole()));
    EXPECT_EQ(json::parse(text), whole());
    EXPECT_NE(text.find("\n    \"tuple\":{\"rt\":"), std::string::npos) << text;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LT(line.size(), 220u) << line;
    EXPECT_LT(text.size(), 3 * whole().dump().size() / 2);
}

TEST(WinnerFor, is_that_of_the_routines_own_interval) {
    const PipelineFacts facts = balanced();
    for (const std::size_t size : {1, 128, 4096, 5000, 6400}) EXPECT_EQ(facts.winner_for(size), 1);
    for (const std::size_t size : {6401, 65536}) EXPECT_EQ(facts.winner_for(size), 0);
    EXPECT_EQ(facts.winner_for(std::size_t{1} << 40), 0) << "beyond the last, as the last";
}

// --- What is read --------------------------------------------------------------------------------

TEST_F(ProfileFile, comes_back_as_it_was_written) {
    put("profile.json", whole().dump(2));
    const Profile profile = read_profile(path());
    EXPECT_EQ(json(to_json(profile)), whole());
    EXPECT_EQ(profile.sizes(), (std::vector<std::size_t>{4096, 65536}));
}

// Profiles from before there were such sizes have been measured at their intervals' ends.
TEST_F(ProfileFile, may_hold_little) {
    const json winner = {{"tuple", tuple(kSpace[1])}};
    const json least = {{"format", "asterope-profile"},
                        {"version", 1},
                        {"architecture", "x86_64"},
                        {"complete", true},
                        {"intervals",
                         {{{"above", 0}, {"up_to", 128}, {"winner", winner}},
                          {{"above", 128}, {"up_to", 512}, {"size", 256}, {"winner", winner}}}}};
    put("profile.json", least.dump());
    const Profile profile = read_profile(path());
    EXPECT_EQ(profile.sizes(), (std::vector<std::size_t>{128, 256}));
    EXPECT_EQ(profile.intervals[0].winner.ratio, 1);
    EXPECT_TRUE(profile.machine.is_null());
    EXPECT_FALSE(profile.small);
}

TEST_F(ProfileFile, is_refused_where_it_cannot_be_read) {
    EXPECT_THROW(read_profile(folder / "missing.json"), BadInput);
    EXPECT_THROW(read_profile(folder), BadInput);
    EXPECT_THROW(read_profile(""), BadInput);
    const std::string text = whole().dump();
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
    EXPECT_TRUE(says(fault("/format", "asterope-trials"), "no asterope profile"));
}

TEST_F(ProfileFile, is_refused_in_a_version_that_is_unknown) {
    put("profile.json", json{{"format", "asterope-profile"}, {"version", 2}}.dump());
    EXPECT_THROW(read_profile(path()), NewerProfile);
    EXPECT_TRUE(says(fault("/version", 99), "newer asterope (version 99)"));
    EXPECT_TRUE(says(fault("/version", 0), "unknown version 0"));
    EXPECT_TRUE(says(fault("/version", -1), "unknown version -1"));
    for (const json& version : {json("1"), json(1.0), json(true), json(nullptr), json::object()}) {
        EXPECT_TRUE(says(fault("/version", version), "has no version")) << version;
    }
    put("profile.json",
        json{{"format", "asterope-profile"}, {"version", 1}, {"architecture", "aarch64"}}.dump());
    EXPECT_THROW(read_profile(path()), OtherArchitecture);
}

TEST_F(ProfileFile, is_refused_with_the_place_of_what_is_wrong) {
    const std::tuple<const char*, json, const char*> faults[] = {
        {"/intervals", json::array(), "intervals: a list of 0"},
        {"/intervals/0/up_to", 65536, "do not ascend"},
        {"/intervals/1/up_to", "128", "intervals[1].up_to: \"128\" where an integer"},
        {"/intervals/1/winner/tuple/ps", 16, "intervals[1].winner.tuple: is no copy that this"},
        {"/small/winner/tuple/bound", 7, "small.winner.tuple"},
        {"/aliased/sizes/0/best/rt", "sideways", "aliased.sizes[0].best.rt"},
        {"/search/seed", -1, "search.seed: -1 is less than 0"},
        {"/search/colour", "red", "search.colour: unknown field"},
        {"/machine", 7, "machine: 7 where an object is expected"},
    };
    for (const auto& [pointer, value, why] : faults) {
        EXPECT_TRUE(says(fault(pointer, value), why)) << fault(pointer, value);
    }
}

TEST(UtcNow, is_written_as_iso_8601) {
    EXPECT_TRUE(std::regex_match(utc_now(), std::regex(R"(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ)")));
}
