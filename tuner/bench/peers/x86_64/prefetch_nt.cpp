// Prefetch of blocks ahead and non-temporal stores: the copy of Kappes and Anastasiadis' user-level
// storage library (Polytropon), before Asterope looked for better parameters.
//
// Their papers tell this much. Data goes between the processes of a user-level storage stack
// through shared memory. Large copies are a pipeline: it prefetches some lines of the source by a
// non-temporal hint and writes the destination by non-temporal stores. So data that is passed on
// does not wash out the caches. The copy needs no newer vector extension than any x86-64 has.
//
// We do not know their parameters for this copy. Ours are blocks of two lines and a prefetch 12
// lines ahead. Their later search on an AMD Opteron found similar ones (PS 2, PD 12 to 30, NTA).
// Registers have 16 bytes. Stores are non-temporal from one page up, and plain below, where a
// reader will be soon.
#include <cstdint>
#include <emmintrin.h>

#include "bench/peers/small.hpp"

namespace asterope::peers {

namespace {

constexpr std::size_t kVector = sizeof(__m128i), kLine = 64, kBlock = 2 * kLine;
constexpr std::size_t kAhead = 12 * kLine;
constexpr std::size_t kLarge = 4096;

inline __m128i load(const char* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}
inline void store(char* to, __m128i value) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), value);
}

/// Loads the whole line before it stores any of it. The destination is aligned to a vector.
template <bool non_temporal> inline void move_line(char* to, const char* from) {
    __m128i loaded[kLine / kVector];
    for (std::size_t i = 0; i < kLine; i += kVector) loaded[i / kVector] = load(from + i);
    for (std::size_t i = 0; i < kLine; i += kVector) {
        auto* const at = reinterpret_cast<__m128i*>(to + i);
        if constexpr (non_temporal) {
            _mm_stream_si128(at, loaded[i / kVector]);
        } else {
            _mm_store_si128(at, loaded[i / kVector]);
        }
    }
}

/// 16 bytes or more.
template <bool non_temporal> inline void copy(char* to, const char* from, std::size_t bytes) {
    std::size_t at = -reinterpret_cast<std::uintptr_t>(to) % kVector;
    if (at) store(to, load(from));
    for (; at + kBlock <= bytes; at += kBlock) {
        _mm_prefetch(from + at + kAhead, _MM_HINT_NTA);
        _mm_prefetch(from + at + kAhead + kLine, _MM_HINT_NTA);
        move_line<non_temporal>(to + at, from + at);
        move_line<non_temporal>(to + at + kLine, from + at + kLine);
    }
    for (; at + kVector <= bytes; at += kVector) store(to + at, load(from + at));
    if (at < bytes) store(to + bytes - kVector, load(from + bytes - kVector));
}

} // namespace

void* copy_prefetch_nt(void* destination, const void* source, std::size_t bytes, std::size_t) {
    auto* to = static_cast<char*>(destination);
    const auto* from = static_cast<const char*>(source);
    if (bytes < kVector) {
        copy_below_32(to, from, bytes);
    } else if (bytes < kLarge) {
        copy<false>(to, from, bytes);
    } else {
        copy<true>(to, from, bytes);
        _mm_sfence();
    }
    return destination;
}

} // namespace asterope::peers
