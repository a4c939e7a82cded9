// Copies that copy nothing and remember the calls.
#pragma once

#include <cstddef>
#include <vector>

#include "space/candidates.h"

struct Call {
    const char *destination, *source;
    std::size_t bytes, distance;
    bool operator==(const Call&) const = default;
};

inline std::vector<Call> calls;
inline asterope_candidate last_large;

inline void* remember(void* destination, const void* source, std::size_t bytes,
                      std::size_t distance) {
    calls.push_back(
        {static_cast<const char*>(destination), static_cast<const char*>(source), bytes, distance});
    return destination;
}

inline void* remember_small(void* destination, const void* source, std::size_t bytes,
                            std::size_t distance, asterope_candidate large) {
    last_large = large;
    return remember(destination, source, bytes, distance);
}
