// Numbers as profiles and reports hold them.
#include "base/rounded.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace asterope {

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
