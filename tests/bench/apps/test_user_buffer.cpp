// Buffers of an application: where they begin, and that they have their room.
#include "bench/apps/user_buffer.hpp"

#include <cstring>
#include <gtest/gtest.h>

using namespace asterope;

TEST(UserBuffer, begins_at_a_page) {
    for (const std::size_t bytes : {1, 4096, 100000}) {
        void* const memory = allocate_buffer(bytes);
        ASSERT_NE(memory, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % kPageBytes, 0u);
        std::memset(memory, 1, bytes); // a sanitizer or valgrind sees whether it has the room
        free_buffer(memory);
    }
}
