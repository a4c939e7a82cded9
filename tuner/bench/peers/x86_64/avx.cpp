// The AVX copiers of the article "Going faster than memcpy" (on the library shadesmar), written
// anew: plain, streaming, streaming with prefetch, and unrolled.
//
// The article copies whole vectors between aligned buffers. Ours copy any size between any places.
// One unaligned vector at each end copies the bytes before the destination's first boundary and
// behind the last whole vector. It may overlap those of the loop. The source stays as misaligned as
// it is. The article's streaming loads (vmovntdqa) are plain ones here: they need an aligned source
// and AVX2, and on ordinary memory do nothing else.
#include <cstdint>
#include <immintrin.h>

#include "bench/peers/small.hpp"

#define ASTEROPE_AVX __attribute__((target("avx")))

namespace asterope::peers {

namespace {

constexpr std::size_t kVector = sizeof(__m256i);

ASTEROPE_AVX inline __m256i load(const char* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
ASTEROPE_AVX inline void store_anywhere(char* to, __m256i value) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
}
template <bool streaming> ASTEROPE_AVX inline void store(char* to, __m256i value) {
    if constexpr (streaming) {
        _mm256_stream_si256(reinterpret_cast<__m256i*>(to), value);
    } else {
        _mm256_store_si256(reinterpret_cast<__m256i*>(to), value);
    }
}

/// From 32 bytes on: copies the bytes before the destination's first boundary, by a vector that
/// goes beyond it. Returns their number, 0 to 31.
ASTEROPE_AVX inline std::size_t copy_head(char* to, const char* from) {
    const std::size_t head = -reinterpret_cast<std::uintptr_t>(to) % kVector;
    if (head) store_anywhere(to, load(from));
    return head;
}

/// From 32 bytes on: copies the rest, fewer than 32, by a vector that begins before them.
ASTEROPE_AVX inline void copy_tail(char* to, const char* from, std::size_t at, std::size_t bytes) {
    if (at < bytes) store_anywhere(to + bytes - kVector, load(from + bytes - kVector));
}

/// Copies `vectors` vectors a turn for as long as so many are left, and loads all before it stores
/// the first. With `prefetch` it also fetches the vectors of the next turn, which are a line.
template <bool streaming, std::size_t vectors = 1, bool prefetch = false>
ASTEROPE_AVX inline void* copy(void* destination, const void* source, std::size_t bytes) {
    auto* to = static_cast<char*>(destination);
    const auto* from = static_cast<const char*>(source);
    if (bytes < kVector) {
        copy_below_32(to, from, bytes);
        return destination;
    }
    constexpr std::size_t kTurn = vectors * kVector;
    std::size_t at = copy_head(to, from);
    for (; at + kTurn <= bytes; at += kTurn) {
        if constexpr (prefetch) _mm_prefetch(from + at + kTurn, _MM_HINT_T0);
        __m256i loaded[vectors];
        for (std::size_t i = 0; i < vectors; ++i) loaded[i] = load(from + at + i * kVector);
        for (std::size_t i = 0; i < vectors; ++i)
            store<streaming>(to + at + i * kVector, loaded[i]);
    }
    for (; at + kVector <= bytes; at += kVector) store<streaming>(to + at, load(from + at));
    copy_tail(to, from, at, bytes);
    if constexpr (streaming) _mm_sfence();
    _mm256_zeroupper();
    return destination;
}

} // namespace

ASTEROPE_AVX void* copy_avx(void* destination, const void* source, std::size_t bytes, std::size_t) {
    return copy<false>(destination, source, bytes);
}

ASTEROPE_AVX void* copy_avx_unrolled(void* destination, const void* source, std::size_t bytes,
                                     std::size_t) {
    return copy<false, 4>(destination, source, bytes);
}

ASTEROPE_AVX void* copy_avx_streaming(void* destination, const void* source, std::size_t bytes,
                                      std::size_t) {
    return copy<true>(destination, source, bytes);
}

ASTEROPE_AVX void* copy_avx_streaming_prefetch(void* destination, const void* source,
                                               std::size_t bytes, std::size_t) {
    return copy<true, 2, true>(destination, source, bytes);
}

} // namespace asterope::peers
