// Data that can be checked: what is written is what is summed and recognised, and nothing else is.
#include "bench/apps/sequence.hpp"

#include <gtest/gtest.h>
#include <vector>

#include "timing/buffer_access.hpp"

using namespace asterope;

namespace {

std::vector<std::uint64_t> written(Sequence sequence, std::size_t words) {
    std::vector<std::uint64_t> data(words);
    sequence.write(data.data(), words * 8);
    return data;
}

const char* bytes_of(const std::vector<std::uint64_t>& words) {
    return reinterpret_cast<const char*>(words.data());
}

} // namespace

TEST(Sequence, is_written_word_by_word) {
    const Sequence sequence{~std::uint64_t{5}};
    const std::vector<std::uint64_t> data = written(sequence, 100);
    for (std::size_t i = 0; i < data.size(); ++i) EXPECT_EQ(data[i], sequence.word(i));
    EXPECT_EQ(data[6], 0u); // it goes on from the largest word with the smallest
}

TEST(Sequence, sums_are_known_without_reading_the_data) {
    for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
        const std::vector<std::uint64_t> data = written({first}, 300);
        for (const std::size_t begin : {0, 1, 7, 200}) {
            for (const std::size_t words : {0, 1, 2, 3, 64, 99, 100}) {
                EXPECT_EQ((Sequence{first}.sum(begin * 8, words * 8)),
                          read_copy(bytes_of(data) + begin * 8, words * 8))
                    << begin << ' ' << words;
            }
        }
    }
}

TEST(Sequence, is_recognised_only_where_every_word_is_right) {
    const Sequence sequence{17};
    std::vector<std::uint64_t> data = written(sequence, 64);
    EXPECT_TRUE(sequence.is_at(data.data(), 0, 64 * 8));
    EXPECT_TRUE(sequence.is_at(data.data() + 5, 40, 59 * 8));
    EXPECT_FALSE(sequence.is_at(data.data(), 8, 63 * 8));
    EXPECT_FALSE((Sequence{18}.is_at(data.data(), 0, 64 * 8)));
    std::swap(data[3], data[60]); // which no sum would show
    EXPECT_EQ(read_copy(bytes_of(data), 64 * 8), sequence.sum(0, 64 * 8));
    EXPECT_FALSE(sequence.is_at(data.data(), 0, 64 * 8));
}
