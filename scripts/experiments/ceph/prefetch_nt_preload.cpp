// The copy that asterope-bench calls prefetch_nt, under libc's names, for LD_PRELOAD. memmove stays
// libc's, which also copies overlapping buffers: programs get away with that in glibc's memcpy.
#include <cstring>

#include "bench/peers/x86_64/prefetch_nt.cpp"

extern "C" {

void* memcpy(void* __restrict destination, const void* __restrict source, std::size_t bytes) {
    const auto to = reinterpret_cast<std::uintptr_t>(destination);
    const auto from = reinterpret_cast<std::uintptr_t>(source);
    if (to - from < bytes || from - to < bytes) return std::memmove(destination, source, bytes);
    return asterope::peers::copy_prefetch_nt(destination, source, bytes, 0);
}

void* mempcpy(void* __restrict destination, const void* __restrict source, std::size_t bytes) {
    return static_cast<char*>(memcpy(destination, source, bytes)) + bytes;
}
}
