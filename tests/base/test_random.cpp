// Random numbers: the same for the same names, others for others.
#include "base/random.hpp"

#include "support/unit_test.hpp"

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
    EXPECT_EQ(RandomStream({7, 8, 9})(), RandomStream({7, 8, 9})());
}

TEST(NamedRandom, is_another_for_another_name_or_seed_alone) {
    const auto one = named_random(1, "pipelines 128")();
    EXPECT_EQ(one, named_random(1, "pipelines 128")());
    EXPECT_NE(one, named_random(1, "pipelines 256")());
    EXPECT_NE(one, named_random(2, "pipelines 128")());
    EXPECT_NE(one, named_random(std::uint64_t{1} << 32 | 1, "pipelines 128")());
    EXPECT_NE(one, named_random(1, "")());
}
