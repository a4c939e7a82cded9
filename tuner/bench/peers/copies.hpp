// The copies of the literature in our own renderings: each a CopyFunction that ignores its last
// argument, copies any size at any misalignment, and reads and writes nothing else.
#pragma once

#include <cstddef>

namespace asterope::peers {

// byte_by_byte.cpp
void* copy_byte_by_byte(void* destination, const void* source, std::size_t bytes, std::size_t);

// rep_movs.cpp
void* copy_rep_movsb(void* destination, const void* source, std::size_t bytes, std::size_t);
void* copy_rep_movsq(void* destination, const void* source, std::size_t bytes, std::size_t);

// avx.cpp; they need avx
void* copy_avx(void* destination, const void* source, std::size_t bytes, std::size_t);
void* copy_avx_streaming(void* destination, const void* source, std::size_t bytes, std::size_t);
void* copy_avx_streaming_prefetch(void* destination, const void* source, std::size_t bytes,
                                  std::size_t);
void* copy_avx_unrolled(void* destination, const void* source, std::size_t bytes, std::size_t);

// l1_buffer.cpp; needs sse4_1
void* copy_l1_buffer(void* destination, const void* source, std::size_t bytes, std::size_t);

// prefetch_nt.cpp
void* copy_prefetch_nt(void* destination, const void* source, std::size_t bytes, std::size_t);

} // namespace asterope::peers
