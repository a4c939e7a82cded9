// Tuples of profiles find the candidate that copies so, or none.
#include "space/tuple_json.hpp"

#include "support/kinds.hpp"
#include "support/made_up_variants.hpp"
#include "support/unit_test.hpp"

using nlohmann::json;

namespace {

bool all(std::string_view) {
    return true;
}

json tuple(const Candidate& candidate) {
    const asterope_variant& v = *candidate.variant;
    return {{"rt", v.rt}, {"lt", v.lt}, {"st", v.st},
            {"pt", v.pt}, {"ps", v.ps}, {"pd", candidate.pd}};
}

const json kGood = {{"rt", "XMM"}, {"lt", "T"}, {"st", "NT"}, {"pt", "T0"}, {"ps", 4}, {"pd", 8}};

TEST(FindCandidate, takes_axes_at_their_defaults_and_finds_none_for_what_is_no_tuple_there_is) {
    const auto found = find_candidate(asterope_copies, kGood);
    ASSERT_TRUE(found);
    json changed = kGood;
    changed.update({{"tb", 2}, {"pi", 1}, {"pw", 0}, {"dir", "up"}});
    const auto spelled_out = find_candidate(asterope_copies, changed);
    ASSERT_TRUE(spelled_out);
    EXPECT_EQ(spelled_out->name(), found->name());
    for (const char* fault :
         {R"("rt":"QMM")", R"("lt":"X")",   R"("st":"")",          R"("pt":"none")",
          R"("ps":3)",     R"("pd":7)",     R"("pd":-2)",          R"("tb":3)",
          R"("pi":7)",     R"("pw":3)",     R"("dir":"sideways")", R"("colour":"red")",
          R"("rt":1)",     R"("rt":null)",  R"("ps":"4")",         R"("pd":"8")",
          R"("pd":[])",    R"("pd":1e300)", R"("tb":"2")",         R"("dir":1)"}) {
        json bad = kGood;
        bad.update(json::parse("{" + std::string(fault) + "}"));
        EXPECT_FALSE(find_candidate(asterope_copies, bad)) << bad;
    }
    for (const char* bad : {"null", "1", "\"XMM\"", "[1]", "{}"}) {
        EXPECT_FALSE(find_candidate(asterope_copies, json::parse(bad))) << bad;
    }
}

void expect_to_lead_back(const Candidate& candidate) {
    const auto found = find_candidate(asterope_copies, to_json(candidate));
    ASSERT_TRUE(found) << candidate.name();
    EXPECT_EQ(found->variant, candidate.variant) << candidate.name();
    EXPECT_EQ(found->distance(), candidate.distance()) << candidate.name();
}

TEST(TupleJson, has_the_papers_fields_alone_and_leads_back_to_the_candidate) {
    for (const Candidate& candidate : paper_space(all)) {
        ASSERT_EQ(json(to_json(candidate)), tuple(candidate)) << candidate.name();
        expect_to_lead_back(candidate);
    }
}

// Looked for is each variant at its last distances, and one of each axis at all of them.
TEST(TupleJson, has_all_axes_where_one_is_not_the_papers_and_leads_back) {
    const std::vector<Candidate> space = extension_space(all);
    std::set<std::string_view> axes;
    const asterope_variant* whole = nullptr;
    std::size_t looked_for = 0;
    for (std::size_t i = 0; i < space.size(); ++i) {
        const Candidate& candidate = space[i];
        json expected = tuple(candidate);
        if (candidate.axis() != "movdir64b") { // the register type says that
            for (const asterope_axis& axis : candidate.axes()) {
                if (!axis.mark) continue;
                const std::string text = value(candidate, axis.field);
                expected[axis.field] = axis.words ? json(text) : json(std::stoi(text));
            }
        }
        ASSERT_EQ(json(to_json(candidate)), expected) << candidate.name();
        if (candidate.variant->ps && axes.insert(candidate.axis()).second) {
            whole = candidate.variant;
        }
        const bool last = i + 1 == space.size() || space[i + 1].variant != candidate.variant;
        if (!last && candidate.variant != whole) continue;
        expect_to_lead_back(candidate);
        ++looked_for;
    }
    EXPECT_EQ(axes.count("several"), 1u);
    EXPECT_GT(looked_for, extension_variants(all).size() + 5 * 15);
}

TEST(TupleJson, leads_to_none_where_the_distance_of_prefetchw_does_not_fit) {
    json tuple = {{"rt", "XMM"}, {"lt", "T"}, {"st", "T"}, {"pt", "T0"},
                  {"ps", 4},     {"pd", 8},   {"pw", 8}};
    const auto found = find_candidate(asterope_copies, tuple);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->name(), "XMM T T T0 4 8 PW8");
    for (const json& pw : {json(3), json(64), json(-8), json("8"), json(nullptr)}) {
        tuple["pw"] = pw;
        EXPECT_FALSE(find_candidate(asterope_copies, tuple)) << pw;
    }
    tuple["pw"] = 8;
    tuple["st"] = "NT"; // which has no such stage
    EXPECT_FALSE(find_candidate(asterope_copies, tuple));
}

TEST(TupleJson, of_the_other_kinds_leads_back_to_the_copy) {
    for (const asterope_kind* kind :
         {&kSmallCopies, &kAliasedCopies, &kOverlappingCopies, &kProbes}) {
        for (const asterope_copy* copy : copies_of(*kind, all)) {
            json tuple = tuple_json(*copy);
            EXPECT_EQ(find_copy(*kind, tuple), copy) << copy->name;
            tuple["colour"] = "red";
            EXPECT_EQ(find_copy(*kind, tuple), nullptr) << tuple;
            tuple.erase("colour");
            tuple.erase(tuple.begin().key());
            EXPECT_EQ(find_copy(*kind, tuple), nullptr) << tuple;
        }
        for (const char* text : {"null", "{}", "[]", "7", R"({"rt": "XMM", "block": "128"})"}) {
            EXPECT_EQ(find_copy(*kind, json::parse(text)), nullptr) << text;
        }
    }
    EXPECT_EQ(tuple_json(kSmallCopies.copies[0]).dump(),
              R"({"shape":"stepped","rt":"XMM","order":"middle","bound":128})");
}

} // namespace
