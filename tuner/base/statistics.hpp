// Robust statistics of timings: medians, and intervals that assume no distribution.
#pragma once

#include <vector>

namespace asterope {

/// The middle value (the mean of the two middle ones); NaN for none, and where one is NaN.
double median(std::vector<double> values);

/// The smallest of the values that at least `percent` of them do not exceed (nearest rank), so
/// always one of them; NaN for none, and where one is NaN. Percentages below 0 and above 100 give
/// the extremes.
double percentile(std::vector<double> values, double percent);

/// Of ratios above 0; 1 for none.
double geometric_mean(const std::vector<double>& ratios);

/// A median with the interval that holds the true one.
struct Estimate {
    double median, low, high;
};

/// Median and its sign-test interval: the narrowest pair of order statistics that encloses the
/// true median with at least `confidence`, whatever the distribution (Conover, Practical
/// Nonparametric Statistics, 3.2). With too few values for that, the extremes.
Estimate sign_interval(std::vector<double> values, double confidence = 0.95);

/// exp() of all three: an estimate of log ratios read as ratios.
Estimate exponentiate(const Estimate& logs);

} // namespace asterope
