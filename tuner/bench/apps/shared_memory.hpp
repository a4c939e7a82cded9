// Memory that a process shares with those that it starts.
#pragma once

#include <cstddef>

namespace asterope {

/// Pages of the kind that shm_open gives, without a name that could be left behind. Zeros; every
/// page has been touched, by this process. Not to be copied.
class SharedMemory {
  public:
    /// Throws Failure where the memory is not to be had.
    explicit SharedMemory(std::size_t bytes);
    ~SharedMemory();
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    char* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }

    /// Lets the calling process meet its page faults now: a process that was started after the
    /// memory was made has yet to map each page.
    void touch() const;

  private:
    std::size_t bytes_;
    char* data_;
};

} // namespace asterope
