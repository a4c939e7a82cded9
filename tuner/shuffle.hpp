// A shuffle that is the same in every standard library, so that a seed always means the same order.
#pragma once

#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace asterope {

/// Fisher-Yates; std::shuffle leaves it to the library how random numbers become positions.
template <class T> void shuffle(std::vector<T>& values, std::mt19937_64& random) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random() % i]);
}

} // namespace asterope
