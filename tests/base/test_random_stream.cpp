// Small random streams: named by numbers, each its own.
#include "base/random_stream.hpp"

#include <gtest/gtest.h>
#include <set>

using namespace asterope;

// The first numbers of the reference implementation (Vigna) from the state 1234567.
TEST(RandomStream, is_splitmix64) {
    RandomStream stream(1234567);
    EXPECT_EQ(stream(), 6457827717110365317u);
    EXPECT_EQ(stream(), 3203168211198807973u);
    EXPECT_EQ(stream(), 9817491932198370423u);
}

TEST(RandomStream, is_another_for_each_list_of_names) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t a = 0; a < 20; ++a) {
        seen.insert(RandomStream{a}());
        for (std::uint64_t b = 0; b < 20; ++b) seen.insert(RandomStream{a, b}());
    }
    EXPECT_EQ(seen.size(), 20u + 400);
}

TEST(RandomStream, is_the_same_for_the_same_names) {
    RandomStream one{7, 8, 9}, other{7, 8, 9};
    for (int i = 0; i < 5; ++i) EXPECT_EQ(one(), other());
}
