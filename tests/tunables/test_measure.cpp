// What a way's figures are worth to the choice, and the settings that force each way.
#include "tunables/measure.hpp"

#include <gtest/gtest.h>

using namespace asterope;

namespace {

constexpr Estimate kNoFloor{1, 0.99, 1.01};

Knobs knobs() {
    return {{2112, 1 << 20, 288 << 20},
            {2112, 512, ~std::size_t{0}},
            {288 << 20, 0x4040, ~std::size_t{0} >> 4}};
}

} // namespace

TEST(WorthOf, a_clear_gain_or_loss_is_its_score) {
    EXPECT_EQ(worth_of({1.2, 1.1, 1.3}, kNoFloor, 0.18), 0.18);
    EXPECT_EQ(worth_of({0.8, 0.7, 0.9}, kNoFloor, -0.5), -0.5);
}

TEST(WorthOf, what_may_be_noise_is_nothing) {
    EXPECT_EQ(worth_of({1.2, 0.9, 1.3}, kNoFloor, 0.18), 0); // its interval holds 1
    EXPECT_EQ(worth_of({1.005, 1.001, 1.01}, kNoFloor, 0.005), 0);
    EXPECT_EQ(worth_of({1.2, 1.1, 1.3}, {0.8, 0.7, 0.9}, 0.18), 0); // the default strays as far
    EXPECT_EQ(worth_of({0.97, 0.95, 0.98}, {1.05, 1.04, 1.06}, -0.03), 0);
}

TEST(WorthOf, a_loss_in_one_situation_counts_though_another_makes_up_for_it) {
    EXPECT_EQ(worth_of({1.0, 0.9, 1.1}, kNoFloor, -0.4), -0.4);
}

TEST(SettingsOfWays, force_each_way_wherever_it_can_be) {
    const auto settings = settings_of_ways(knobs(), 32 << 20);
    const auto copies_so = [&](Way way, std::size_t size) {
        return std::any_of(settings.begin(), settings.end(), [&](LibcThresholds one) {
            one[kRepMovsbStopThreshold] = 1 << 20;
            return way_of(copy_thresholds(one), size) == way;
        });
    };
    for (std::size_t size = 128; size <= 32 << 20; size *= 2) {
        EXPECT_TRUE(copies_so(Way::vector, size)) << size;
        EXPECT_EQ(copies_so(Way::rep_movsb, size), size > 512 && size < 1 << 20) << size;
        EXPECT_EQ(copies_so(Way::non_temporal_2, size), size > 0x4040) << size;
        EXPECT_EQ(copies_so(Way::non_temporal_4, size), size >= 512 << 10) << size;
    }
    for (const LibcThresholds& one : settings) {
        EXPECT_GE(one.at(kRepMovsbThreshold), 512u);
        EXPECT_GE(one.at(kNonTemporalThreshold), 0x4040u);
        EXPECT_LE(one.at(kNonTemporalThreshold), ~std::size_t{0} >> 4);
    }
}

TEST(SettingsOfWays, keep_to_a_safe_least_threshold_whatever_glibc_takes) {
    Knobs older = knobs();
    older.non_temporal.least = 0;
    for (const LibcThresholds& one : settings_of_ways(older, 32 << 20)) {
        EXPECT_GE(one.at(kNonTemporalThreshold), 0x4040u);
    }
}

TEST(SettingsOfWays, move_the_stop_out_of_the_way_where_they_can) {
    Knobs later = knobs();
    later.stop = {1 << 20, 0, ~std::size_t{0}};
    EXPECT_EQ(settings_of_ways(later, 32 << 20)[1].at(kRepMovsbStopThreshold), kNever);
}
