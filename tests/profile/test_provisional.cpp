// Why a profile is provisional: from its noise, from winners that noise decided, or from both.
#include "profile/provisional.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace asterope;
using nlohmann::json;

namespace {

json profile(std::size_t kept, bool provisional) {
    return {{"search",
             {{"noise",
               {{"rounds", 1100},
                {"repeated", 100},
                {"kept", kept},
                {"disturbed", {{"preempted", 90}, {"steal", 70}}},
                {"provisional", provisional}}}}},
            {"intervals", {{{"size", 128}}, {{"size", 4096}}}},
            {"intents", {{"cold", {{"intervals", {{{"size", 128}}}}}}}},
            {"small", {{"objective", "balanced"}}}};
}

constexpr const char* kKept = "12 % of the rounds stayed disturbed, however often they were "
                              "repeated (seen: steal 70, preempted 90)";

} // namespace

TEST(WhyProvisional, is_empty_where_the_profile_is_not) {
    EXPECT_EQ(why_provisional(profile(120, false)), "");
    EXPECT_EQ(why_provisional(json::object()), "");
}

TEST(WhyProvisional, tells_how_many_rounds_stayed_disturbed) {
    EXPECT_EQ(why_provisional(profile(120, true)), kKept);
}

TEST(WhyProvisional, tells_how_many_winners_noise_decided) {
    json lost = profile(0, true);
    lost["intervals"][1]["undecided"] = true;
    EXPECT_EQ(why_provisional(lost), "1 winner is the plain copy, as noise hid a better one");
    lost["intents"]["cold"]["intervals"][0]["undecided"] = true;
    lost["small"]["undecided"] = true;
    EXPECT_EQ(count_undecided(lost), 3u);
    EXPECT_EQ(why_provisional(lost), "3 winners are the plain copy, as noise hid better ones");
}

TEST(WhyProvisional, tells_both) {
    json lost = profile(120, true);
    lost["intervals"][1]["undecided"] = true;
    EXPECT_EQ(why_provisional(lost),
              kKept + std::string(", and 1 winner is the plain copy, as noise hid a better one"));
}

TEST(WhyProvisional, has_a_reason_for_what_was_made_by_hand) {
    EXPECT_NE(why_provisional({{"search", {{"noise", {{"provisional", true}}}}}}), "");
}

TEST(WhyProvisional, takes_any_json) {
    for (const json& odd :
         {json(), json(7), json::array({1}), json("text"),
          json{{"search", 7}, {"intervals", 7}, {"intents", 7}},
          json{{"search",
                {{"noise",
                  {{"provisional", true}, {"rounds", -1}, {"kept", "x"}, {"disturbed", {7}}}}}},
               {"intents", {{"cold", 7}}}}}) {
        EXPECT_NO_THROW(why_provisional(odd)) << odd;
        EXPECT_EQ(count_undecided(odd), 0u);
    }
}
