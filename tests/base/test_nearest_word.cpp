// A misspelt word is taken for the nearest one that there is, and a foreign one for none.
#include "base/text.hpp"

#include <gtest/gtest.h>

using namespace asterope;

namespace {
const std::vector<std::string> kOptions = {"--rigor", "--resume", "--log", "--sizes",
                                           "--seed",  "--small",  "-o"};
} // namespace

TEST(NearestWord, is_one_letter_away) {
    EXPECT_EQ(nearest_word("--rigr", kOptions), "--rigor");
    EXPECT_EQ(nearest_word("--riggor", kOptions), "--rigor");
    EXPECT_EQ(nearest_word("--size", kOptions), "--sizes");
    EXPECT_EQ(nearest_word("--lag", kOptions), "--log");
    EXPECT_EQ(nearest_word("-rigor", kOptions), "--rigor");
}

TEST(NearestWord, is_the_nearest_of_several) {
    EXPECT_EQ(nearest_word("--seeds", {"--sizes", "--seed"}), "--seed");
    EXPECT_EQ(nearest_word("ab", {"abcd"}), "");
    EXPECT_EQ(nearest_word("abcx", {"abcd", "abce"}), "abcd");
}

TEST(NearestWord, is_none_where_nothing_is_near) {
    EXPECT_EQ(nearest_word("--bogus", kOptions), "");
    EXPECT_EQ(nearest_word("-x", kOptions), "");
    EXPECT_EQ(nearest_word("", kOptions), "");
    EXPECT_EQ(nearest_word("--rigor", {}), "");
    EXPECT_EQ(nearest_word(std::string(1 << 20, 'x'), kOptions), "");
}
