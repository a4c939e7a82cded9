// Numbers as profiles hold them.
#pragma once

#include <cmath>

namespace asterope {

/// Six significant digits: more would be noise in a file that people read and compare.
inline double rounded(double value) {
    if (value == 0 || !std::isfinite(value)) return value;
    const double scale = std::pow(10, 5 - std::floor(std::log10(std::abs(value))));
    return std::round(value * scale) / scale;
}

} // namespace asterope
