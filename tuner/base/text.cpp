// Small things that are done with text: trimmed, wrapped, put in columns, and made fit for
// profiles.
#include "base/text.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "base/error.hpp"

namespace asterope {

namespace {

std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1); // of the beginning of `a` to each of `b`
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t changed = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

} // namespace

std::string_view trim(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char mark) {
    std::vector<std::string_view> parts;
    for (std::size_t end; (end = text.find(mark)) != text.npos; text.remove_prefix(end + 1)) {
        parts.push_back(text.substr(0, end));
    }
    parts.push_back(text);
    return parts;
}

std::string wrapped(const std::string& text, std::size_t width, const char* indent) {
    std::istringstream words(text);
    std::string out, line;
    for (std::string word; words >> word;) {
        if (!line.empty() && line.size() + 1 + word.size() > width) {
            out += line + '\n';
            line = indent + word;
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
    // A list of the allowed characters. Lists of those that break out of a C comment tend to forget
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

std::string shell_word(const std::string& text) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "0123456789@%+=:,./_-";
    if (!text.empty() && text.find_first_not_of(kPlain) == text.npos) return text;
    std::string word = "'";
    for (const char c : Error::one_line(text)) word += c == '\'' ? "'\\''" : std::string(1, c);
    return word + '\'';
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
    constexpr std::size_t kLongest = 100; // a distance takes the product of two lengths
    word = word.substr(0, kLongest);
    std::string nearest;
    std::size_t least = 0;
    for (const std::string& one : known) {
        const std::size_t letters = one.size() - std::min(one.find_first_not_of('-'), one.size());
        const std::size_t apart = distance(word, one);
        if (3 * apart > letters || (!nearest.empty() && apart >= least)) continue;
        nearest = one;
        least = apart;
    }
    return nearest;
}

} // namespace asterope
