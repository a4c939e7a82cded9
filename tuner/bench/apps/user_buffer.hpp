// Memory of an application's own, at a chosen distance from the beginning of a page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace asterope {

inline constexpr std::size_t kPageBytes = 4096;

/// `bytes` that begin `past_page` (a multiple of 8, less than kPageBytes) behind the beginning of a
/// page; null where there is no memory. To be given back to free_buffer.
///
/// malloc's large buffers begin 16 bytes past a page. What is copied there from the beginning of a
/// page meets 4K aliasing, which costs some routines several times the copy (see
/// Workload::aliased): real, but nothing that a comparison should be about unless it says so.
///
/// malloc's memory all the same, and not aligned_alloc's: of the same size again and again, malloc
/// keeps it, where glibc's aligned_alloc maps it anew each time. The page faults would be most of
/// what is timed.
inline void* allocate_buffer(std::size_t bytes, std::size_t past_page) {
    void* const memory = std::malloc(bytes + 2 * kPageBytes);
    if (!memory) return nullptr;
    // the first place of its kind that leaves room for the pointer in front of it
    const auto least = reinterpret_cast<std::uintptr_t>(memory) + sizeof memory;
    const std::size_t skip = (past_page - least) % kPageBytes;
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
