// Reads and writes of the buffers, as programs do them: they touch all bytes, and no other.
#include <sys/mman.h>

#include "support/unit_test.hpp"
#include "timing/buffer_access.hpp"

namespace {

/// The middle one of three pages, the outer two of which cannot be touched.
char* fenced_page() {
    void* mapping = mmap(nullptr, 3 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char* const page = static_cast<char*>(mapping) + kPage;
    EXPECT_EQ(mprotect(page, kPage, PROT_READ | PROT_WRITE), 0);
    for (std::size_t i = 0; i < kPage; ++i) page[i] = static_cast<char>(i * 2654435761u >> 11);
    return page;
}

std::uint64_t sum_by_bytes(const char* at, std::size_t bytes) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
        const std::uint64_t byte = static_cast<unsigned char>(at[i]);
        sum += i < bytes / 8 * 8 ? byte << (8 * (i % 8)) : byte;
    }
    return sum;
}

} // namespace

TEST(ReadCopy, sums_up_words_and_the_bytes_left_and_reads_nothing_else) {
    const char* const page = fenced_page();
    for (std::size_t bytes = 0; bytes <= 300; ++bytes) {
        for (const std::size_t offset : {std::size_t{0}, bytes % 64, kPage - bytes}) {
            ASSERT_EQ(read_copy(page + offset, bytes), sum_by_bytes(page + offset, bytes))
                << bytes << " at " << offset;
        }
    }
}

TEST(ReadEnd, loads_the_last_word_or_byte_and_nothing_else) {
    const char* const page = fenced_page();
    EXPECT_EQ(read_end(page, 0), 0u);
    for (std::size_t bytes = 1; bytes <= 100; ++bytes) {
        const std::size_t last = bytes < 8 ? 1 : 8;
        for (const std::size_t offset : {std::size_t{0}, kPage - bytes}) {
            std::uint64_t expected = 0;
            std::memcpy(&expected, page + offset + bytes - last, last);
            ASSERT_EQ(read_end(page + offset, bytes), expected) << bytes << " at " << offset;
        }
    }
}

TEST(WriteSource, stores_ascending_words_over_all_bytes_and_touches_nothing_else) {
    char* const page = fenced_page();
    for (std::size_t bytes = 0; bytes <= 100; ++bytes) {
        std::vector<std::uint64_t> words(bytes / 8 + 1);
        for (std::size_t i = 0; i < words.size(); ++i) words[i] = 0x0123456789abcdef + i;
        for (char* to : {page, page + 3, page + kPage - bytes}) {
            std::string expected(page, kPage);
            std::memcpy(&expected[static_cast<std::size_t>(to - page)], words.data(), bytes);
            write_source(to, bytes, words[0]);
            ASSERT_EQ(std::string(page, kPage), expected) << bytes;
        }
    }
}
