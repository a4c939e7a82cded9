// Operations are named as libc names their functions, and each knows its own pipelines.
#include "space/operation.hpp"

#include <gtest/gtest.h>

#include "support/made_up_variants.hpp"

namespace asterope {
namespace {

TEST(Operations, are_found_by_their_names_alone_and_by_their_copies) {
    EXPECT_EQ(find_operation("memcpy"), Operation::copy);
    EXPECT_EQ(find_operation("memset"), Operation::set);
    for (const char* name : {"", "memmove", "Memset", "memset ", "mem"}) {
        EXPECT_FALSE(find_operation(name)) << name;
    }
    asterope_variant variant = made_up("XMM", "T", "T", "none", 0);
    EXPECT_EQ(operation_of(variant), Operation::copy);
    variant.space = &asterope_sets;
    EXPECT_EQ(operation_of(variant), Operation::set);
}

} // namespace
} // namespace asterope
