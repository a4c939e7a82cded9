// Tuples of profiles find the candidate that copies so, or none.
#include "tuple_json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace asterope;
using nlohmann::json;

namespace {

bool all(std::string_view) {
    return true;
}
bool none(std::string_view) {
    return false;
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

TEST(FindCandidate, finds_every_candidate_by_its_tuple) {
    for (const Candidate& candidate : paper_space(all)) {
        const auto found = find_candidate(tuple(candidate), all);
        ASSERT_TRUE(found) << candidate.name();
        EXPECT_EQ(found->name(), candidate.name());
        EXPECT_EQ(found->variant, candidate.variant);
        EXPECT_EQ(found->distance(), candidate.distance());
    }
}

TEST(FindCandidate, takes_axes_at_their_defaults) {
    json spelled_out = kGood;
    spelled_out.update({{"tb", 2}, {"pi", 1}, {"pw", 0}, {"dir", "up"}});
    const auto found = find_candidate(spelled_out, all);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->name(), find_candidate(kGood, all)->name());
}

TEST(FindCandidate, finds_none_for_a_tuple_that_does_not_exist) {
    ASSERT_TRUE(find_candidate(kGood, all));
    for (const json& bad : {with("rt", "QMM"), with("lt", "X"), with("st", ""), with("pt", "none"),
                            with("ps", 3), with("pd", 7), with("pd", -2), with("pd", 1000),
                            with("tb", 3), with("pi", 7), with("pw", 3), with("dir", "sideways")}) {
        EXPECT_FALSE(find_candidate(bad, all)) << bad;
    }
}

TEST(FindCandidate, finds_none_for_what_is_no_tuple) {
    for (const json& bad :
         {json(), json(1), json("XMM"), json::array({1}), json::object(), with("rt", 1),
          with("rt", nullptr), with("ps", "4"), with("pd", "8"), with("pd", json::array()),
          with("pd", 1e300), with("tb", "2"), with("dir", 1), with("pd", nullptr)}) {
        EXPECT_FALSE(find_candidate(bad, all)) << bad;
    }
}

TEST(FindCandidate, finds_none_that_this_cpu_cannot_run) {
    const json wide = with("rt", "ZMM");
    EXPECT_TRUE(find_candidate(wide, all));
    EXPECT_FALSE(find_candidate(wide, none));
    EXPECT_TRUE(find_candidate(kGood, none)); // XMM needs nothing
}
