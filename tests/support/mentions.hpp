// Whether a message has some words in it, and if not, what it says.
#pragma once

#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

inline ::testing::AssertionResult mentions(std::string_view text, std::string_view words) {
    if (text.find(words) != text.npos) return ::testing::AssertionSuccess() << text;
    return ::testing::AssertionFailure() << text;
}

/// Whether one of the lines has them.
inline ::testing::AssertionResult mentions(const std::vector<std::string>& lines,
                                           std::string_view words) {
    std::string all;
    for (const std::string& line : lines) all += line + '\n';
    for (const std::string& line : lines) {
        if (mentions(line, words)) return ::testing::AssertionSuccess() << all;
    }
    return ::testing::AssertionFailure() << all;
}
