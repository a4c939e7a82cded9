// FNV-1a by its published values: fingerprints of older profiles must stay as they were.
#include "base/text_hash.hpp"

#include <gtest/gtest.h>

using asterope::text_hash;

TEST(TextHash, is_fnv_1a_of_64_bits) {
    // Landon Curt Noll's test vectors.
    EXPECT_EQ(text_hash(""), "cbf29ce484222325");
    EXPECT_EQ(text_hash("a"), "af63dc4c8601ec8c");
    EXPECT_EQ(text_hash("foobar"), "85944171f73967e8");
}
