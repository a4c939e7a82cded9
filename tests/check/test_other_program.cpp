// Whether a profile was tuned for the program that a recording is of.
#include "check/other_program.hpp"

#include <gtest/gtest.h>

#include "support/made_up_program.hpp"

using namespace asterope;

namespace {

Profile profile_for(const std::string& name, double small, double large) {
    Profile profile;
    profile.search.program =
        ProgramOutcome{name,
                       {0.3, 0.3, 0.3},
                       {{0, 1024, small, {1, 1, 1}}, {1024, kLargestCopy, large, {1, 1, 1}}},
                       std::nullopt};
    return profile;
}

} // namespace

TEST(OtherProgram, is_none_where_name_and_sizes_are_about_the_same) {
    EXPECT_TRUE(other_program(profile_for("fetcher", 0.1, 0.2), made_up_program()).empty());
    EXPECT_TRUE(other_program(profile_for("fetcher", 0.1, 0.15), made_up_program()).empty());
}

TEST(OtherProgram, is_told_by_its_name_and_by_the_sizes_it_copies) {
    const auto named = other_program(profile_for("redis", 0.1, 0.2), made_up_program());
    ASSERT_EQ(named.size(), 1u);
    EXPECT_EQ(named[0], "program: it was tuned for redis, the recording is of fetcher");
    const auto moved = other_program(profile_for("fetcher", 0.3, 0), made_up_program());
    ASSERT_EQ(moved.size(), 1u);
    EXPECT_EQ(moved[0], "program: 67 % of its copies' time is spent at other sizes than then");
}

TEST(OtherProgram, may_be_one_of_several_that_were_tuned_for) {
    EXPECT_TRUE(other_program(profile_for("redis, fetcher", 0.3, 0), made_up_program()).empty());
    EXPECT_FALSE(
        other_program(profile_for("redis, fetchers", 0.1, 0.2), made_up_program()).empty());
}

TEST(OtherProgram, is_what_a_profile_for_all_programs_is_of) {
    EXPECT_EQ(other_program(Profile(), made_up_program()),
              std::vector<std::string>{"program: it was tuned for all programs, not for fetcher"});
}
