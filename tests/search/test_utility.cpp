// Utility: gains count once, losses beyond the noise several times, without a step.
#include "search/utility.hpp"

#include "support/unit_test.hpp"

TEST(Utility, counts_gains_and_losses_inside_the_noise_once) {
    for (const double log_ratio : {0.0, 0.3, 2.0, -kLossNoise / 2, -kLossNoise}) {
        EXPECT_DOUBLE_EQ(utility(log_ratio), log_ratio);
    }
    EXPECT_DOUBLE_EQ(utility(-0.05, 0.06), -0.05) << "more noise, more that it hides";
}

TEST(Utility, counts_losses_beyond_the_noise_several_times_and_falls_without_a_step) {
    EXPECT_LT(utility(-0.1), 2 * -0.1);
    EXPECT_NEAR(utility(-10.01) - utility(-10), -0.01 * kLossFactor, 1e-4);
    EXPECT_GT(utility(-10), -10 * kLossFactor);
    constexpr double kStep = 1e-4;
    double slope = 1;
    for (double log_ratio = 0.02; log_ratio > -0.5; log_ratio -= kStep) {
        const double next = (utility(log_ratio) - utility(log_ratio - kStep)) / kStep;
        EXPECT_GE(next, slope - 1e-9) << log_ratio;
        EXPECT_LT(next, slope + 0.05) << log_ratio;
        slope = next;
    }
}

TEST(Utility, takes_half_a_nanosecond_on_either_side_for_placement) {
    for (const double ns : {0.4, 2.7, 3.1}) EXPECT_EQ(beyond_placement(2.8 / ns, ns) == 0, ns > 1);
    EXPECT_NEAR(beyond_placement(0.5, 4), std::log(2.5 / 4), 1e-12);
    EXPECT_NEAR(beyond_placement(2, 4), std::log(7.5 / 4), 1e-12);
}
