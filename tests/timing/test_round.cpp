// A round: everybody in turn, all of them again where it was disturbed, and only the last try
// counts.
#include "timing/paired.hpp"

#include <gtest/gtest.h>

using namespace asterope;

TEST(TimeRound, times_everybody_once_in_order_where_nothing_disturbs) {
    std::vector<int> timed;
    const std::vector<double> logs = time_round(
        std::vector<int>{3, -1, 7, -1},
        [&](int entrant) {
            timed.push_back(entrant);
            return std::exp(static_cast<double>(timed.size()));
        },
        [] { return false; });
    EXPECT_EQ(timed, (std::vector<int>{3, -1, 7, -1}));
    ASSERT_EQ(logs.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(logs[i], static_cast<double>(i + 1), 1e-12);
}

TEST(TimeRound, asks_once_after_each_try_and_keeps_the_last_one) {
    std::vector<int> timed;
    int tries = 0;
    const std::vector<double> logs = time_round(
        std::vector<int>{3, 5},
        [&](int entrant) {
            timed.push_back(entrant);
            return std::exp(10.0 * tries + entrant);
        },
        [&] {
            EXPECT_EQ(timed.size(), 2u * static_cast<std::size_t>(tries + 1));
            return ++tries < 3;
        });
    EXPECT_EQ(tries, 3);
    EXPECT_EQ(timed, (std::vector<int>{3, 5, 3, 5, 3, 5}));
    ASSERT_EQ(logs.size(), 2u);
    EXPECT_NEAR(logs[0], 23, 1e-12);
    EXPECT_NEAR(logs[1], 25, 1e-12);
}
