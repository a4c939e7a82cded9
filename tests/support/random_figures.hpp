// Random numbers that are the same in every standard library, for tests with known truth.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace noise {

using Random = std::mt19937_64;

/// In (0, 1).
inline double uniform(Random& random) {
    return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53;
}

/// Mean 0, deviation 1 (Box and Muller).
inline double normal(Random& random) {
    const double radius = std::sqrt(-2 * std::log(uniform(random)));
    return radius * std::cos(2 * M_PI * uniform(random));
}

} // namespace noise
