// Lengths of time as people write them.
#pragma once

#include <string>
#include <string_view>

namespace asterope {

/// "90s", "10m", "1.5h" -> seconds. Throws BadInput for anything else: no unit or an unknown one,
/// nothing above 0, more than a year.
double parse_duration(std::string_view text);

/// "1 min 05 s" from seconds.
std::string format_duration(double seconds);

} // namespace asterope
