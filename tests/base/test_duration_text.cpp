// Lengths of time as people write them, and what is none.
#include "base/duration_text.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

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
        EXPECT_NE(std::string(error.what()).find("such as 90s or 10m"), std::string::npos);
    }
}

INSTANTIATE_TEST_SUITE_P(, BadDuration,
                         testing::Values("", "0s", "0m", "-1m", "10", "10x", "10 m", "m", "10ms",
                                         "10min", "10M", "nan", "nans", "inf", "infs", "1e9s",
                                         "1e400s", "9999999h", "0x10s", "+5s", "5m30s", " 5m"));
