// Whether a message has some words in it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

inline bool mentions(const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
}

/// Whether one of the lines has them.
inline bool mentions(const std::vector<std::string>& lines, const std::string& words) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return mentions(line, words); });
}
