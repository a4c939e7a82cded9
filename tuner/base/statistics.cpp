// Values are sorted for medians and intervals. NaN is looked for first: sorting it is undefined.
#include "base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace asterope {

namespace {

/// Sorting is undefined then.
bool has_nan(const std::vector<double>& values) {
    return std::ranges::any_of(values, [](double v) { return std::isnan(v); });
}

} // namespace

double median(std::vector<double> values) {
    if (values.empty() || has_nan(values)) return std::numeric_limits<double>::quiet_NaN();
    std::ranges::sort(values);
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double percentile(std::vector<double> values, double percent) {
    if (values.empty() || has_nan(values)) return std::numeric_limits<double>::quiet_NaN();
    const auto n = static_cast<double>(values.size());
    const double rank = std::ceil(percent / 100 * n - 1e-9); // 99.9 % of 1000 is a bit above 999
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::clamp(rank, 1.0, n)) - 1;
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

Estimate sign_interval(std::vector<double> values) {
    const double middle = median(values);
    if (std::isnan(middle)) return {middle, middle, middle};
    std::ranges::sort(values);
    // The k-th smallest and k-th largest miss the median with probability 2 P(Bin(n, 1/2) < k). Its
    // terms are carried as logarithms: 2^-n is 0 to a double from n = 1075 on.
    const std::size_t n = values.size();
    constexpr double allowed = 0.05 / 2;
    double log_term = -static_cast<double>(n) * std::log(2.0); // of P(Bin = 0)
    double below = std::exp(log_term);                         // P(Bin <= k)
    std::size_t k = 0;
    while (below <= allowed && 2 * (k + 1) < n) {
        ++k;
        log_term += std::log(static_cast<double>(n - k + 1) / static_cast<double>(k));
        below += std::exp(log_term);
    }
    // k counts how many values may be cut at each end; the loop stops one too far or at none.
    if (below > allowed && k > 0) --k;
    return {middle, values[k], values[n - 1 - k]};
}

Estimate exponentiate(const Estimate& logs) {
    return {std::exp(logs.median), std::exp(logs.low), std::exp(logs.high)};
}

Estimate inverse(const Estimate& ratio) {
    return {1 / ratio.median, 1 / ratio.high, 1 / ratio.low};
}

std::string range_text(const Estimate& ratio) {
    return formatted("(%.2f..%.2f)", ratio.low, ratio.high);
}

std::string ratio_text(const Estimate& ratio) {
    return formatted("%.2f %s", ratio.median, range_text(ratio).c_str());
}

double clock_step(const std::vector<double>& sorted) {
    std::vector<double> steps;
    for (std::size_t i = sorted.size(); i > 1; --i) {
        const double step = sorted[i - 1] - sorted[i - 2];
        if (step > 1e-9 * sorted[i - 1]) {
            steps.push_back(step);
        } else if (!steps.empty()) { // the same value again has the same way to go
            steps.push_back(steps.back());
        }
    }
    return steps.empty() ? std::numeric_limits<double>::infinity() : median(std::move(steps));
}

void GeometricMean::add(double ratio) {
    logs_ += std::log(ratio);
    least_ = std::min(least_, ratio);
    ++count_;
}

double GeometricMean::mean() const {
    return count_ > 0 ? std::exp(logs_ / count_) : 1;
}

double rounded(double value, int digits) {
    if (value == 0 || !std::isfinite(value)) return value;
    const double scale = std::pow(10, digits - 1 - std::floor(std::log10(std::abs(value))));
    return std::round(value * scale) / scale;
}

nlohmann::ordered_json estimate_json(const Estimate& estimate) {
    return {{"median", rounded(estimate.median)},
            {"low", rounded(estimate.low)},
            {"high", rounded(estimate.high)}};
}

} // namespace asterope
