// A shuffle that is the same in every standard library, so that a seed always means the same order.
#pragma once

#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace asterope {

/// Fisher-Yates, with std::mt19937_64 or another generator of 64 bits; std::shuffle leaves it to
/// the library how random numbers become positions.
template <class T, class Random> void shuffle(std::vector<T>& values, Random& random) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random() % i]);
}

} // namespace asterope
