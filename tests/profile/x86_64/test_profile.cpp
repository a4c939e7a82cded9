// Profiles: a written one holds the findings; a bad one is refused in one line when it is read.
#include "profile/make_profile.hpp"

#include "base/json_text.hpp"
#include "space/tuple_json.hpp"
#include "support/made_up_pipelines.hpp"
#include "support/made_up_variants.hpp"
#include "support/unit_test.hpp"

namespace {

const asterope_variant kVariants[] = {made_up("ZMM", "T", "NT", "T0", 4),
                                      made_up("REP_MOVSB", "T", "T", "none", 0),
                                      made_up("YMM", "T", "T", "T1", 8, {4, 1, 1, "up"}),
                                      made_up("XMM", "T", "T", "none", 0, {4, 1, 0, "up"})};
const std::vector<Candidate> kSpace = {
    {&kVariants[0], 8}, {&kVariants[1], 0}, {&kVariants[2], 6, 16}, {&kVariants[3], 0}};

const Measured kMeasuredOnce{812.3456789, 1063, {1.30864209, 1.29, 1.33}};

SizeResult result(std::size_t size, Entrant winner, Entrant second,
                  Workload workload = Workload::cold) {
    return {size,
            {{winner, {{workload, kMeasuredOnce}}, 1.30864209, true},
             {second, {{workload, kMeasuredOnce}}, 1.2, false}},
            {{workload, {1.001, 0.99, 1.01}}},
            15,
            43,
            {1.0912345678, 1.07, 1.11}};
}

const asterope_copy kSmall[] = {made_up_small("grouped YMM up 256", "grouped", "YMM", "up", 256),
                                made_up_small("stepped XMM up 128", "stepped", "XMM", "up", 128)};

const asterope_copy kOverlapping[] = {
    made_up("overlapping XMM 128", {{"rt", "XMM", 0}, {"block", nullptr, 128}}),
    made_up("overlapping ZMM 256", {{"rt", "ZMM", 0}, {"block", nullptr, 256}})};

/// A choice of those; without sizes it reaches as far as the pipelines.
Choice overlapping(ChoiceKind kind, std::size_t above = 0, std::size_t up_to = 0) {
    const std::vector<const asterope_copy*> space = {&kOverlapping[0], &kOverlapping[1]};
    Choice choice = choice_of(kind, result(0, 1, 0), among(space));
    choice.above = above;
    choice.up_to = up_to;
    return choice;
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
    facts.sensing = {std::nullopt,
                     SensingResult{copy, {3, {{Workload::cold, kMeasuredOnce}}, 1.5, false}}};
    facts.intervals = {{{0, 20000, 0}, {20000, 65536, 1}},
                       {{0, 4096, 0}, {4096, 65536, 1}},
                       {{0, 32768, 0}, {32768, 65536, 1}}};
    return facts;
}

const MadeUpSpaces kSpaces(kSpace, {&kSmall[0], &kSmall[1]});

Findings all_found() {
    Findings found;
    found.pipelines = balanced();
    found.small = result(0, 1, 0, Workload::mix_l1_read);
    found.others = {overlapping(ChoiceKind::overlapping),
                    overlapping(ChoiceKind::aliased, 511, 1024),
                    made_up_sharing(1 << 20, 1.23456789)};
    found.exam = ExamFacts{9, 1, {{512, "hot", {0.9, 0.8, 0.95}}}, {{45, 1.1, 0.8, 0.9}}};
    found.left_out = {{512}, {Step::exam}};
    return found;
}

/// One of all parts.
json whole() {
    Profile profile;
    profile.machine = {{"fingerprint", "0123456789abcdef"}};
    SearchFacts& search = profile.search;
    search.rigor = "quick";
    search.space = "paper";
    search.distribution = "fleet";
    search.started = "2026-11-20T22:15:00Z";
    search.finished = "2026-11-20T22:19:00Z";
    search.seed = ~std::uint64_t{0};
    search.cpu = 3;
    search.candidates[Operation::copy] = 2;
    search.trials = 4711;
    search.seconds = 123.456789;
    search.invalid = {{"MM T T none 0 0", "wrong byte 3 of 129"}};
    search.warnings = {"a warning"};
    search.without = {"avx512", "sse4_1"};
    search.noise = DisturbanceCounts{1000, 30, 2, {{"steal", 25}, {"clock", 7}}, true};
    search.phases = {{Step::verifying, 1.23456789}, {Step::calibration, 0}, {Step::run_off, 20}};
    search.resumed = 2;
    search.budget_seconds = 600;
    add_choices(profile, all_found(), kSpaces);
    settle(profile);
    return to_json(profile);
}

/// The first three of the space as files have them.
const json kTuples[] = {to_json(kSpace[0]), to_json(kSpace[1]), to_json(kSpace[2])};

json ratio(double median, double low, double high) {
    return {{"median", median}, {"low", low}, {"high", high}};
}

/// `parts` at their pointers; null: not there.
void expect_parts(const json& profile, const std::vector<std::pair<const char*, json>>& parts) {
    for (const auto& [pointer, value] : parts)
        EXPECT_EQ(part_of(profile, pointer), value) << pointer;
}

class ProfileFile : public TemporaryFolder {
  protected:
    Profile read(const std::string& text) {
        put("profile.json", text);
        return read_profile(folder / "profile.json");
    }
    /// `text` is refused in a line that has `why` in it.
    void expect_refusal(const std::string& text, const std::string& why) {
        const std::string message = refusal_of([&] { read(text); }, "accepted");
        EXPECT_TRUE(mentions(message, why) && mentions(message, "profile.json"))
            << why << ": " << message;
        EXPECT_EQ(message.find('\n'), message.npos) << message;
    }
    void expect_refusal(const char* pointer, const json& value, const std::string& why) {
        json profile = whole();
        profile[json::json_pointer(pointer)] = value;
        expect_refusal(profile.dump(), why);
    }
};

} // namespace

