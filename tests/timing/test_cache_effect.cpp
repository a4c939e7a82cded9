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

TEST(CompanyOfLibc, is_that_of_its_stores_at_that_size) {
    const std::map<std::string, std::size_t> thresholds = {{"x86_non_temporal_threshold", 4096},
                                                           {"x86_rep_movsb_threshold", 1}};
    EXPECT_EQ(cache_effect_of_libc(4095, thresholds), kTemporal);
    EXPECT_EQ(cache_effect_of_libc(4096, thresholds), kNonTemporal);
    EXPECT_EQ(cache_effect_of_libc(~std::size_t{0}, {}), kTemporal) << "it did not say";
}
