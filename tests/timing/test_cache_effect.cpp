// The state in which libc's own copies leave the caches. The order of timings by it is
// tested with races (tests/search/test_race.cpp).
#include "timing/cache_effect.hpp"

#include "support/unit_test.hpp"

TEST(CacheEffectOfLibc, is_that_of_its_stores_at_that_size) {
    const LibcThresholds thresholds = {{kNonTemporalThreshold, 4096}, {kRepMovsbThreshold, 1}};
    EXPECT_EQ(cache_effect_of_libc(4095, thresholds), kTemporal);
    EXPECT_EQ(cache_effect_of_libc(4096, thresholds), kNonTemporal);
    EXPECT_EQ(cache_effect_of_libc(~std::size_t{0}, {}), kTemporal) << "it did not say";
}
