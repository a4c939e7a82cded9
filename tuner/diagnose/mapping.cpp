// Memory of a chosen kind: on huge pages, on small ones, or shared.
#include "diagnose/mapping.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/size_text.hpp"
#include "timing/arena.hpp"

namespace asterope::diagnosis {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

void* map_shared(std::size_t bytes) {
    const int file = memfd_create("asterope", MFD_CLOEXEC);
    if (file < 0) return MAP_FAILED;
    void* mapping = MAP_FAILED;
    if (ftruncate(file, static_cast<off_t>(bytes)) == 0) {
        mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    const int error = errno;
    close(file);
    errno = error;
    return mapping;
}

} // namespace

Mapping::Mapping(std::size_t bytes, Pages pages) : bytes_(bytes), mapped_(bytes) {
    if (pages == Pages::shared) {
        mapping_ = map_shared(bytes);
    } else {
        bytes_ = (bytes + kHugePage - 1) / kHugePage * kHugePage;
        mapped_ = bytes_ + kHugePage;
        mapping_ =
            mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    if (mapping_ == MAP_FAILED) {
        throw Failure("no memory for the buffers (" + format_size(mapped_) +
                      "): " + std::strerror(errno) + "; free some, or leave out huge_pages, " +
                      "placement and single_timings with --only");
    }
    data_ = static_cast<char*>(mapping_);
    if (pages != Pages::shared) {
        data_ += (kHugePage - reinterpret_cast<std::uintptr_t>(data_) % kHugePage) % kHugePage;
        // advice: refused on kernels without huge pages
        madvise(data_, bytes_, pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    }
    fill_with_data(data_, bytes_);
}

Mapping::~Mapping() {
    munmap(mapping_, mapped_);
}

std::size_t Mapping::huge_bytes() const {
    // What is left before or behind data_ has other advice, so that the kernel lists data_'s
    // stretch by itself.
    const auto begin = reinterpret_cast<std::uintptr_t>(data_);
    std::ifstream smaps("/proc/self/smaps");
    bool inside = false;
    std::size_t kilobytes = 0;
    for (std::string line; std::getline(smaps, line);) {
        std::uintptr_t from = 0, to = 0, part = 0;
        if (std::sscanf(line.c_str(), "%zx-%zx ", &from, &to) == 2) {
            inside = from < begin + bytes_ && begin < to;
        } else if (inside && std::sscanf(line.c_str(), "AnonHugePages: %zu kB", &part) == 1) {
            kilobytes += part;
        }
    }
    return kilobytes * 1024;
}

} // namespace asterope::diagnosis
