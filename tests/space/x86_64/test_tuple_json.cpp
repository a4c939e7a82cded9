// Tuples of profiles find the candidate that copies so, or none.
#include "space/tuple_json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>

#include "support/kinds.hpp"
#include "support/made_up_variants.hpp"

using namespace asterope;
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

json with(const char* key, const json& value) {
    json changed = kGood;
    changed[key] = value;
    return changed;
}

} // namespace

TEST(FindCandidate, takes_axes_at_their_defaults) {
    json spelled_out = kGood;
    spelled_out.update({{"tb", 2}, {"pi", 1}, {"pw", 0}, {"dir", "up"}});
    const auto found = find_candidate(asterope_copies, spelled_out);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->name(), find_candidate(asterope_copies, kGood)->name());
}

TEST(FindCandidate, finds_none_for_what_does_not_exist_or_is_no_tuple) {
    ASSERT_TRUE(find_candidate(asterope_copies, kGood));
    for (const json& bad : {with("rt", "QMM"),
                            with("lt", "X"),
                            with("st", ""),
                            with("pt", "none"),
                            with("ps", 3),
                            with("pd", 7),
                            with("pd", -2),
                            with("tb", 3),
                            with("pi", 7),
                            with("pw", 3),
                            with("dir", "sideways"),
                            with("colour", "red"),
                            json(),
                            json(1),
                            json("XMM"),
                            json::array({1}),
                            json::object(),
                            with("rt", 1),
                            with("rt", nullptr),
                            with("ps", "4"),
                            with("pd", "8"),
                            with("pd", json::array()),
                            with("pd", 1e300),
                            with("tb", "2"),
                            with("dir", 1)}) {
        EXPECT_FALSE(find_candidate(asterope_copies, bad)) << bad;
    }
}

// --- Both ways -----------------------------------------------------------------------------------

TEST(TupleJson, has_the_papers_fields_alone_and_leads_back_to_the_candidate) {
    for (const Candidate& candidate : paper_space(all)) {
        ASSERT_EQ(json(to_json(candidate)), tuple(candidate)) << candidate.name();
        const auto found = find_candidate(asterope_copies, tuple(candidate));
        ASSERT_TRUE(found) << candidate.name();
        EXPECT_EQ(found->variant, candidate.variant);
        EXPECT_EQ(found->distance(), candidate.distance());
    }
}

TEST(TupleJson, has_all_axes_where_one_is_not_the_papers) {
    std::size_t several = 0;
    for (const Candidate& candidate : extension_space(all)) {
        json expected = tuple(candidate);
        if (candidate.axis() != "movdir64b") { // the register type says that
            expected.update({{"tb", std::stoi(value(candidate, "tb"))},
                             {"pi", std::stoi(value(candidate, "pi"))},
                             {"pw", candidate.pw},
                             {"dir", value(candidate, "dir")}});
        }
        ASSERT_EQ(json(to_json(candidate)), expected) << candidate.name();
        several += candidate.axis() == "several";
    }
    EXPECT_GT(several, 0u);
}

// Each variant at its last distances, and one of each axis at all of them.
TEST(TupleJson, leads_back_to_the_candidate_beyond_the_paper_too) {
    const std::vector<Candidate> space = extension_space(all);
    std::set<std::string_view> axes;
    const asterope_variant* whole = nullptr;
    std::size_t found_back = 0;
    for (std::size_t i = 0; i < space.size(); ++i) {
        const Candidate& candidate = space[i];
        if (candidate.variant->ps && axes.insert(candidate.axis()).second) {
            whole = candidate.variant;
        }
        const bool last = i + 1 == space.size() || space[i + 1].variant != candidate.variant;
        if (!last && candidate.variant != whole) continue;
        const auto found = find_candidate(asterope_copies, to_json(candidate));
        ASSERT_TRUE(found) << candidate.name();
        EXPECT_EQ(found->variant, candidate.variant) << candidate.name();
        EXPECT_EQ(found->distance(), candidate.distance()) << candidate.name();
        ++found_back;
    }
    EXPECT_GT(found_back, extension_variants(all).size() + 5 * 15);
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
