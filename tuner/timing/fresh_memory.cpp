// Anonymous mappings. A shared one is populated at once, a private one stays untouched.
#include "timing/fresh_memory.hpp"

#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.hpp"

namespace asterope {

std::size_t page_size() {
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void touch_pages(char* begin, std::size_t bytes, std::size_t page) {
    for (std::size_t i = 0; i < bytes; i += page) {
        volatile char& byte = begin[i];
        byte = byte;
    }
}

FreshMemory::FreshMemory(std::size_t bytes, Owner owner, PageAdvice advice) : bytes_(bytes) {
    const int kind = owner == shared ? MAP_SHARED | MAP_POPULATE : MAP_PRIVATE;
    void* mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) {
        throw Failure("no memory for the buffers (" + std::to_string(bytes >> 20) +
                      " MiB): free some, raise ulimit -v and -d, or name smaller --sizes");
    }
    begin_ = static_cast<char*>(mapping);
    if (advice == PageAdvice::none) return;
    // A kernel that does not know the advice has pages of one size, and refuses.
    madvise(begin_, bytes, advice == PageAdvice::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

FreshMemory::~FreshMemory() {
    munmap(begin_, bytes_);
}

} // namespace asterope
