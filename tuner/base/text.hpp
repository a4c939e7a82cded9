// Small things that are done with text: trimmed, split, joined, wrapped, put in columns, written as
// printf does, hashed, compared, and made fit for profiles.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace asterope {

/// Formats as printf; cut off after 255 characters.
[[gnu::format(printf, 1, 2)]] inline std::string formatted(const char* format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text;
}

/// The text without blanks at both ends.
std::string_view trim(std::string_view text);

/// The parts between these marks; of a text without one, all of it.
std::vector<std::string_view> split(std::string_view text, char mark);

/// The results of `text` for each element, with `between` two of them.
template <class List, class Text>
std::string joined(const List& list, Text text, const char* between = ", ") {
    std::string all;
    for (const auto& one : list) {
        if (!all.empty()) all += between;
        all += std::invoke(text, one);
    }
    return all;
}

/// Lines of at most `width` characters, those behind the first indented. A longer word has its own.
std::string wrapped(const std::string& text, std::size_t width = 100, const char* indent = "  ");

/// The lines of a table, the header first: `gap` blanks between columns as wide as their cells,
/// those whose headers are in `left` to the left, the others to the right. A column of empty
/// cells is left out.
std::string aligned(const std::vector<std::vector<std::string>>& rows,
                    const std::set<std::string>& left, std::size_t gap = 1);

/// Letters, digits, blanks and ()@.,:_+/- as they are, anything else as '_'; trimmed, at most 200
/// characters: the "name" of the profile's schema.
std::string profile_name(std::string_view text);

/// As one word of a shell's command line, on one line.
std::string shell_word(const std::string& text);

/// 16 hexadecimal digits: FNV-1a, 64 bits. No cryptographic hash: it guards against a changed
/// machine or space, not against anybody.
inline std::string text_hash(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return formatted("%016llx", static_cast<unsigned long long>(hash));
}

/// The word of `known` that is nearest to `word`, the first of several. Words differ by the fewest
/// letters changed, put in or left out (Levenshtein's distance). Empty where the nearest differs by
/// more than a third of its letters.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

} // namespace asterope
