// Lengths of time as people write them, and text that is refused.
#include "base/duration_text.hpp"

#include "support/unit_test.hpp"

TEST(ParseDuration, reads_seconds_minutes_and_hours_and_refuses_other_text) {
    EXPECT_EQ(parse_duration("90s"), 90);
    EXPECT_EQ(parse_duration("10m"), 600);
    EXPECT_EQ(parse_duration("1.5h"), 5400);
    EXPECT_EQ(parse_duration("0.5s"), 0.5);
    for (const char* text : {"",       "0s",       "0m",    "-1m", "10",    "10x", "10 m", "m",
                             "10ms",   "10min",    "10M",   "nan", "nans",  "inf", "infs", "1e9s",
                             "1e400s", "9999999h", "0x10s", "+5s", "5m30s", " 5m"}) {
        EXPECT_TRUE(mentions(refusal_of([&] { parse_duration(text); }), "such as 90s or 10m"))
            << text;
    }
}

TEST(FormatDuration, shows_seconds_and_minutes_and_nothing_below_zero) {
    const std::pair<double, const char*> cases[] = {
        {-3, "0 s"},          {0, "0 s"},         {0.4, "0 s"},          {59.4, "59 s"},
        {59.6, "1 min 00 s"}, {65, "1 min 05 s"}, {3600, "60 min 00 s"},
    };
    for (const auto& [seconds, text] : cases) EXPECT_EQ(format_duration(seconds), text);
}
