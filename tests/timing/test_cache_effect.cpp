// The order of companies: together, each time the other way round, and nobody lost.
#include "timing/cache_effect.hpp"

#include <gtest/gtest.h>

using namespace asterope;

namespace {

using Order = std::vector<int>;

int tens(int entrant) {
    return entrant / 10;
}

Order applied(CacheEffectOrder& order, Order entrants) {
    order.apply(entrants);
    return entrants;
}

} // namespace

TEST(CacheEffectOrder, puts_companies_together_and_keeps_the_order_within_each) {
    CacheEffectOrder order(tens);
    EXPECT_EQ(applied(order, {23, 1, 11, 3, 21, 12, 2}), (Order{1, 3, 2, 11, 12, 23, 21}));
}

TEST(CacheEffectOrder, begins_each_turn_with_the_company_that_ended_the_last) {
    CacheEffectOrder order(tens);
    const Order mixed = {23, 1, 11, 3, 21, 12, 2};
    const Order forwards = {1, 3, 2, 11, 12, 23, 21}, backwards = {23, 21, 11, 12, 1, 3, 2};
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(applied(order, mixed), forwards);
        EXPECT_EQ(applied(order, mixed), backwards);
    }
}

TEST(CacheEffectOrder, changes_nothing_where_all_are_of_one_company) {
    CacheEffectOrder nothing(nullptr), one([](int) { return 5; });
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(applied(nothing, {3, 1, 2, 1}), (Order{3, 1, 2, 1}));
        EXPECT_EQ(applied(one, {3, 1, 2, 1}), (Order{3, 1, 2, 1}));
        EXPECT_EQ(applied(nothing, {}), Order());
        EXPECT_EQ(applied(one, {}), Order());
    }
}

TEST(CompanyOfLibc, is_that_of_its_stores_at_that_size) {
    const std::map<std::string, std::size_t> thresholds = {{"x86_non_temporal_threshold", 4096},
                                                           {"x86_rep_movsb_threshold", 1}};
    EXPECT_EQ(cache_effect_of_libc(4095, thresholds), kTemporal);
    EXPECT_EQ(cache_effect_of_libc(4096, thresholds), kNonTemporal);
    EXPECT_EQ(cache_effect_of_libc(~std::size_t{0}, {}), kTemporal) << "it did not say";
}
