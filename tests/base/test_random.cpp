// Random numbers: the same for the same names, others for others.
#include "base/random.hpp"

#include <gtest/gtest.h>
#include <set>

using namespace asterope;

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

TEST(NamedRandom, is_the_same_for_the_same_name_and_seed) {
    EXPECT_EQ(named_random(1, "pipelines 128")(), named_random(1, "pipelines 128")());
}

TEST(NamedRandom, is_another_for_another_name_or_seed) {
    const auto one = named_random(1, "pipelines 128")();
    EXPECT_NE(one, named_random(1, "pipelines 256")());
    EXPECT_NE(one, named_random(2, "pipelines 128")());
    EXPECT_NE(one, named_random(std::uint64_t{1} << 32 | 1, "pipelines 128")());
    EXPECT_NE(one, named_random(1, "")());
}
