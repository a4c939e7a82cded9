// Small things that are done with text: trimmed, wrapped, put in columns, and made fit for
// profiles.
#include "base/text.hpp"

#include <algorithm>
#include <sstream>

namespace asterope {

std::string_view trim(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string wrapped(const std::string& text) {
    constexpr std::size_t kWidth = 100;
    std::istringstream words(text);
    std::string out, line;
    for (std::string word; words >> word;) {
        if (!line.empty() && line.size() + 1 + word.size() > kWidth) {
            out += line + '\n';
            line = "  " + word;
        } else {
            line += line.empty() ? word : ' ' + word;
        }
    }
    return out + line + '\n';
}

std::string aligned(const std::vector<std::vector<std::string>>& rows,
                    const std::set<std::string>& left, std::size_t gap) {
    std::vector<std::size_t> widths(rows.front().size(), 0);
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string out;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (widths[i] == 0) continue;
            const std::string padding(widths[i] - row[i].size(), ' ');
            if (i) line.append(gap, ' ');
            line += left.count(rows.front()[i]) ? row[i] + padding : padding + row[i];
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + '\n';
    }
    return out;
}

std::string profile_name(std::string_view text) {
    // A list of what is allowed, since lists of what breaks out of a C comment tend to forget
    // trigraphs and line continuations.
    constexpr std::size_t kLongest = 200;
    constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789 ()@.,:_+/-";
    std::string name(trim(trim(text).substr(0, kLongest)));
    for (char& c : name) {
        if (kAllowed.find(c) == std::string_view::npos) c = '_';
    }
    return name;
}

} // namespace asterope
