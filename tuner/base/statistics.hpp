// Robust statistics of timings: medians, intervals that assume no distribution; and numbers as
// profiles and reports hold them.
#pragma once

#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace asterope {

/// The middle value (the mean of the two middle ones); NaN for none, and where one is NaN.
double median(std::vector<double> values);

/// The smallest of the values that at least `percent` of them do not exceed (nearest rank), so
/// always one of them; NaN for none, and where one is NaN. Percentages below 0 and above 100 give
/// the extremes.
double percentile(std::vector<double> values, double percent);

/// A median with the interval that holds the true one.
struct Estimate {
    double median, low, high;
};

/// Median and its sign-test interval, for any distribution. It is the narrowest pair of order
/// statistics that encloses the true median with 95 % confidence (Conover, Practical
/// Nonparametric Statistics, 3.2). With too few values for that, the extremes.
Estimate sign_interval(std::vector<double> values);

/// exp() of all three: an estimate of log ratios read as ratios.
Estimate exponentiate(const Estimate& logs);

/// The estimate of the ratio the other way round.
Estimate inverse(const Estimate& ratio);

/// "(0.98..1.02)": its interval.
std::string range_text(const Estimate& ratio);
/// "1.00 (0.98..1.02)".
std::string ratio_text(const Estimate& ratio);

/// How far it usually is from a value to the next one that differs: a clock's step, whose values
/// may differ in the last digits besides. Infinite where all values are equal.
double clock_step(const std::vector<double>& sorted);

/// Ratios above 0, gathered for their geometric mean and the least of them.
class GeometricMean {
  public:
    void add(double ratio);
    int count() const { return count_; }
    double mean() const; ///< 1 of none
    double least() const { return least_; }

  private:
    double logs_ = 0, least_ = std::numeric_limits<double>::infinity();
    int count_ = 0;
};

/// To so many significant digits: more would be noise in a file that people read and compare.
double rounded(double value, int digits = 6);

/// Median, low and high, rounded.
nlohmann::ordered_json estimate_json(const Estimate& estimate);

} // namespace asterope
