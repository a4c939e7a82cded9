// Pages that end before one that must not be touched: where a copy may not reach too far.
#pragma once

#include <cstddef>

#include "timing/fresh_memory.hpp"

namespace asterope {

/// Stretches of touched pages, some to copy from and some to copy to, each in front of one page
/// that nobody may touch: forbidden (PROT_NONE) behind every other stretch, and behind the others
/// mapped and never touched, as the rest of a heap is. The processor has no translation of either,
/// nor of the page behind the end of a mapping, so these need no stretch of their own.
class PageEnds {
  public:
    /// Of each side. The last line of every stretch falls into the same set of the first cache, or
    /// into two sets: those of both sides together fit in 8 ways, which first caches of x86 have;
    /// where there are 4, and pages of more than 4 KiB, some are in the second cache.
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
