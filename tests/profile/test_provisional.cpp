// Why a profile is provisional: from its noise, from winners that noise decided, or from both.
#include "profile/provisional.hpp"

#include <gtest/gtest.h>

#include "profile/profile.hpp"

using namespace asterope;

namespace {

Profile profile(std::size_t kept, bool provisional) {
    Profile profile;
    profile.search.noise =
        DisturbanceCounts{1100, 100, kept, {{"preempted", 90}, {"steal", 70}}, provisional};
    profile.intervals.resize(2);
    profile.intents[Workload::cold].intervals.resize(1);
    profile.small.emplace();
    return profile;
}

constexpr const char* kKept = "12 % of the rounds stayed disturbed, however often they were "
                              "repeated (seen: steal 70, preempted 90)";

} // namespace

TEST(WhyProvisional, is_empty_where_the_profile_is_not) {
    EXPECT_EQ(why_provisional(profile(120, false)), "");
    EXPECT_EQ(why_provisional(Profile()), "");
}

TEST(WhyProvisional, tells_of_kept_rounds_and_of_winners_that_noise_decided) {
    EXPECT_EQ(why_provisional(profile(120, true)), kKept);
    Profile lost = profile(0, true);
    lost.intervals[1].undecided = true;
    EXPECT_EQ(why_provisional(lost), "1 winner is the plain copy, as noise hid a better one");
    lost.intents[Workload::cold].intervals[0].undecided = true;
    lost.small->undecided = true;
    EXPECT_EQ(count_undecided(lost), 3u);
    EXPECT_EQ(why_provisional(lost), "3 winners are the plain copy, as noise hid better ones");
    lost.search.noise->kept = 120;
    EXPECT_EQ(why_provisional(lost), kKept + std::string(", and 3 winners are the plain copy, as "
                                                         "noise hid better ones"));
    EXPECT_NE(why_provisional(profile(0, true)), "") << "made by hand";
}
