// Memory that a process shares with those that it starts.
#include "bench/apps/shared_memory.hpp"

#include <string>
#include <sys/mman.h>

#include "base/error.hpp"

namespace asterope {

SharedMemory::SharedMemory(std::size_t bytes) : bytes_(bytes) {
    void* const mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (mapping == MAP_FAILED) {
        throw Failure("no memory for the " + std::to_string(bytes >> 20) +
                      " MiB that processes share");
    }
    data_ = static_cast<char*>(mapping);
}

SharedMemory::~SharedMemory() {
    munmap(data_, bytes_);
}

void SharedMemory::touch() const {
    constexpr std::size_t kSmallestPage = 4096;
    for (std::size_t i = 0; i < bytes_; i += kSmallestPage) {
        // read and written back, so that the page is mapped for writing and keeps what it holds
        volatile char& byte = data_[i];
        byte = byte;
    }
}

} // namespace asterope
