// The order of sizes has the whole range first, each size once, and about halves its gaps each
// time. The default sizes are powers of two, every second one from a size on, and both sides of
// each cache's size.
#include "search/size_order.hpp"

#include "support/unit_test.hpp"

using Indices = std::vector<std::size_t>;

TEST(CoarseToFine, begins_with_both_ends_goes_on_with_the_middles_and_has_each_once) {
    EXPECT_EQ(coarse_to_fine(2), (Indices{0, 1}));
    EXPECT_EQ(coarse_to_fine(4), (Indices{0, 3, 1, 2}));
    EXPECT_EQ(coarse_to_fine(9), (Indices{0, 8, 4, 2, 6, 1, 3, 5, 7}));
    for (std::size_t count = 0; count < 200; ++count) {
        Indices order = coarse_to_fine(count), all(count);
        std::iota(all.begin(), all.end(), 0);
        std::sort(order.begin(), order.end());
        EXPECT_EQ(order, all);
    }
}

namespace {

std::vector<std::size_t> sizes_with(const std::vector<std::size_t>& cache_bytes,
                                    std::size_t coarse_from = kNoCoarseSizes) {
    std::vector<Cache> caches;
    for (const std::size_t bytes : cache_bytes) {
        caches.push_back({static_cast<int>(caches.size()) + 1, "unified", bytes, 64, 8, 1});
    }
    return default_sizes(caches, coarse_from);
}

/// The powers of two, and these.
std::vector<std::size_t> powers_and(std::set<std::size_t> sizes) {
    for (std::size_t size = 128; size <= 32 * kMiB; size *= 2) sizes.insert(size);
    return {sizes.begin(), sizes.end()};
}

} // namespace

TEST(DefaultSizes, are_the_powers_of_two_from_128_to_32_mi_where_no_cache_is_known) {
    EXPECT_EQ(sizes_with({}), powers_and({}));
    EXPECT_EQ(sizes_with({0}), powers_and({}));
}

TEST(DefaultSizes, go_on_to_64_mi_and_256_mi_where_that_is_asked) {
    std::vector<std::size_t> sizes = powers_and({});
    EXPECT_EQ(default_sizes({}, kNoCoarseSizes, 63 * kMiB), sizes);
    sizes.push_back(64 * kMiB);
    EXPECT_EQ(default_sizes({}, kNoCoarseSizes, 255 * kMiB), sizes);
    sizes.push_back(256 * kMiB);
    EXPECT_EQ(default_sizes({}, kNoCoarseSizes, 1024 * kMiB), sizes);
}

TEST(DefaultSizes, stand_an_eighth_below_and_above_each_cache_up_to_32_mi) {
    EXPECT_EQ(sizes_with({48 * kKiB, 2 * kMiB, 480 * kMiB}),
              powers_and({42 * kKiB, 54 * kKiB, 1792 * kKiB, 2304 * kKiB}));
    EXPECT_EQ(sizes_with({kMiB, 32 * kKiB, 32 * kKiB, 32 * kMiB}),
              powers_and({28 * kKiB, 36 * kKiB, 896 * kKiB, 1152 * kKiB, 28 * kMiB}));
}

TEST(DefaultSizes, are_whole_lines_ascending_for_any_cache) {
    for (const std::size_t bytes :
         {1ul, 100ul, 128ul, 147ul, 1000ul, 12345ul, 11 * kMiB + 4711, ~std::size_t{0} / 9}) {
        const auto sizes = sizes_with({bytes});
        EXPECT_EQ(sizes.front(), 128u);
        EXPECT_EQ(sizes.back(), 32 * kMiB);
        EXPECT_EQ(std::ranges::adjacent_find(sizes, std::greater_equal()), sizes.end()) << bytes;
        for (const std::size_t size : sizes) EXPECT_EQ(size % 64, 0u) << bytes;
    }
}

TEST(DefaultSizes, are_coarse_from_a_size_on_but_for_those_around_the_caches) {
    std::vector<std::size_t> sizes = powers_and({28 * kKiB, 36 * kKiB, 896 * kKiB, 1152 * kKiB});
    for (const std::size_t left_out : {256 * kKiB, kMiB, 4 * kMiB, 16 * kMiB}) {
        std::erase(sizes, left_out);
    }
    EXPECT_EQ(sizes_with({32 * kKiB, kMiB}, 128 * kKiB), sizes);
    EXPECT_EQ(sizes_with({32 * kKiB, kMiB, 480 * kMiB}, 128 * kKiB), sizes);
    EXPECT_EQ(sizes_with({32 * kKiB, kMiB, 32 * kMiB}, 128 * kKiB), sizes) << "32 MiB is near";
}

TEST(DefaultSizes, coarse_are_every_second_power_and_the_last_where_no_cache_holds_both_sides) {
    const std::vector<std::size_t> to_32_mi = {128,       512,        2 * kKiB,   8 * kKiB,
                                               32 * kKiB, 128 * kKiB, 512 * kKiB, 2 * kMiB,
                                               8 * kMiB,  32 * kMiB},
                                   to_8_mi(to_32_mi.begin(), to_32_mi.end() - 1);
    EXPECT_EQ(sizes_with({}, kAllCoarseSizes), to_32_mi);
    EXPECT_EQ(sizes_with({2 * kMiB, 64 * kMiB - 1}, kAllCoarseSizes), to_32_mi);
    EXPECT_EQ(sizes_with({2 * kMiB, 480 * kMiB}, kAllCoarseSizes), to_8_mi);
}
