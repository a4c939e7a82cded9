// The checks of options.
#include "base/option_checks.hpp"

#include <charconv>
#include <cstdint>
#include <string>

namespace asterope {

CLI::Validator whole_number() {
    return {[](const std::string& text) {
                std::uint64_t number = 0;
                const char* end = text.data() + text.size();
                const auto [rest, error] = std::from_chars(text.data(), end, number);
                const bool good = error == std::errc() && rest == end;
                return good ? "" : "'" + text.substr(0, 40) + "' is no whole number of 64 bits";
            },
            ""};
}

CLI::Validator not_empty() {
    return {[](const std::string& text) { return text.empty() ? "must not be empty" : ""; }, ""};
}

} // namespace asterope
