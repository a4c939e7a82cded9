// Sizes have the units K, M and G of 1024; a list has commas.
#include "base/size_text.hpp"

#include <charconv>
#include <limits>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"

namespace asterope {

std::size_t parse_size(std::string_view text) {
    const auto refuse = [&](const char* why) -> BadInput {
        return BadInput("size '" + std::string(text.substr(0, 40)) + "' " + why +
                        ": write bytes, or a number with K, M or G");
    };
    std::size_t number = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc::result_out_of_range) throw refuse("is too large");
    if (error != std::errc() || rest == text.data()) throw refuse("is not a size");
    std::string_view unit(rest, static_cast<std::size_t>(end - rest));
    int shift = 0;
    if (!unit.empty() && unit != "B") {
        constexpr std::string_view kUnits = "KMG";
        const std::size_t place = unit.front() == 'k' ? 0 : kUnits.find(unit.front());
        unit.remove_prefix(1);
        if (place == kUnits.npos || (!unit.empty() && unit != "B" && unit != "iB")) {
            throw refuse("has an unknown unit");
        }
        shift = 10 * static_cast<int>(place + 1);
    }
    if (number == 0) throw refuse("is not a size to copy");
    if (number > (std::numeric_limits<std::size_t>::max() >> 1 >> shift)) {
        throw refuse("is too large");
    }
    return number << shift;
}

std::vector<std::size_t> parse_size_list(std::string_view text) {
    std::set<std::size_t> sizes;
    for (const std::string_view one : split(text, ',')) sizes.insert(parse_size(one));
    return {sizes.begin(), sizes.end()};
}

std::string format_size(std::size_t bytes) {
    static constexpr struct {
        int shift;
        const char* name;
    } units[] = {{30, " GiB"}, {20, " MiB"}, {10, " KiB"}};
    for (const auto& unit : units) {
        if (bytes >> unit.shift && bytes % (std::size_t{1} << unit.shift) == 0) {
            return std::to_string(bytes >> unit.shift) + unit.name;
        }
    }
    return std::to_string(bytes) + " B";
}

} // namespace asterope
