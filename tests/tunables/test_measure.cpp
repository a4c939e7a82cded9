// The worth of a way's figures to the choice, and the settings that force each way.
#include "tunables/measure.hpp"

#include "support/unit_test.hpp"

namespace {

constexpr Estimate kNoFloor{1, 0.99, 1.01};

Knobs knobs() {
    return {{2112, 1 << 20, 288 << 20},
            {2112, 512, ~std::size_t{0}},
            {288 << 20, 0x4040, ~std::size_t{0} >> 4}};
}

} // namespace

TEST(WorthOf, a_gain_or_loss_is_its_score_where_it_is_clear_or_a_loss_in_one_situation) {
    const struct {
        Estimate ratio, floor;
        double score, worth;
    } cases[] = {{{1.2, 1.1, 1.3}, kNoFloor, 0.18, 0.18},
                 {{0.8, 0.7, 0.9}, kNoFloor, -0.5, -0.5},
                 {{1.2, 0.9, 1.3}, kNoFloor, 0.18, 0}, // its interval holds 1
                 {{1.005, 1.001, 1.01}, kNoFloor, 0.005, 0},
                 {{1.2, 1.1, 1.3}, {0.8, 0.7, 0.9}, 0.18, 0}, // the default strays as far
                 {{0.97, 0.95, 0.98}, {1.05, 1.04, 1.06}, -0.03, 0},
                 {{1.0, 0.9, 1.1}, kNoFloor, -0.4, -0.4}}; // though another makes up for it
    for (const auto& [ratio, floor, score, worth] : cases)
        EXPECT_EQ(worth_of(ratio, floor, score), worth) << ratio.median;
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
    for (const auto& one : settings) EXPECT_LE(one.at(kNonTemporalThreshold), ~std::size_t{0} >> 4);
}

TEST(SettingsOfWays, keep_to_a_safe_least_threshold_and_move_the_stop_out_of_the_way) {
    Knobs other = knobs();
    other.non_temporal.least = 0; // an older glibc takes any value
    other.stop = {1 << 20, 0, ~std::size_t{0}};
    const auto settings = settings_of_ways(other, 32 << 20);
    for (const LibcThresholds& one : settings) EXPECT_GE(one.at(kNonTemporalThreshold), 0x4040u);
    EXPECT_EQ(settings[1].at(kRepMovsbStopThreshold), kNever);
}
