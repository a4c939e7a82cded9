// Durations as people read them.
#include "base/progress.hpp"

#include <gtest/gtest.h>

using asterope::format_duration;

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
