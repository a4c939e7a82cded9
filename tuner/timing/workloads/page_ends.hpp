// Pages that end before one that must not be touched: where a copy may not reach too far.
#pragma once

#include <cstddef>

#include "timing/fresh_memory.hpp"

namespace asterope {

/// Stretches of touched pages, some to copy from and some to copy to. Behind each stretch is a page
/// that must not be touched. Behind every other stretch it is forbidden (PROT_NONE). Behind the
/// others it is mapped and stays untouched, like the rest of a heap. The processor translates the
/// address of neither. Nor does it for the page behind the end of a mapping, so that case needs no
/// stretch of its own.
class PageEnds {
  public:
    /// The stretches of each side. Their last lines all fall into one set of the first cache, or
    /// into two. The lines of both sides together fit in the 8 ways of x86's first caches. With 4
    /// ways, and pages of more than 4 KiB, some are in the second cache.
    static constexpr std::size_t kStretches = 4;

    /// Stretches of at least `bytes`. Throws Failure where the memory is not to be had.
    explicit PageEnds(std::size_t bytes);

    std::size_t stretch_bytes() const { return stretch_bytes_; } ///< whole pages
    /// From where one stretch begins to where the next one of its side does.
    std::size_t stride() const { return stretch_bytes_ + page_; }
    const char* source() const { return memory_.begin(); } ///< the first stretch, filled with data
    char* destination() const { return memory_.begin() + kStretches * stride(); }

  private:
    std::size_t page_, stretch_bytes_;
    FreshMemory memory_;
};

} // namespace asterope
