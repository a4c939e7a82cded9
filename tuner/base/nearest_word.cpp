// Which known word a misspelt one may be meant to be.
#include "base/nearest_word.hpp"

#include <algorithm>
#include <numeric>

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
