// The copier of applications: which way its copies go, and where its memory begins.
#include "bench/apps/copier.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace asterope;

namespace {

std::vector<std::size_t> published, taken;

void* publish(void* destination, const void* source, std::size_t bytes, std::size_t) {
    published.push_back(bytes);
    return std::memcpy(destination, source, bytes);
}

void* take(void* destination, const void* source, std::size_t bytes, std::size_t) {
    taken.push_back(bytes);
    return std::memcpy(destination, source, bytes);
}

} // namespace

TEST(FunctionCopier, copies_each_way_with_its_function) {
    FunctionCopier copier(publish, take, 0);
    char shared[16] = {}, back[16] = {};
    copier.user_to_shared(shared, "a message", 10);
    EXPECT_EQ(std::string(shared), "a message");
    EXPECT_TRUE(taken.empty());
    copier.shared_to_user(back, shared, 10);
    EXPECT_EQ(std::string(back), "a message");
    EXPECT_EQ(taken, (std::vector<std::size_t>{10}));
    EXPECT_EQ(published, (std::vector<std::size_t>{10}));
}

TEST(FunctionCopier, its_memory_begins_where_it_was_told_to) {
    for (const std::size_t past_page : {0, 16, 4088}) {
        FunctionCopier copier(publish, take, past_page);
        for (const std::size_t bytes : {1, 4096, 100000}) {
            void* const memory = copier.alloc(bytes);
            ASSERT_NE(memory, nullptr);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % kPageBytes, past_page);
            std::memset(memory, 1, bytes); // a sanitizer or valgrind sees whether it has the room
            copier.dealloc(memory);
        }
    }
}
