// What options may hold, beyond what CLI11 checks by itself.
#pragma once

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdint>
#include <string>

namespace asterope {

/// A whole number of 64 bits: CLI11 alone takes -1 and 2^64 for unsigned numbers, and nothing at
/// all for 0.
inline CLI::Validator whole_number() {
    return {[](const std::string& text) {
                std::uint64_t number = 0;
                const char* end = text.data() + text.size();
                const auto [rest, error] = std::from_chars(text.data(), end, number);
                const bool good = error == std::errc() && rest == end;
                return good ? "" : "'" + text.substr(0, 40) + "' is no whole number of 64 bits";
            },
            ""};
}

/// Anything but the empty text, which would count as an option that was not given.
inline CLI::Validator not_empty() {
    return {[](const std::string& text) { return text.empty() ? "must not be empty" : ""; }, ""};
}

} // namespace asterope
