// Memory of an application's own, from the beginning of a page.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/error.hpp"

namespace asterope {

inline constexpr std::size_t kPageBytes = 4096;

/// malloc's large buffers begin 16 bytes past a page. A copy into such a buffer from the beginning
/// of a page meets 4K aliasing. That costs some routines several times the copy (see
/// Workload::aliased). It is real, but these comparisons are about other things.
///
/// The memory still comes from malloc, not from aligned_alloc. malloc keeps memory of the same
/// size, where glibc's aligned_alloc maps it anew each time. The page faults would be most of the
/// timed duration.
class UserBuffer {
  public:
    /// Throws Failure where the memory does not suffice.
    explicit UserBuffer(std::size_t bytes) {
        std::size_t room = bytes + kPageBytes;
        void* begin = std::malloc(room);
        if (!begin) throw Failure("no memory for a buffer of " + std::to_string(bytes));
        memory_.reset(begin);
        begin_ = static_cast<char*>(std::align(kPageBytes, bytes, begin, room));
    }
    char* get() const { return begin_; }

  private:
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    std::unique_ptr<void, Free> memory_;
    char* begin_;
};

} // namespace asterope
