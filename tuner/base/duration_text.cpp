// Reads one number with its unit; writes seconds, or minutes and seconds.
#include "base/duration_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"

namespace asterope {

double parse_duration(std::string_view text) {
    const auto refuse = [&](const char* why) {
        return BadInput("duration '" + std::string(text.substr(0, 40)) + "' " + why +
                        ": write a number with s, m or h, such as 90s or 10m");
    };
    double number = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
    if (error != std::errc() || !std::isfinite(number)) throw refuse("is not a length of time");
    const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
    if (unit == "m") {
        number *= 60;
    } else if (unit == "h") {
        number *= 3600;
    } else if (unit != "s") {
        throw refuse(unit.empty() ? "has no unit" : "has an unknown unit");
    }
    if (!(number > 0)) throw refuse("is not above 0");
    if (number > 366.0 * 24 * 3600) throw refuse("is more than a year");
    return number;
}

std::string format_duration(double seconds) {
    const auto whole = static_cast<long>(std::lround(std::max(0.0, seconds)));
    if (whole < 60) return formatted("%ld s", whole);
    return formatted("%ld min %02ld s", whole / 60, whole % 60);
}

} // namespace asterope
