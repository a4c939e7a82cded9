// Byte counts: sizes that people write are read, other text is refused by name.
#include "base/size_text.hpp"

#include <iterator>

#include "support/unit_test.hpp"

TEST(ParseSize, reads_bytes_and_powers_of_1024_up_to_63_bits) {
    for (const char* text : {"8192", "8192B", "8K", "8k", "8KB", "8KiB"}) {
        EXPECT_EQ(parse_size(text), 8192u) << text;
    }
    EXPECT_EQ(parse_size("1"), 1u);
    EXPECT_EQ(parse_size("32M"), std::size_t{32} << 20);
    EXPECT_EQ(parse_size("3GiB"), std::size_t{3} << 30);
    EXPECT_EQ(parse_size("9223372036854775807"), (std::size_t{1} << 63) - 1);
    EXPECT_EQ(parse_size("8589934591G"), std::size_t{8589934591} << 30);
}

TEST(ParseSize, refuses_other_text_by_name_in_one_line) {
    std::vector<std::string> none = {"", " 1", "1 ", "1 K"};
    std::istringstream words("0 0K -1 +1 K B 12Q 99999T 8KK 8Ki 8kib 8BB 1.5K 0x80 1e3 eight "
                             "9223372036854775808 8589934592G 18446744073709551616 "
                             "99999999999999999999999999999999999999999999999");
    none.insert(none.end(), std::istream_iterator<std::string>(words), {});
    for (const std::string& text : none) {
        const std::string said = refusal_of([&] { parse_size(text); });
        EXPECT_TRUE(mentions(said, "'" + text.substr(0, 40) + "'"));
    }
    for (const char c : refusal_of([] { parse_size("1\n2\x1b[31m"); })) EXPECT_GE(c, ' ');
}

TEST(ParseSizeList, sorts_drops_repeats_and_refuses_empty_places) {
    EXPECT_EQ(parse_size_list("8K,128,1024,1K"), (std::vector<std::size_t>{128, 1024, 8192}));
    EXPECT_EQ(parse_size_list("128"), std::vector<std::size_t>{128});
    for (const char* text : {"", ",", "8K,", ",8K", "8K,,16K", "8K,0", "8K;16K"}) {
        EXPECT_THROW(parse_size_list(text), BadInput) << text;
    }
}

TEST(FormatSize, takes_the_largest_unit_that_divides) {
    const std::pair<std::size_t, const char*> cases[] = {{1, "1 B"},
                                                         {1000, "1000 B"},
                                                         {1024, "1 KiB"},
                                                         {1025, "1025 B"},
                                                         {1536 * 1024, "1536 KiB"},
                                                         {std::size_t{32} << 20, "32 MiB"},
                                                         {std::size_t{1} << 40, "1024 GiB"}};
    for (const auto& [size, text] : cases) EXPECT_EQ(format_size(size), text);
}
