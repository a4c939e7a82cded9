// Memory of a chosen kind: on huge pages, on small ones, or shared.
#pragma once

#include <cstddef>

namespace asterope::diagnosis {

enum class Pages { huge, small, shared };

/// Memory that begins at a multiple of 2 MiB (shared: of a page), every byte written once, as in an
/// Arena.
class Mapping {
  public:
    /// Throws Failure where the memory is not to be had.
    Mapping(std::size_t bytes, Pages pages);
    ~Mapping();
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    char* data() const { return data_; }
    /// How many of its bytes the kernel keeps on transparent huge pages; 0 where it does not tell.
    std::size_t huge_bytes() const;

  private:
    std::size_t bytes_, mapped_;
    void* mapping_;
    char* data_;
};

} // namespace asterope::diagnosis
