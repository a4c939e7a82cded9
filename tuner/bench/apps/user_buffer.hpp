// Memory of an application's own, from the beginning of a page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace asterope {

inline constexpr std::size_t kPageBytes = 4096;

/// `bytes` from the beginning of a page; null where there is no memory. To be given back to
/// free_buffer.
///
/// malloc's large buffers begin 16 bytes past a page. What is copied there from the beginning of a
/// page meets 4K aliasing, which costs some routines several times the copy (see
/// Workload::aliased): real, but not what these comparisons are about.
///
/// malloc's memory all the same, and not aligned_alloc's: of the same size again and again, malloc
/// keeps it, where glibc's aligned_alloc maps it anew each time. The page faults would be most of
/// what is timed.
inline void* allocate_buffer(std::size_t bytes) {
    void* const memory = std::malloc(bytes + 2 * kPageBytes);
    if (!memory) return nullptr;
    // the first page that leaves room for the pointer in front of it
    const auto least = reinterpret_cast<std::uintptr_t>(memory) + sizeof memory;
    const std::size_t skip = -least % kPageBytes;
    char* const buffer = static_cast<char*>(memory) + sizeof memory + skip;
    std::memcpy(buffer - sizeof memory, &memory, sizeof memory);
    return buffer;
}

inline void free_buffer(void* buffer) {
    if (!buffer) return;
    void* memory;
    std::memcpy(&memory, static_cast<char*>(buffer) - sizeof memory, sizeof memory);
    std::free(memory);
}

} // namespace asterope
