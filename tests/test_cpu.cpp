// What an architecture's file offers beside its description.
#include "cpu.hpp"

#include <gtest/gtest.h>

using namespace asterope;

TEST(ZeroAfterLoad, is_zero_whatever_is_loaded) {
    const bool has_avx = has_feature(read_cpu(), "avx");
    alignas(64) char bytes[64];
    for (const int value : {0x00, 0x01, 0x80, 0xFF}) {
        for (char& byte : bytes) byte = static_cast<char>(value);
        for (const int width : {1, 8, 16, 32}) {
            if (width == 32 && !has_avx) continue;
            EXPECT_EQ(zero_after_load(bytes, width), 0u) << width;
            EXPECT_EQ(zero_after_load(bytes + 3, width), 0u) << width; // at any address
            EXPECT_EQ(zero_after_load(bytes + 64 - width, width), 0u) << width;
        }
    }
}
