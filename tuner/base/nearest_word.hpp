// Which known word a misspelt one may be meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace asterope {

/// The one of `known` that differs from `word` by the fewest letters changed, put in or left out
/// (Levenshtein's distance), the first of several; empty where the nearest differs by more than a
/// third of its letters.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

} // namespace asterope
