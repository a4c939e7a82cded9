// Every size is dealt to one shard, and no shard waits long for another.
#include "search/shard.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "search/default_sizes.hpp"

namespace asterope {
namespace {

using Sizes = std::vector<std::size_t>;
constexpr std::size_t kMi = std::size_t{1} << 20;

std::string refusal(const std::function<void()>& act) {
    try {
        act();
    } catch (const BadInput& error) {
        return error.what();
    }
    return "accepted";
}

/// What a shard takes, in small sizes' time, by the sizes alone.
double work(const ShardSizes& dealt, double border_cost) {
    const auto one = [](std::size_t size) { return 1 + static_cast<double>(size) / (1.5 * kMi); };
    double sum = dealt.border ? border_cost * one(*dealt.border) : 0;
    for (const std::size_t size : dealt.own) sum += one(size);
    return sum;
}

TEST(ParseShard, reads_which_of_how_many) {
    EXPECT_EQ(parse_shard("1/1"), (Shard{1, 1}));
    EXPECT_EQ(parse_shard("3/16"), (Shard{3, 16}));
    EXPECT_EQ(parse_shard("3/16").name(), "3/16");
}

TEST(ParseShard, refuses_what_is_out_of_range) {
    for (const char* text : {"0/4", "5/4", "1/0", "0/0"}) {
        const std::string error = refusal([&] { parse_shard(text); });
        EXPECT_NE(error.find("out of range"), std::string::npos) << text << ": " << error;
    }
}

TEST(ParseShard, refuses_what_is_no_pair_of_numbers) {
    for (const char* text : {"", "/", "1", "1/", "/2", "1/2/3", "-1/2", "1/2 ", " 1/2", "a/b",
                             "1.5/2", "99999999999/2", "1/99999999999", "+1/2"}) {
        const std::string error = refusal([&] { parse_shard(text); });
        EXPECT_NE(error.find("write I/N, such as 2/4"), std::string::npos) << text << ": " << error;
    }
    EXPECT_LT(refusal([] { parse_shard(std::string(100000, '1')); }).size(), 150u);
}

TEST(DealSizes, gives_every_size_to_one_shard_and_every_shard_a_size) {
    Sizes sizes;
    for (std::size_t size = 128; size <= 32 * kMi; size *= 2) sizes.push_back(size);
    for (unsigned count = 1; count <= sizes.size(); ++count) {
        Sizes dealt;
        for (unsigned index = 1; index <= count; ++index) {
            const Sizes own = deal_sizes(sizes, {index, count}, 1).own;
            EXPECT_FALSE(own.empty());
            dealt.insert(dealt.end(), own.begin(), own.end());
        }
        EXPECT_EQ(dealt, sizes) << count;
    }
}

TEST(DealSizes, tells_each_shard_but_the_first_the_size_below_its_own) {
    const Sizes sizes = {128, 256, 512, 1024, 2048};
    EXPECT_FALSE(deal_sizes(sizes, {1, 2}, 1).border);
    const ShardSizes second = deal_sizes(sizes, {2, 2}, 1);
    ASSERT_TRUE(second.border);
    EXPECT_EQ(*second.border, deal_sizes(sizes, {1, 2}, 1).own.back());
}

TEST(DealSizes, lets_no_other_cut_have_a_shorter_longest_shard) {
    const Sizes sizes = {128, 4096, kMi, 2 * kMi, 8 * kMi, 16 * kMi, 20 * kMi, 32 * kMi};
    for (const double border_cost : {0.2, 1.0}) {
        double longest = 0;
        for (unsigned index = 1; index <= 3; ++index) {
            longest =
                std::max(longest, work(deal_sizes(sizes, {index, 3}, border_cost), border_cost));
        }
        const auto run = [&](std::size_t begin, std::size_t end) {
            ShardSizes one{{sizes.begin() + static_cast<std::ptrdiff_t>(begin),
                            sizes.begin() + static_cast<std::ptrdiff_t>(end)},
                           std::nullopt};
            if (begin) one.border = sizes[begin - 1];
            return work(one, border_cost);
        };
        for (std::size_t a = 1; a < sizes.size(); ++a) {
            for (std::size_t b = a + 1; b < sizes.size(); ++b) {
                EXPECT_LE(longest, std::max({run(0, a), run(a, b), run(b, sizes.size())}) + 1e-9);
            }
        }
    }
}

TEST(DealSizes, gives_the_small_sizes_to_one_shard_where_a_large_one_takes_as_long) {
    const Sizes sizes = {128, 256, 512, 1024, 2048, 32 * kMi};
    EXPECT_EQ(deal_sizes(sizes, {1, 2}, 0.2).own, (Sizes{128, 256, 512, 1024, 2048}));
}

TEST(DealSizes, refuses_more_shards_than_sizes) {
    const std::string error = refusal([] { deal_sizes({128, 256}, {1, 3}, 1); });
    EXPECT_NE(error.find("choose no more shards than sizes"), std::string::npos) << error;
}

} // namespace
} // namespace asterope
