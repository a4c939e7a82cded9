// Call statistics: drawn as the fleet's files say.
#include "timing/distribution.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <map>

using namespace asterope;

namespace {

/// The share of sizes up to `size`.
double share(const Distribution& distribution, std::size_t size) {
    double up_to = 0, all = 0;
    for (const auto& [value, probability] : distribution.pairs()) {
        all += probability;
        if (value <= size) up_to += probability;
    }
    return up_to / all;
}

std::map<std::size_t, double> drawn(const Distribution& distribution, int draws) {
    std::mt19937_64 random(1);
    std::map<std::size_t, double> shares;
    for (int i = 0; i < draws; ++i) shares[distribution.draw(random)] += 1.0 / draws;
    return shares;
}

} // namespace

// As its own page says of it.
TEST(Fleet, calls_are_small) {
    const CallStatistics fleet = fleet_statistics();
    EXPECT_EQ(fleet.name, "fleet");
    EXPECT_NEAR(share(fleet.sizes, 16), 0.635, 0.0005);
    EXPECT_NEAR(share(fleet.sizes, 64), 0.886, 0.0005);
    EXPECT_NEAR(share(fleet.sizes, 128), 0.936, 0.0005);
    EXPECT_NEAR(share(fleet.sizes, 1024), 0.988, 0.0005);
    double bytes = 0, large = 0;
    for (const auto& [size, probability] : fleet.sizes.pairs()) {
        bytes += probability * static_cast<double>(size);
        if (size > 512) large += probability * static_cast<double>(size);
    }
    EXPECT_NEAR(large / bytes, 0.8, 0.05);
}

// As Google says of its calls of memset.
TEST(Fleet, sets_are_larger_than_copies_on_average) {
    const CallStatistics fleet = fleet_statistics(Operation::set);
    EXPECT_EQ(fleet.name, "fleet");
    EXPECT_NEAR(share(fleet.sizes, 128), 0.84, 0.005);
    double bytes = 0, above_1_kib = 0;
    for (const auto& [size, probability] : fleet.sizes.pairs()) {
        bytes += probability * static_cast<double>(size);
        if (size > 1024) above_1_kib += probability * static_cast<double>(size);
    }
    EXPECT_NEAR(bytes, 324, 1);
    EXPECT_NEAR(above_1_kib / bytes, 0.775, 0.001);
}

// Files are rounded: the last value must not get what is missing, nor lose what is too much.
TEST(Distribution, draws_each_value_by_its_share_of_the_sum_and_none_of_probability_0) {
    const Distribution distribution(
        {{1, 0}, {3, 0.49}, {5, 0}, {100, 0.1225}, {7, 0.3675}, {9, 0}});
    const auto shares = drawn(distribution, 100000);
    ASSERT_EQ(shares.size(), 3u);
    EXPECT_NEAR(shares.at(3), 0.5, 0.01);
    EXPECT_NEAR(shares.at(100), 0.125, 0.01);
    EXPECT_NEAR(shares.at(7), 0.375, 0.01);
}

TEST(ParseStatistics, reads_sizes_and_alignments_and_takes_every_address_where_none_are_given) {
    const CallStatistics calls =
        parse_statistics("0:0.25,8:0.5,100:.25\n0:1,1:0\n1:0.5,64:5e-1\n", "calls");
    using Pairs = std::vector<std::pair<std::size_t, double>>;
    EXPECT_EQ(calls.name, "calls");
    EXPECT_EQ(calls.sizes.pairs(), (Pairs{{0, 0.25}, {8, 0.5}, {100, 0.25}}));
    EXPECT_EQ(calls.alignments.pairs(), (Pairs{{1, 0.5}, {64, 0.5}}));
    EXPECT_EQ(parse_statistics("8:1", "calls").alignments.pairs(), (Pairs{{1, 1}}));
}
