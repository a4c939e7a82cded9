// The copy through a buffer that stays in the first cache, as Intel's "Copying Accelerated Video
// Decode Frame Buffers" (2009) describes it.
//
// There the source is write-combining memory of a video decoder. Streaming loads (movntdqa) bring 4
// KiB into a cached buffer, then streaming stores take them out. So the two never alternate on the
// bus. On ordinary memory the streaming loads are plain ones, and reads and writes still come in
// turns of a page. The paper's fences between them order its loads of write-combining memory. Ours
// needs no fences.
#include <algorithm>
#include <cstdint>
#include <smmintrin.h>

#include "bench/peers/small.hpp"

#define ASTEROPE_SSE4_1 __attribute__((target("sse4.1")))

namespace asterope::peers {

namespace {

constexpr std::size_t kVector = sizeof(__m128i), kLine = 64, kBuffer = 4096;

inline std::size_t past_boundary(const void* at) {
    return reinterpret_cast<std::uintptr_t>(at) % kVector;
}

inline __m128i load_anywhere(const char* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}
inline void store_anywhere(char* to, __m128i value) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), value);
}

/// Into the buffer, from aligned places.
struct Fill {
    ASTEROPE_SSE4_1 void operator()(char* to, const char* from) const {
        // older headers want a pointer without const
        auto* aligned = reinterpret_cast<__m128i*>(const_cast<char*>(from));
        _mm_store_si128(reinterpret_cast<__m128i*>(to), _mm_stream_load_si128(aligned));
    }
};

/// Out of it, to aligned places.
struct Drain {
    void operator()(char* to, const char* from) const {
        _mm_stream_si128(reinterpret_cast<__m128i*>(to), load_anywhere(from));
    }
};

/// Copies 16 bytes or more. It calls `move` at places where `boundary`, one of the two buffers, is
/// aligned.
template <class Move>
ASTEROPE_SSE4_1 inline void copy_vectors(char* to, const char* from, std::size_t bytes,
                                         const void* boundary, Move move) {
    std::size_t at = (kVector - past_boundary(boundary)) % kVector;
    if (at) store_anywhere(to, load_anywhere(from));
    for (; at + kLine <= bytes; at += kLine) {
        move(to + at, from + at);
        move(to + at + kVector, from + at + kVector);
        move(to + at + 2 * kVector, from + at + 2 * kVector);
        move(to + at + 3 * kVector, from + at + 3 * kVector);
    }
    for (; at + kVector <= bytes; at += kVector) move(to + at, from + at);
    if (at < bytes) store_anywhere(to + bytes - kVector, load_anywhere(from + bytes - kVector));
}

} // namespace

ASTEROPE_SSE4_1 void* copy_l1_buffer(void* destination, const void* source, std::size_t bytes,
                                     std::size_t) {
    alignas(kLine) char buffer[kBuffer + kVector];
    auto* to = static_cast<char*>(destination);
    const auto* from = static_cast<const char*>(source);
    // the first part ends at a line's boundary of the destination, and so do the others
    std::size_t room = kBuffer - reinterpret_cast<std::uintptr_t>(to) % kLine;
    while (bytes >= kVector) {
        const std::size_t part = std::min(bytes, room);
        char* through = buffer + past_boundary(from);
        copy_vectors(through, from, part, from, Fill());
        copy_vectors(to, through, part, to, Drain());
        to += part;
        from += part;
        bytes -= part;
        room = kBuffer;
    }
    copy_below_32(to, from, bytes);
    _mm_sfence();
    return destination;
}

} // namespace asterope::peers
