// Medians and sign-test intervals: exact for few values, and as the normal approximation for many.
#include "base/statistics.hpp"

#include "support/unit_test.hpp"

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// n, n - 1, ... 1: the k-th smallest value is k.
std::vector<double> countdown(int n) {
    std::vector<double> values(static_cast<std::size_t>(n));
    std::iota(values.rbegin(), values.rend(), 1);
    return values;
}

} // namespace

TEST(Median, is_the_middle_value_or_the_mean_of_two_and_of_nothing_or_of_nan_nan) {
    EXPECT_EQ(median({7}), 7);
    EXPECT_EQ(median({3, 1, 2}), 2);
    EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
    EXPECT_EQ(median({5, 5, 5, 1}), 5);
    EXPECT_EQ(median({kInfinity, 1, -kInfinity}), 1);
    for (const auto& none : {std::vector<double>{}, {1, kNan, 2}, {kNan}}) {
        EXPECT_TRUE(std::isnan(median(none)));
        const Estimate estimate = sign_interval(none);
        EXPECT_TRUE(std::isnan(estimate.median));
        EXPECT_TRUE(std::isnan(estimate.low));
        EXPECT_TRUE(std::isnan(estimate.high));
    }
}

TEST(Percentile, is_the_smallest_value_that_so_many_do_not_exceed) {
    const std::tuple<int, double, double> rows[] = {
        {1000, 1, 10},     {1000, 50, 500}, // a value, where the median is a mean of two
        {1000, 99.9, 999}, {1000, 99.91, 1000}, {3, 50, 2}, {1, 50, 1},
        {30, 10, 3},       {30, 10.1, 4}, // ranks are rounded up
        {30, 90, 27},      {30, 90.1, 28},      {9, 0, 1},  {9, -5, 1},
        {9, 1e-9, 1},      {9, 100, 9},         {9, 250, 9}};
    for (const auto& [n, percent, expected] : rows) {
        EXPECT_EQ(percentile(countdown(n), percent), expected) << percent;
    }
    EXPECT_EQ(percentile({kInfinity, 1, -kInfinity}, 100), kInfinity);
    EXPECT_TRUE(std::isnan(percentile({}, 50)));
    EXPECT_TRUE(std::isnan(percentile({1, kNan, 2}, 50)));
}

// From the tables of the binomial distribution with p = 1/2: the most values that may be cut at
// each end while both tails together stay within 5 %.
TEST(SignInterval, takes_the_order_statistics_of_the_binomial_table) {
    const std::tuple<int, int, int> table[] = {
        {1, 1, 1},   {2, 1, 2},    {5, 1, 5},    {6, 1, 6},    {8, 1, 8},   {9, 2, 8},
        {11, 2, 10}, {12, 3, 10},  {15, 4, 12},  {17, 5, 13},  {20, 6, 15}, {21, 6, 16},
        {25, 8, 18}, {50, 18, 33}, {51, 19, 33}, {100, 40, 61}};
    for (const auto& [n, low, high] : table) {
        const Estimate estimate = sign_interval(countdown(n));
        EXPECT_EQ(estimate.low, low) << n << " values";
        EXPECT_EQ(estimate.high, high) << n << " values";
        EXPECT_EQ(estimate.median, (n + 1) / 2.0) << n << " values";
    }
}

// 2^-n is 0 to a double from n = 1075 on; asterope-bench takes up to 100000 rounds.
TEST(SignInterval, holds_for_thousands_of_values) {
    for (const int n : {1000, 1100, 5000, 100000}) {
        const double half_width = 1.959964 * std::sqrt(n) / 2; // the normal approximation
        const Estimate estimate = sign_interval(countdown(n));
        EXPECT_NEAR(estimate.low, n / 2.0 - half_width, 2) << n;
        EXPECT_NEAR(estimate.high, n / 2.0 + half_width, 2) << n;
    }
}

TEST(ClockStep, is_the_usual_distance_of_values_that_are_not_quite_its_multiples) {
    std::vector<double> ticks(20, 20e-9);
    ticks.insert(ticks.end(), 33, 29.9e-9);
    ticks.insert(ticks.end(), 33, 30.3e-9);
    ticks.insert(ticks.end(), 14, 40.1e-9);
    EXPECT_NEAR(clock_step(ticks), 9.8e-9, 0.2e-9);
    EXPECT_EQ(clock_step({3, 3, 3}), kInfinity);
}

TEST(GeometricMean, is_of_ratios_and_keeps_the_least) {
    GeometricMean mean;
    EXPECT_EQ(mean.mean(), 1);
    EXPECT_EQ(mean.count(), 0);
    for (const double ratio : {2.0, 0.5, 8.0}) mean.add(ratio);
    EXPECT_NEAR(mean.mean(), 2, 1e-12);
    EXPECT_EQ(mean.least(), 0.5);
    EXPECT_EQ(mean.count(), 3);
}

TEST(Estimate, can_be_turned_round_and_shown) {
    const Estimate ratio{1.25, 0.8, 2};
    EXPECT_EQ(ratio_text(ratio), "1.25 (0.80..2.00)");
    EXPECT_EQ(ratio_text(inverse(ratio)), "0.80 (0.50..1.25)");
}
