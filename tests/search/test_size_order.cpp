// The order of sizes: the whole range first, each once, and its gaps about halved each time.
#include "search/size_order.hpp"

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

// Wherever it ends, no gap is more than four times as wide as another.
TEST(CoarseToFine, covers_the_range_evenly_at_any_time) {
    for (const std::size_t count : {24u, 33u, 100u}) {
        std::set<std::size_t> done;
        for (const std::size_t index : coarse_to_fine(count)) {
            done.insert(index);
            if (done.size() < 3) continue;
            std::size_t widest = 0, narrowest = count;
            for (auto i = done.begin(); std::next(i) != done.end(); ++i) {
                widest = std::max(widest, *std::next(i) - *i);
                narrowest = std::min(narrowest, *std::next(i) - *i);
            }
            EXPECT_LE(widest, 4 * narrowest);
        }
    }
}

TEST(NearestDone, are_the_nearest_on_both_sides_the_lower_first) {
    EXPECT_EQ(nearest_done({true, true, false, false, true, true}, 3), (Indices{1, 4}));
    EXPECT_EQ(nearest_done({true, false, false}, 2), Indices{0});
    EXPECT_EQ(nearest_done({false, false, true}, 0), Indices{2});
    EXPECT_EQ(nearest_done({false, false, false}, 1), Indices{});
    EXPECT_EQ(nearest_done({false}, 0), Indices{});
}

TEST(NearestDone, are_never_the_size_itself) {
    EXPECT_EQ(nearest_done({true, true, true}, 1), (Indices{0, 2}));
}
