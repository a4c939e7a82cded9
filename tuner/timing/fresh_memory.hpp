// Memory as a program gets it from the system: mapped, and no page of it touched yet.
#pragma once

#include <cstddef>

namespace asterope {

/// The bytes of a page here: 4 KiB, on AArch64 16 or 64 KiB with some kernels.
std::size_t page_size();

/// Reads a byte of each page, of so many bytes, and writes it back. So the page is mapped for
/// writing and keeps its content. No other process may write there meanwhile.
void touch_pages(char* begin, std::size_t bytes, std::size_t page = page_size());

/// The advice to the system about the size of pages.
enum class PageAdvice { none, huge, small };

/// Anonymous memory to read and write. Without advice, huge pages come where the system gives them
/// to every program. Unmapped at the end.
class FreshMemory {
  public:
    /// Whether the processes that this one starts share it. Shared memory is of the kind that
    /// shm_open gives, without a name that could be left behind, and every page is touched.
    enum Owner { own, shared };
    /// `bytes` above 0. Throws Failure where the memory is not to be had.
    explicit FreshMemory(std::size_t bytes, Owner owner = own,
                         PageAdvice advice = PageAdvice::none);
    ~FreshMemory();
    FreshMemory(const FreshMemory&) = delete;
    FreshMemory& operator=(const FreshMemory&) = delete;

    char* begin() const { return begin_; } ///< at a page's beginning
    std::size_t bytes() const { return bytes_; }

  private:
    std::size_t bytes_;
    char* begin_;
};

} // namespace asterope