TEST(MakeProfile, says_how_the_winners_were_found) {
    expect_parts(whole(), {{"/complete", false},
                           {"/left_out/memcpy", {{"sizes", {512}}, {"steps", {"exam"}}}},
                           {"/exam/memcpy/cells", 9},
                           {"/exam/memcpy/rounds",
                            {{"count", 45}, {"median", 1.1}, {"slowest", 0.8}, {"floor", 0.9}}},
                           {"/search/weights/memcpy", {{"hot", 0.333333}, {"cold", 0.666667}}},
                           {"/search/candidates/memcpy", 2},
                           {"/search/extended_candidates", 640},
                           {"/search/seed", ~std::uint64_t{0}},
                           {"/search/seconds", 123.457},
                           {"/search/phases/verifying", 1.23457},
                           {"/search/noise/disturbed/steal", 25},
                           {"/search/source_map", nullptr}});
}

/// The choices of a kind, and of an intent, as they are written.
std::vector<json> choices_of(const json& profile, const std::string& kind,
                             const char* intent = nullptr) {
    std::vector<json> found;
    for (const json& one : profile.at("choices")) {
        const json of = one.value("intent", json());
        if (one.at("kind") == kind && of == (intent ? json(intent) : json())) found.push_back(one);
    }
    return found;
}

