// Lengths of time as people write them, and what is none.
#include "base/duration_text.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/mentions.hpp"

using namespace asterope;

TEST(ParseDuration, reads_seconds_minutes_and_hours) {
    EXPECT_EQ(parse_duration("90s"), 90);
    EXPECT_EQ(parse_duration("10m"), 600);
    EXPECT_EQ(parse_duration("1.5h"), 5400);
    EXPECT_EQ(parse_duration("0.5s"), 0.5);
}

class BadDuration : public testing::TestWithParam<const char*> {};

TEST_P(BadDuration, is_refused) {
    try {
        parse_duration(GetParam());
        FAIL() << "taken";
    } catch (const BadInput& error) {
        EXPECT_TRUE(mentions(error.what(), "such as 90s or 10m"));
    }
}

INSTANTIATE_TEST_SUITE_P(, BadDuration,
                         testing::Values("", "0s", "0m", "-1m", "10", "10x", "10 m", "m", "10ms",
                                         "10min", "10M", "nan", "nans", "inf", "infs", "1e9s",
                                         "1e400s", "9999999h", "0x10s", "+5s", "5m30s", " 5m"));

TEST(FormatDuration, shows_seconds_and_minutes) {
    EXPECT_EQ(format_duration(0), "0 s");
    EXPECT_EQ(format_duration(0.4), "0 s");
    EXPECT_EQ(format_duration(59.4), "59 s");
    EXPECT_EQ(format_duration(59.6), "1 min 00 s");
    EXPECT_EQ(format_duration(65), "1 min 05 s");
    EXPECT_EQ(format_duration(3600), "60 min 00 s");
}

TEST(FormatDuration, never_counts_below_zero) {
    EXPECT_EQ(format_duration(-3), "0 s");
}
