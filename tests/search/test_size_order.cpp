// The order of sizes: the whole range first, each once, and its gaps about halved each time; and
// which are evaluated by default: powers of two, and both sides of each cache's size.
#include "search/size_order.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

using namespace asterope;

using Indices = std::vector<std::size_t>;

TEST(CoarseToFine, begins_with_both_ends_and_goes_on_with_the_middles) {
    EXPECT_EQ(coarse_to_fine(0), Indices{});
    EXPECT_EQ(coarse_to_fine(1), Indices{0});
    EXPECT_EQ(coarse_to_fine(2), (Indices{0, 1}));
    EXPECT_EQ(coarse_to_fine(3), (Indices{0, 2, 1}));
    EXPECT_EQ(coarse_to_fine(4), (Indices{0, 3, 1, 2}));
    EXPECT_EQ(coarse_to_fine(9), (Indices{0, 8, 4, 2, 6, 1, 3, 5, 7}));
}

TEST(CoarseToFine, has_each_once) {
    for (std::size_t count = 0; count < 200; ++count) {
        const Indices order = coarse_to_fine(count);
        EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), count);
        EXPECT_EQ(order.size(), count);
        for (const std::size_t index : order) EXPECT_LT(index, count);
    }
}

// --- By default ----------------------------------------------------------------------------------

namespace {

std::vector<std::size_t> sizes_with(const std::vector<std::size_t>& cache_bytes) {
    std::vector<Cache> caches;
    for (const std::size_t bytes : cache_bytes) {
        caches.push_back({static_cast<int>(caches.size()) + 1, "unified", bytes, 64, 8, 1});
    }
    return default_sizes(caches);
}

std::vector<std::size_t> powers() {
    std::vector<std::size_t> powers;
    for (std::size_t size = 128; size <= std::size_t{32} << 20; size *= 2) powers.push_back(size);
    return powers;
}

/// What there is beside the powers of two.
std::vector<std::size_t> beside_powers(const std::vector<std::size_t>& cache_bytes) {
    std::vector<std::size_t> sizes = sizes_with(cache_bytes), all = powers(), beside;
    EXPECT_TRUE(std::includes(sizes.begin(), sizes.end(), all.begin(), all.end()));
    std::set_difference(sizes.begin(), sizes.end(), all.begin(), all.end(),
                        std::back_inserter(beside));
    return beside;
}

constexpr std::size_t kKi = 1 << 10, kMi = 1 << 20;

} // namespace

TEST(DefaultSizes, are_the_powers_of_two_from_128_to_32_mi_where_no_cache_is_known) {
    EXPECT_EQ(sizes_with({}), powers());
    EXPECT_EQ(sizes_with({}).size(), 19u);
    EXPECT_EQ(sizes_with({0}), powers());
}

TEST(DefaultSizes, stand_an_eighth_below_and_above_each_cache) {
    EXPECT_EQ(beside_powers({48 * kKi, 2 * kMi}),
              (std::vector<std::size_t>{42 * kKi, 54 * kKi, 1792 * kKi, 2304 * kKi}));
    EXPECT_EQ(sizes_with({32 * kKi, kMi}), sizes_with({kMi, 32 * kKi, 32 * kKi}));
}

// Above 32 MiB nothing is evaluated, whatever the cache.
TEST(DefaultSizes, end_at_32_mi) {
    EXPECT_EQ(beside_powers({32 * kKi, kMi, 32 * kMi}),
              (std::vector<std::size_t>{28 * kKi, 36 * kKi, 896 * kKi, 1152 * kKi, 28 * kMi}));
    EXPECT_EQ(beside_powers({48 * kKi, 2 * kMi, 480 * kMi}), beside_powers({48 * kKi, 2 * kMi}));
}

TEST(DefaultSizes, are_whole_lines_ascending_for_any_cache) {
    for (const std::size_t bytes :
         {1ul, 100ul, 128ul, 147ul, 1000ul, 12345ul, 11 * kMi + 4711, ~std::size_t{0} / 9}) {
        const auto sizes = sizes_with({bytes});
        EXPECT_EQ(sizes.front(), 128u);
        EXPECT_EQ(sizes.back(), 32 * kMi);
        for (const std::size_t size : sizes) EXPECT_EQ(size % 64, 0u) << bytes;
        EXPECT_TRUE(std::is_sorted(sizes.begin(), sizes.end()));
        EXPECT_EQ(std::set<std::size_t>(sizes.begin(), sizes.end()).size(), sizes.size());
    }
}
