// The best split of the logarithms is found, then tested; the histogram shows both humps.
#include "base/modes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/statistics.hpp"
#include "base/text.hpp"

namespace asterope {

namespace {

constexpr std::size_t kFewest = 20;
constexpr double kApart = 1.03, kAshman = 5;
constexpr std::size_t kBins = 12, kBarWidth = 40;

/// Mean and variance of the first values of a list, by how many they are.
class Moments {
  public:
    explicit Moments(const std::vector<double>& values) {
        for (const double value : values) {
            sums_.push_back(sums_.back() + value);
            squares_.push_back(squares_.back() + value * value);
        }
    }
    double mean(std::size_t first, std::size_t end) const {
        return (sums_[end] - sums_[first]) / static_cast<double>(end - first);
    }
    double variance(std::size_t first, std::size_t end) const {
        const double own = mean(first, end);
        const double square = (squares_[end] - squares_[first]) / static_cast<double>(end - first);
        return std::max(0.0, square - own * own);
    }

  private:
    std::vector<double> sums_ = {0}, squares_ = {0};
};

/// 12 bins between the 1st and the 99th percentile, with the values beyond in the outermost.
struct Histogram {
    explicit Histogram(const std::vector<double>& values)
        : from(percentile(values, 1)), width((percentile(values, 99) - from) / kBins) {
        for (const double value : values) {
            const double bin = width > 0 ? (value - from) / width : 0;
            ++counts[static_cast<std::size_t>(std::clamp(bin, 0.0, kBins - 1.0))];
        }
    }
    double from, width;
    std::array<std::size_t, kBins> counts{};
};

} // namespace

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

std::optional<TwoModes> two_modes(std::vector<double> values) {
    const std::size_t count = values.size();
    if (count < kFewest || !(*std::ranges::min_element(values) > 0)) return std::nullopt;
    std::ranges::sort(values);
    std::vector<double> logs;
    for (const double value : values) logs.push_back(std::log(value));
    const Moments moments(logs);
    std::size_t split = 0;
    double most = 0;
    for (std::size_t i = (count + 9) / 10; i <= count - (count + 9) / 10; ++i) {
        const double distance = moments.mean(i, count) - moments.mean(0, i);
        const double between =
            static_cast<double>(i) * static_cast<double>(count - i) * distance * distance;
        if (values[i] > values[i - 1] && between > most) {
            most = between;
            split = i;
        }
    }
    if (split == 0) return std::nullopt;
    const double spread = std::sqrt(moments.variance(0, split) + moments.variance(split, count));
    const double apart = moments.mean(split, count) - moments.mean(0, split);
    const double low = values[split / 2], high = values[split + (count - split) / 2];
    const double step = clock_step(values) / low; // It has no spread, but neither is it a hump.
    if (high < kApart * low || std::sqrt(2.0) * apart <= kAshman * std::max(spread, step)) {
        return std::nullopt;
    }
    const double third = std::log(high / low) / 3;
    const auto between = std::ranges::count_if(logs, [&](double log) {
        return std::log(low) + third < log && log < std::log(high) - third;
    });
    if (4 * static_cast<std::size_t>(between) > std::min(split, count - split)) return std::nullopt;
    return TwoModes{low, high, static_cast<double>(count - split) / static_cast<double>(count)};
}

ToldModes modes_told(const std::string& what, const std::vector<double>& values,
                     const std::string& unit, const std::function<std::string(double)>& text) {
    const std::optional<TwoModes> modes = two_modes(values);
    if (!modes) return {};
    const Histogram bins(values);
    std::vector<std::string> lines = {
        formatted("%s: two modes, %s and %s (%.0f %%), which a median hides", what.c_str(),
                  text(modes->low).c_str(), text(modes->high).c_str(), 100 * modes->share)};
    const double most = static_cast<double>(*std::ranges::max_element(bins.counts));
    double middle = bins.from + bins.width / 2;
    for (const std::size_t count : bins.counts) {
        const auto own = static_cast<double>(count);
        const std::string bar(static_cast<std::size_t>(std::ceil(own / most * kBarWidth)), '#');
        lines.push_back(formatted("%10s %-40s %3.0f %%", text(middle).c_str(), bar.c_str(),
                                  100 * own / static_cast<double>(values.size())));
        middle += bins.width;
    }
    return {lines,
            {{"of", what},
             {"unit", unit},
             {"low", modes->low},
             {"high", modes->high},
             {"share", modes->share},
             {"from", bins.from},
             {"width", bins.width},
             {"counts", bins.counts}}};
}

} // namespace asterope
