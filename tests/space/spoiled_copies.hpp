// Copies with a fault, for tests of the checks that must find it.
#pragma once

#include <cstddef>
#include <cstring>

#include "space/candidates.h"

namespace asterope {

struct Asked {
    char* to;
    const char* from;
    std::size_t bytes, distance;
};

/// Byte by byte upwards, as no compiler may turn into a call or a wider copy.
inline void* copy_upwards(void* destination, const void* source, std::size_t bytes, std::size_t) {
    auto* to = static_cast<volatile char*>(destination);
    const auto* from = static_cast<const char*>(source);
    for (std::size_t i = 0; i < bytes; ++i) to[i] = from[i];
    return destination;
}

inline void* good(void* destination, const void* source, std::size_t bytes, std::size_t) {
    return std::memmove(destination, source, bytes);
}

/// Right, and then `Spoil` gets what was copied.
template <auto Spoil, asterope_candidate Copy = good>
void* spoiled(void* destination, const void* source, std::size_t bytes, std::size_t distance) {
    Copy(destination, source, bytes, distance);
    Spoil({static_cast<char*>(destination), static_cast<const char*>(source), bytes, distance});
    return destination;
}

} // namespace asterope
