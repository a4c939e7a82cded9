// Reads the small texts of /proc and /sys: numbers, words, lists of CPUs.
#pragma once

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/text.hpp"

namespace asterope {

/// The number at the start of the text, "max" and garbage being none.
inline std::optional<std::uint64_t> number(std::string_view text, int base = 10) {
    text = trim(text);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{}) return std::nullopt;
    return value;
}

/// "0x840"; empty for anything else, and for a number that does not fit.
inline std::optional<std::uint64_t> hex_number(std::string_view text) {
    return text.starts_with("0x") ? number(text.substr(2), 16) : std::nullopt;
}

inline int small_number(std::string_view text) {
    const auto value = number(text);
    return value && *value <= 1u << 20 ? static_cast<int>(*value) : 0;
}

/// The start of a file, empty if it cannot be read. The limit is far beyond the parts that we look
/// for.
inline std::string read_text(const std::filesystem::path& file, std::size_t limit = 64 * 1024) {
    std::ifstream in(file, std::ios::binary);
    std::string text(limit, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
}

inline std::string read_word(const std::filesystem::path& file) {
    return std::string(trim(read_text(file)));
}

/// The names in a folder, as far as it can be read.
inline std::vector<std::string> entries_of(const std::filesystem::path& folder) {
    std::vector<std::string> names;
    std::error_code error;
    std::filesystem::directory_iterator entry(folder, error);
    while (!error && entry != std::filesystem::directory_iterator()) {
        names.push_back(entry->path().filename().string());
        entry.increment(error);
    }
    return names;
}

inline std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

/// The text behind `key` on the first line that starts with it and goes on with a separator.
inline std::string value_of(const std::string& text, std::string_view key) {
    for (const std::string& line : lines_of(text)) {
        if (!line.starts_with(key)) continue;
        const std::string_view rest = std::string_view(line).substr(key.size());
        const std::size_t start = rest.find_first_not_of(" \t:");
        if (start == 0 || start == std::string_view::npos) continue;
        return std::string(trim(rest.substr(start)));
    }
    return {};
}

/// The numbers that a list such as "0-3,8" names; empty for other text.
inline std::vector<int> numbers_in(std::string_view list) {
    std::vector<int> numbers;
    for (const std::string_view range : split(list, ',')) {
        const std::size_t dash = range.find('-');
        const auto first = number(range.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : number(range.substr(dash + 1));
        if (!first || !last || *last < *first || *last > 1u << 20) return {};
        for (auto i = *first; i <= *last; ++i) numbers.push_back(static_cast<int>(i));
    }
    return numbers;
}

inline int count_cpus(std::string_view list) {
    return static_cast<int>(numbers_in(list).size());
}

} // namespace asterope
