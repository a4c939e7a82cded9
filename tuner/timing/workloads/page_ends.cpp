// All stretches lie in one mapping, each with a page behind it that is forbidden or stays
// untouched.
#include "timing/workloads/page_ends.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <sys/mman.h>

#include "base/error.hpp"
#include "timing/arena.hpp"

namespace asterope {

PageEnds::PageEnds(std::size_t bytes)
    : page_(page_size()), stretch_bytes_((bytes + page_ - 1) / page_ * page_),
      // a huge page would bring the untouched pages along
      memory_(2 * kStretches * stride(), FreshMemory::own, PageAdvice::small) {
    for (std::size_t i = 0; i < 2 * kStretches; ++i) {
        char* stretch = memory_.begin() + i * stride();
        fill_with_data(stretch, stretch_bytes_);
        if (i % 2 == 0 && mprotect(stretch + stretch_bytes_, page_, PROT_NONE) != 0) {
            throw Failure(std::string("cannot forbid a page beside small copies: ") +
                          std::strerror(errno));
        }
    }
}

} // namespace asterope