TEST(MakeProfile, has_the_sensing_copy_and_the_plain_winner_of_a_size_in_four_digits) {
    const auto rows = choices_of(whole(), "pipelines");
    ASSERT_EQ(rows.size(), 2u);
    expect_parts(rows[0], {{"/operation", "memcpy"},
                           {"/above", 0},
                           {"/up_to", 20000},
                           {"/size", 4096},
                           {"/copies", {{"taken", kTuples[1]}}},
                           {"/evidence/ratio", 1.309},
                           {"/evidence/tied", true},
                           {"/evidence/workloads/cold/ns", 812.3},
                           {"/evidence/workloads/cold/libc_ns", 1063},
                           {"/evidence/proof/samples", 43},
                           {"/evidence/proof/lead", ratio(1.091, 1.07, 1.11)},
                           {"/evidence/runners_up/0/tuple", kTuples[0]},
                           {"/evidence/noise_floor/cold", ratio(1.001, 0.99, 1.01)},
                           {"/evidence/plain", nullptr}});
    expect_parts(rows[1], {{"/copies/probe", {{"kind", "each"}, {"lines", 4}}},
                           {"/copies/threshold", 187},
                           {"/copies/hot", kTuples[1]},
                           {"/copies/cold", kTuples[2]},
                           {"/copies/fetch", kTuples[0]},
                           {"/copies/plain", kTuples[0]},
                           {"/copies/taken", nullptr},
                           {"/evidence/ratio", 1.5},
                           {"/evidence/plain/ratio", 1.309},
                           {"/evidence/cached_ticks", 91.23}});
}

TEST(MakeProfile, has_the_copies_of_other_kinds) {
    const std::tuple<const char*, json, json, double> kinds[] = {
        {"small", {0, 128}, tuple_json(kSmall[1]), 1.309},
        {"overlapping", {0, 65536}, tuple_json(kOverlapping[1]), 1.309},
        {"aliased", {511, 1024}, tuple_json(kOverlapping[1]), 1.309},
        {"threads", {(1 << 20) - 1, 1 << 20}, {{"threads", 2}, {"chunk", 65536}}, 1.235}};
    for (const auto& [kind, sizes, copy, ratio] : kinds) {
        const auto rows = choices_of(whole(), kind);
        ASSERT_EQ(rows.size(), 1u) << kind;
        expect_parts(rows[0], {{"/above", sizes[0]},
                               {"/up_to", sizes[1]},
                               {"/copies/taken", copy},
                               {"/evidence/ratio", ratio}});
    }
}

TEST(MakeProfile, has_of_an_intent_the_winners_alone) {
    const json told = {{"ratio", 1.309}, {"tied", true}};
    for (const char* intent : {"hot", "cold"}) {
        const auto rows = choices_of(whole(), "pipelines", intent);
        ASSERT_EQ(rows.size(), 2u) << intent;
        for (json row : rows) {
            row["evidence"].erase("gb_per_s");
            EXPECT_EQ(row["evidence"], told);
        }
    }
}

TEST(MakeProfile, lets_intervals_that_sense_begin_at_the_minimum) {
    PipelineFacts facts = balanced();
    facts.sensing[0] = facts.sensing[1];
    facts.intervals[0] = {{0, kSensingMinimum - 1, 0}, {kSensingMinimum - 1, 65536, 1}};
    begin_sensing_at_minimum(facts);
    EXPECT_FALSE(facts.sensing[0]) << "nothing comes before it";
    EXPECT_TRUE(facts.sensing[1]);
    facts.intervals[0] = {{0, 2048, 0}, {2048, 65536, 1}};
    facts.intervals[1] = facts.intervals[0]; // an intent's, which senses nothing
    begin_sensing_at_minimum(facts);
    EXPECT_TRUE(facts.sensing[1]);
    EXPECT_EQ(facts.intervals[0][0].up_to, kSensingMinimum - 1);
    EXPECT_EQ(facts.intervals[0][1].above, kSensingMinimum - 1);
    EXPECT_EQ(facts.intervals[1][1].above, 2048u);
}

TEST(ProfileText, has_each_value_in_one_line_that_fits_there) {
    const std::string text = text_of(profile_of(whole()));
    EXPECT_EQ(json::parse(text), whole());
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LT(line.size(), 220u) << line;
}

TEST(WinnerFor, is_that_of_the_routines_own_interval) {
    const PipelineFacts facts = balanced();
    for (const std::size_t size : {1, 128, 4096, 5000, 20000}) EXPECT_EQ(facts.winner_for(size), 1);
    for (const std::size_t size : {20001, 65536}) EXPECT_EQ(facts.winner_for(size), 0);
    EXPECT_EQ(facts.winner_for(std::size_t{1} << 40), 0) << "beyond the last, as the last";
}

