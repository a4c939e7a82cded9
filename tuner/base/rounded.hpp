// Numbers as profiles hold them.
#pragma once

#include <cmath>

namespace asterope {

/// To so many significant digits: more would be noise in a file that people read and compare.
inline double rounded(double value, int digits = 6) {
    if (value == 0 || !std::isfinite(value)) return value;
    const double scale = std::pow(10, digits - 1 - std::floor(std::log10(std::abs(value))));
    return std::round(value * scale) / scale;
}

} // namespace asterope
