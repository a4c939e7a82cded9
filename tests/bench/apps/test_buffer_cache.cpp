// The buffer cache: what is found, what gives way, and that no two blocks share memory.
#include "bench/apps/cached_file.hpp"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "base/error.hpp"

using namespace asterope;

TEST(BufferCache, finds_what_was_inserted_and_nothing_else) {
    BufferCache cache(4, 4096);
    EXPECT_EQ(cache.find(7), nullptr);
    char* const data = cache.insert(7);
    ASSERT_NE(data, nullptr);
    EXPECT_EQ(cache.find(7), data);
    EXPECT_EQ(cache.find(8), nullptr);
    EXPECT_EQ(cache.size(), 1u);
}

TEST(BufferCache, the_least_recently_used_gives_way) {
    BufferCache cache(3, 4096);
    for (const std::uint64_t block : {1, 2, 3}) cache.insert(block);
    cache.find(1); // now 2 is the one
    cache.insert(4);
    EXPECT_EQ(cache.find(2), nullptr);
    cache.insert(5); // and now 3, as looking for 2 found nothing
    EXPECT_EQ(cache.find(3), nullptr);
    for (const std::uint64_t block : {1, 4, 5}) EXPECT_NE(cache.find(block), nullptr) << block;
    EXPECT_EQ(cache.size(), 3u);
}

TEST(BufferCache, what_was_dropped_is_gone_and_its_room_is_used_first) {
    BufferCache cache(3, 4096);
    std::map<std::uint64_t, char*> data;
    for (const std::uint64_t block : {1, 2, 3}) data[block] = cache.insert(block);
    cache.drop(2);
    cache.drop(99); // not there: nothing happens
    EXPECT_EQ(cache.size(), 2u);
    EXPECT_EQ(cache.find(2), nullptr);
    EXPECT_EQ(cache.insert(4), data[2]);
    EXPECT_EQ(cache.find(1), data[1]);
    EXPECT_EQ(cache.find(3), data[3]);
}

TEST(BufferCache, blocks_lie_a_block_apart) {
    constexpr std::size_t kBlock = 1024;
    BufferCache cache(8, kBlock);
    std::vector<char*> places;
    for (std::uint64_t block = 0; block < 8; ++block) {
        places.push_back(cache.insert(block));
        std::memset(places.back(), static_cast<int>(block), kBlock);
    }
    std::sort(places.begin(), places.end());
    for (std::size_t i = 1; i < places.size(); ++i) EXPECT_EQ(places[i] - places[i - 1], 1024);
}

// Against the plainest model there is: a vector in the order of use.
TEST(BufferCache, agrees_with_a_list_that_is_searched) {
    constexpr std::size_t kRoom = 16;
    BufferCache cache(kRoom, 64);
    std::vector<std::uint64_t> model; // the most recently used last
    std::mt19937_64 random(1);
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t block = random() % 24;
        const auto at = std::find(model.begin(), model.end(), block);
        char* const data = cache.find(block);
        ASSERT_EQ(data != nullptr, at != model.end());
        if (data) {
            ASSERT_EQ(static_cast<std::uint64_t>(data[0]), block);
            model.erase(at);
        }
        if (random() % 10 == 0) {
            cache.drop(block);
        } else {
            if (!data) {
                if (model.size() == kRoom) model.erase(model.begin());
                cache.insert(block)[0] = static_cast<char>(block);
            }
            model.push_back(block);
        }
        ASSERT_EQ(cache.size(), model.size());
    }
}

TEST(BufferCache, memory_that_is_not_to_be_had_is_a_failure) {
    EXPECT_THROW(BufferCache(std::size_t{1} << 10, std::size_t{1} << 50), Failure);
}
