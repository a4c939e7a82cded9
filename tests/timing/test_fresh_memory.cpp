// Memory that is mapped and not touched: no page of it is there before somebody writes it.
#include "timing/fresh_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <vector>

#include "base/error.hpp"
#include "support/units.hpp"

using namespace asterope;

namespace {

std::size_t pages_there(const FreshMemory& memory) {
    std::vector<unsigned char> there(memory.bytes() / kPage);
    EXPECT_EQ(mincore(memory.begin(), memory.bytes(), there.data()), 0);
    std::size_t count = 0;
    for (const unsigned char flag : there) count += flag & 1;
    return count;
}

} // namespace

TEST(FreshMemory, has_no_page_before_it_is_written) {
    for (int i = 0; i < 3; ++i) { // nor where others were just unmapped
        const FreshMemory memory(64 * kPage);
        EXPECT_EQ(memory.bytes(), 64 * kPage);
        EXPECT_EQ(pages_there(memory), 0u);
        for (std::size_t at = 0; at < memory.bytes(); at += kPage) memory.begin()[at] = 1;
        EXPECT_EQ(pages_there(memory), 64u);
    }
}

TEST(FreshMemory, says_when_there_is_none) {
    EXPECT_THROW(FreshMemory(std::size_t{1} << 60), Failure);
}
