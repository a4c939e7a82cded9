// The buffer cache finds blocks, and drops the right ones. A file read through it has right data
// after all that others write, and as many misses as asked for.
#include "bench/apps/cached_file.hpp"

#include <random>

#include "space/spoiled_copies.hpp"
#include "support/unit_test.hpp"
#include "timing/buffer_access.hpp"
#include "timing/clock.hpp"
#include "timing/timed_copy.hpp"

constexpr std::size_t kFile = 1 << 20;
constexpr std::size_t kBlock = 4 << 10;

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

TEST(CachedFile, reads_begin_and_end_anywhere) {
    CachedFile file(kFile, kBlock);
    for (const std::size_t offset : {0, 8, 4088, 4096, 100000}) {
        for (const std::size_t bytes : {8, 4096, 8192, 40000}) {
            std::vector<char> buffer(bytes + 8, 'x');
            file.read(buffer.data(), offset, bytes, libc_copy());
            EXPECT_TRUE(file.is_right(buffer.data(), offset, bytes));
            EXPECT_FALSE(file.is_right(buffer.data(), offset + 8, bytes));
            EXPECT_EQ(read_copy(buffer.data(), bytes), file.expected_sum(offset, bytes));
            EXPECT_EQ(std::string(buffer.data() + bytes, 8), "xxxxxxxx");
        }
    }
}

TEST(CachedFile, what_others_wrote_is_a_miss_and_then_a_hit_with_new_data) {
    CachedFile file(kFile, kBlock);
    std::vector<char> before(kBlock), after(kBlock);
    file.read(before.data(), 3 * kBlock, kBlock, libc_copy());
    file.write_elsewhere(3 * kBlock + 100);
    EXPECT_FALSE(file.is_right(before.data(), 3 * kBlock, kBlock));
    file.read(after.data(), 3 * kBlock, kBlock, libc_copy());
    EXPECT_EQ(file.misses(), 1u);
    EXPECT_TRUE(file.is_right(after.data(), 3 * kBlock, kBlock));
    EXPECT_NE(before, after);
    file.read(after.data(), 3 * kBlock, kBlock, libc_copy());
    EXPECT_EQ(file.misses(), 1u);
    EXPECT_TRUE(file.is_right(after.data(), 3 * kBlock, kBlock));
}

TEST(SequentialReader, misses_as_many_blocks_as_it_was_told) {
    start_clock(false);
    for (const unsigned misses : {0u, 1u, 5u, 50u}) {
        for (const std::size_t read : {kBlock / 4, kBlock, 16 * kBlock}) {
            CachedFile file(kFile, kBlock);
            SequentialReader reader(file, read, misses);
            // four times through the file
            EXPECT_GT(reader.run(libc_copy(), 4 * kFile / read, false, true), 0);
            const std::size_t blocks = 4 * kFile / kBlock;
            EXPECT_NEAR(static_cast<double>(file.misses()), blocks * misses / 100.0, 2)
                << misses << ' ' << read;
        }
    }
}

TEST(SequentialReader, a_wrong_copy_is_noticed_by_whoever_looks) {
    start_clock(false);
    constexpr CopyFunction wrong_copy = spoiled<[](Asked a) { a.to[a.bytes - 1] ^= 1; }>;
    for (const bool consume : {true, false}) {
        CachedFile file(kFile, kBlock);
        SequentialReader reader(file, kBlock, 5);
        const auto run = [&] { reader.run(wrong_copy, 8, consume, !consume); };
        EXPECT_TRUE(mentions(refusal_of<Failure>(run), "a copy is wrong"));
    }
}
