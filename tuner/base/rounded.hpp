// Numbers as profiles and reports hold them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/statistics.hpp"

namespace asterope {

/// To so many significant digits: more would be noise in a file that people read and compare.
double rounded(double value, int digits = 6);

/// Median, low and high, rounded.
nlohmann::ordered_json estimate_json(const Estimate& estimate);

} // namespace asterope
