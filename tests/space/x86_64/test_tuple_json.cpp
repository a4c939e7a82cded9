// Tuples of profiles find the candidate that copies so, or none.
#include "space/tuple_json.hpp"

#include "space/spaces_by_features.hpp"
#include "support/kinds.hpp"

namespace {

TEST(FindCandidate, takes_axes_at_their_defaults_and_finds_none_for_what_is_no_tuple_there_is) {
    const json good = {{"rt", "XMM"}, {"lt", "T"}, {"st", "T"}, {"pt", "T0"},
                       {"ps", 4},     {"pd", 8},   {"pw", 8}};
    const auto name_of = [&](const char* changes) {
        json changed = good;
        changed.update(json::parse("{" + std::string(changes) + "}"));
        const auto found = find_candidate(asterope_copies, changed);
        return found ? found->name() : "none";
    };
    for (const char* defaults : {"", R"("tb":2,"pi":1,"dir":"up")"}) {
        EXPECT_EQ(name_of(defaults), "XMM T T T0 4 8 PW8");
    }
    EXPECT_EQ(name_of(R"("pw":0)"), "XMM T T T0 4 8");
    for (const char* fault :
         {R"("rt":"QMM")", R"("lt":"X")",   R"("st":"")",          R"("pt":"none")",
          R"("ps":3)",     R"("pd":7)",     R"("pd":-2)",          R"("tb":3)",
          R"("pi":7)",     R"("pw":3)",     R"("dir":"sideways")", R"("colour":"red")",
          R"("rt":1)",     R"("rt":null)",  R"("ps":"4")",         R"("pd":"8")",
          R"("pd":[])",    R"("pd":1e300)", R"("tb":"2")",         R"("dir":1)",
          R"("pw":64)",    R"("pw":-8)",    R"("pw":"8")",         R"("pw":null)",
          R"("st":"NT")"}) { // which has no stage of prefetchw
        EXPECT_EQ(name_of(fault), "none") << fault;
    }
    for (const char* bad : {"null", "1", "\"XMM\"", "[1]", "{}"}) {
        EXPECT_FALSE(find_candidate(asterope_copies, json::parse(bad))) << bad;
    }
}

TEST(TupleJson, has_the_papers_fields_alone_or_all_where_a_marked_one_is_beyond_the_paper) {
    const std::vector<Candidate> space = whole_space();
    const std::pair<const char*, const char*> rows[] = {
        {"XMM T T none 0 0", R"({"rt":"XMM","lt":"T","st":"T","pt":"none","ps":0,"pd":0})"},
        {"MOVDIR64B T NT T0 4 8",
         R"({"rt":"MOVDIR64B","lt":"T","st":"NT","pt":"T0","ps":4,"pd":8})"},
        {"YMM T T T0 4 8 PW2 down", R"({"rt":"YMM","lt":"T","st":"T","pt":"T0","ps":4,"pd":8,)"
                                    R"("tb":2,"pi":1,"pw":2,"pg":0,"dir":"down"})"}};
    for (const auto& [name, text] : rows) EXPECT_EQ(to_json(named(name, space)).dump(), text);
}

// From the extension it looks for each variant at its last distances, and for one of each axis at
// all.
TEST(TupleJson, leads_back_to_the_candidate) {
    const std::vector<Candidate> space = whole_space();
    std::set<std::string_view> axes;
    const asterope_variant* whole = nullptr;
    for (std::size_t i = 0; i < space.size(); ++i) {
        const Candidate& candidate = space[i];
        if (candidate.variant->ps && axes.insert(candidate.axis()).second) {
            whole = candidate.variant;
        }
        const bool last = i + 1 == space.size() || space[i + 1].variant != candidate.variant;
        if (!last && candidate.variant != whole && candidate.axis() != "paper") continue;
        const auto found = find_candidate(asterope_copies, to_json(candidate));
        ASSERT_TRUE(found) << candidate.name();
        EXPECT_EQ(found->variant, candidate.variant) << candidate.name();
        EXPECT_EQ(found->distance(), candidate.distance()) << candidate.name();
    }
    EXPECT_EQ(axes.size(), 7u) << "the paper's, five beyond it, several";
}

TEST(TupleJson, of_the_other_kinds_leads_back_to_the_copy) {
    for (const asterope_kind& kind : kinds_of(asterope_copies)) {
        for (const asterope_copy* copy : copies_of(kind, everything)) {
            json tuple = tuple_json(*copy);
            EXPECT_EQ(find_copy(kind, tuple), copy) << copy->name;
            tuple["colour"] = "red";
            EXPECT_EQ(find_copy(kind, tuple), nullptr) << tuple;
            tuple.erase("colour");
            tuple.erase(tuple.begin().key());
            EXPECT_EQ(find_copy(kind, tuple), nullptr) << tuple;
        }
        for (const char* text : {"null", "{}", "[]", "7", R"({"rt": "XMM", "block": "128"})"}) {
            EXPECT_EQ(find_copy(kind, json::parse(text)), nullptr) << text;
        }
    }
    EXPECT_EQ(tuple_json(kSmallCopies.copies[0]).dump(),
              R"({"shape":"stepped","rt":"XMM","order":"middle","bound":128})");
}

} // namespace
