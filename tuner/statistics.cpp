// Robust statistics of timings: medians, and intervals that assume no distribution.
#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace asterope {

namespace {

double median_of_sorted(const std::vector<double>& values) {
    if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

} // namespace

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return median_of_sorted(values);
}

Estimate sign_interval(std::vector<double> values, double confidence) {
    std::sort(values.begin(), values.end());
    const double middle = median_of_sorted(values);
    if (values.empty()) return {middle, middle, middle};
    // The k-th smallest and k-th largest miss the median with probability 2 P(Bin(n, 1/2) < k).
    const std::size_t n = values.size();
    const double allowed = (1 - confidence) / 2;
    double term = std::pow(0.5, static_cast<double>(n)); // P(Bin = 0)
    double below = term;                                 // P(Bin <= k)
    std::size_t k = 0;
    while (below <= allowed && 2 * (k + 1) < n) {
        ++k;
        term *= static_cast<double>(n - k + 1) / static_cast<double>(k);
        below += term;
    }
    // k counts how many values may be cut at each end; the loop stops one too far or at none.
    if (below > allowed && k > 0) --k;
    return {middle, values[k], values[n - 1 - k]};
}

Estimate exponentiate(const Estimate& logs) {
    return {std::exp(logs.median), std::exp(logs.low), std::exp(logs.high)};
}

} // namespace asterope
