// Pairs of 16-byte registers, four registers a turn, with plain and with non-temporal stores. The
// loop of Arm's optimized routines (and of glibc's memcpy) is like that; its head for short copies
// is left out.
#include <cstddef>

#include "bench/peers/small.hpp"

namespace asterope::peers {

namespace {

constexpr std::size_t kTurn = 64;

#define ASTEROPE_MOVE_LINE(store)                                                                  \
    __asm__ volatile("ldp q0, q1, [%1]\n\t"                                                        \
                     "ldp q2, q3, [%1, #32]\n\t" store " q0, q1, [%0]\n\t" store                   \
                     " q2, q3, [%0, #32]"                                                          \
                     :                                                                             \
                     : "r"(to), "r"(from)                                                          \
                     : "memory", "v0", "v1", "v2", "v3")

template <bool non_temporal> inline void move_turn(char* to, const char* from) {
    if constexpr (non_temporal) {
        ASTEROPE_MOVE_LINE("stnp");
    } else {
        ASTEROPE_MOVE_LINE("stp");
    }
}

inline void move_32(char* to, const char* from) {
    __asm__ volatile("ldp q0, q1, [%1]\n\tstp q0, q1, [%0]"
                     :
                     : "r"(to), "r"(from)
                     : "memory", "v0", "v1");
}

template <bool non_temporal> void* copy(void* destination, const void* source, std::size_t bytes) {
    auto* to = static_cast<char*>(destination);
    const auto* from = static_cast<const char*>(source);
    if (bytes < 32) {
        copy_below_32(to, from, bytes);
    } else if (bytes < kTurn) {
        move_32(to, from);
        move_32(to + bytes - 32, from + bytes - 32);
    } else {
        for (std::size_t at = 0; at + kTurn < bytes; at += kTurn) {
            move_turn<non_temporal>(to + at, from + at);
        }
        move_turn<non_temporal>(to + bytes - kTurn, from + bytes - kTurn);
    }
    return destination;
}

} // namespace

void* copy_ldp_stp(void* destination, const void* source, std::size_t bytes, std::size_t) {
    return copy<false>(destination, source, bytes);
}

void* copy_ldp_stnp(void* destination, const void* source, std::size_t bytes, std::size_t) {
    return copy<true>(destination, source, bytes);
}

} // namespace asterope::peers