TEST_F(ProfileFile, comes_back_as_it_was_written) {
    const Profile profile = read(whole().dump(2));
    EXPECT_EQ(json(to_json(profile)), whole());
    EXPECT_EQ(profile.sizes(), (std::vector<std::size_t>{4096, 65536}));
}

// Profiles from before there were such sizes have been measured at their intervals' ends.
TEST_F(ProfileFile, may_hold_little) {
    json one = {{"operation", "memcpy"},
                {"kind", "pipelines"},
                {"above", 0},
                {"up_to", 128},
                {"copies", {{"taken", kTuples[1]}}}};
    json second = one;
    second.update({{"above", 128}, {"up_to", 512}, {"size", 256}});
    const json least = {{"format", "asterope-profile"},
                        {"version", 2},
                        {"architecture", "x86_64"},
                        {"complete", true},
                        {"choices", {one, second}}};
    const Profile profile = read(least.dump());
    EXPECT_EQ(profile.sizes(), (std::vector<std::size_t>{128, 256}));
    EXPECT_EQ(profile.choices[0].ratio, 1);
    EXPECT_TRUE(profile.machine.is_null());
    EXPECT_FALSE(profile.first(ChoiceKind::small));
}

TEST_F(ProfileFile, is_refused_where_it_is_something_else_or_of_an_unknown_version) {
    EXPECT_THROW(read_profile(folder / "missing.json"), BadInput);
    const std::string text = whole().dump();
    expect_refusal(text.substr(0, text.size() / 2), "not JSON");
    for (const char* other : {"null", "1", "[]", "{}", "\"asterope-profile\""}) {
        expect_refusal(other, "not an asterope profile");
    }
    expect_refusal("/format", "asterope-trials", "not an asterope profile");
    expect_refusal("/version", 99, "newer asterope (version 99)");
    expect_refusal("/version", 0, "has version 0, and this asterope reads 2: tune again");
    for (const json& version : {json("1"), json(1.0), json(true), json(nullptr), json::object()}) {
        expect_refusal("/version", version, "has no version");
    }
    EXPECT_THROW(read(R"({"format": "asterope-profile", "version": 3})"), NewerProfile);
    EXPECT_THROW(read(R"({"format": "asterope-profile", "version": 2, "architecture": "aarch64"})"),
                 OtherArchitecture);
}

TEST_F(ProfileFile, is_refused_with_the_place_of_the_fault) {
    const std::tuple<const char*, json, const char*> faults[] = {
        {"/choices", json::array(), "choices: no pipelines of memcpy"},
        {"/choices", 7, "choices: 7 where an array is expected"},
        {"/choices/2/above", 1, "choices[2]: the sizes of its kind do not ascend"},
        {"/choices/1/up_to", "128", "choices[1].up_to: \"128\" where a sound integer"},
        {"/choices/1/above", -1, "choices[1].above: -1 where a sound integer"},
        {"/choices/1/copies/taken/ps", 16, "choices[1].copies.taken: is not a copy that this"},
        {"/choices/1/copies/taken/colour", 1, "choices[1].copies.taken: is not a copy that this"},
        {"/choices/1/copies", json::object(), "choices[1].copies.taken: missing"},
        {"/choices/1/kind", "loops", "choices[1].kind: is not known to this version"},
        {"/choices/0/copies/taken/bound", 7, "choices[0].copies.taken"},
        {"/search/seed", -1, "search.seed: -1 where"},
        {"/search/colour", "red", "search.colour: unknown field"},
        {"/search/rigor", "\x1b[2J", "search.rigor: not all printable ASCII"},
        {"/machine", 7, "machine: 7 where an object is expected"},
    };
    for (const auto& [pointer, value, why] : faults) expect_refusal(pointer, value, why);
}
