// Memory of an application's own, from the beginning of a page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "base/error.hpp"

namespace asterope {

inline constexpr std::size_t kPageBytes = 4096;

inline void free_buffer(char* buffer) {
    void* memory;
    std::memcpy(&memory, buffer - sizeof memory, sizeof memory);
    std::free(memory);
}

using UserBuffer = std::unique_ptr<char, decltype(&free_buffer)>;

/// Allocates `bytes` from the beginning of a page. Throws Failure where the memory does not
/// suffice.
///
/// malloc's large buffers begin 16 bytes past a page. A copy into such a buffer from the beginning
/// of a page meets 4K aliasing. That costs some routines several times the copy (see
/// Workload::aliased). It is real, but these comparisons are about other things.
///
/// The memory still comes from malloc, not from aligned_alloc. malloc keeps memory of the same
/// size, where glibc's aligned_alloc maps it anew each time. The page faults would be most of the
/// timed duration.
inline UserBuffer user_buffer(std::size_t bytes) {
    void* const memory = std::malloc(bytes + 2 * kPageBytes);
    if (!memory) throw Failure("no memory for a buffer of " + std::to_string(bytes));
    // the first page that leaves room for the pointer in front of it
    const auto least = reinterpret_cast<std::uintptr_t>(memory) + sizeof memory;
    const std::size_t skip = -least % kPageBytes;
    char* const buffer = static_cast<char*>(memory) + sizeof memory + skip;
    std::memcpy(buffer - sizeof memory, &memory, sizeof memory);
    return {buffer, free_buffer};
}

} // namespace asterope
