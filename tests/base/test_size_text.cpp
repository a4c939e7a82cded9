// Byte counts: what people write is read, what is no size is refused by name.
#include "base/size_text.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/mentions.hpp"

using namespace asterope;

TEST(ParseSize, reads_bytes_and_powers_of_1024) {
    EXPECT_EQ(parse_size("1"), 1u);
    EXPECT_EQ(parse_size("128"), 128u);
    EXPECT_EQ(parse_size("128B"), 128u);
    EXPECT_EQ(parse_size("8K"), 8192u);
    EXPECT_EQ(parse_size("8k"), 8192u);
    EXPECT_EQ(parse_size("8KB"), 8192u);
    EXPECT_EQ(parse_size("8KiB"), 8192u);
    EXPECT_EQ(parse_size("32M"), std::size_t{32} << 20);
    EXPECT_EQ(parse_size("3GiB"), std::size_t{3} << 30);
}

TEST(ParseSize, reads_up_to_63_bits) {
    EXPECT_EQ(parse_size("9223372036854775807"), (std::size_t{1} << 63) - 1);
    EXPECT_EQ(parse_size("8589934591G"), std::size_t{8589934591} << 30);
}

class NoSize : public ::testing::TestWithParam<const char*> {};

TEST_P(NoSize, is_refused_by_name) {
    try {
        parse_size(GetParam());
        FAIL() << "taken for a size";
    } catch (const BadInput& error) {
        EXPECT_EQ(error.exit_code(), kBadInput);
        const std::string quoted = std::string("'") + std::string(GetParam()).substr(0, 40) + "'";
        EXPECT_TRUE(mentions(error.what(), quoted));
    }
}

INSTANTIATE_TEST_SUITE_P(, NoSize,
                         ::testing::Values("", "0", "0K", "-1", "+1", " 1", "1 ", "1 K", "K", "B",
                                           "12Q", "99999T", "8KK", "8Ki", "8kib", "8BB", "1.5K",
                                           "0x80", "1e3", "eight", "9223372036854775808",
                                           "8589934592G", "18446744073709551616",
                                           "99999999999999999999999999999999999999999999999"));

TEST(ParseSize, message_is_one_line_whatever_was_given) {
    try {
        parse_size("1\n2\x1b[31m");
        FAIL() << "taken for a size";
    } catch (const BadInput& error) {
        for (const char* c = error.what(); *c; ++c) EXPECT_GE(*c, ' ');
    }
}

TEST(ParseSizeList, sorts_and_drops_repeats) {
    const std::vector<std::size_t> expected = {128, 1024, 8192};
    EXPECT_EQ(parse_size_list("8K,128,1024,1K"), expected);
    EXPECT_EQ(parse_size_list("128"), std::vector<std::size_t>{128});
}

TEST(ParseSizeList, refuses_empty_places) {
    for (const char* text : {"", ",", "8K,", ",8K", "8K,,16K", "8K,0", "8K;16K"}) {
        EXPECT_THROW(parse_size_list(text), BadInput) << text;
    }
}

TEST(FormatSize, takes_the_largest_unit_that_divides) {
    EXPECT_EQ(format_size(1), "1 B");
    EXPECT_EQ(format_size(1000), "1000 B");
    EXPECT_EQ(format_size(1024), "1 KiB");
    EXPECT_EQ(format_size(1025), "1025 B");
    EXPECT_EQ(format_size(1536 * 1024), "1536 KiB");
    EXPECT_EQ(format_size(std::size_t{32} << 20), "32 MiB");
    EXPECT_EQ(format_size(std::size_t{1} << 40), "1024 GiB");
}
