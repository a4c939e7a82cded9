// The one place in which an application of shared memory copies: its copier.
#pragma once

#include <cstddef>

#include "bench/apps/user_buffer.hpp"
#include "timing/workload.hpp"

namespace asterope {

/// The interface of shadesmar's copiers (github.com/Squadrick/shadesmar, memory/copier.h): whoever
/// publishes or subscribes hands one over, and all memory of messages and all their copies go
/// through it.
class Copier {
  public:
    virtual ~Copier() = default;
    /// Memory of the user's for a message. Null where there is none.
    virtual void* alloc(std::size_t bytes) = 0;
    virtual void dealloc(void* user) = 0;
    /// What a publisher does: its message into shared memory.
    virtual void user_to_shared(void* shared, const void* user, std::size_t bytes) = 0;
    /// What a subscriber does: a message out of it.
    virtual void shared_to_user(void* user, const void* shared, std::size_t bytes) = 0;
};

/// A function for each way, and memory from the heap.
class FunctionCopier : public Copier {
  public:
    /// Its memory begins so many bytes past a page: see allocate_buffer.
    FunctionCopier(CopyFunction publish, CopyFunction take, std::size_t past_page)
        : publish_(publish), take_(take), past_page_(past_page) {}

    void* alloc(std::size_t bytes) override { return allocate_buffer(bytes, past_page_); }
    void dealloc(void* user) override { free_buffer(user); }
    void user_to_shared(void* shared, const void* user, std::size_t bytes) override {
        publish_(shared, user, bytes, 0);
    }
    void shared_to_user(void* user, const void* shared, std::size_t bytes) override {
        take_(user, shared, bytes, 0);
    }

  private:
    CopyFunction publish_, take_;
    std::size_t past_page_;
};

} // namespace asterope
