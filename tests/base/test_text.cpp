// Text: nothing gets into a profile that could leave a C comment or string; hashes by their
// published values, as fingerprints of older profiles must stay as they were.
#include "base/text.hpp"

#include "support/unit_test.hpp"

TEST(Aligned, has_columns_as_wide_as_their_cells_without_empty_ones_or_blanks_at_the_end) {
    EXPECT_EQ(aligned({{"Up to", "", "x", "how"}, {"8 B", "", "1.00", "rep"}, {"16 KiB", "", "9"}},
                      {"Up to", "how"}),
              "Up to     x how\n"
              "8 B    1.00 rep\n"
              "16 KiB    9\n");
}

TEST(ProfileName, lets_no_other_byte_through_than_names_are_made_of_and_no_more_than_200) {
    const std::string allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789 ()@.,:_+/-";
    for (int byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        const bool good = allowed.find(c) != std::string::npos;
        EXPECT_EQ(profile_name(std::string{'a', c, 'b'}), (std::string{'a', good ? c : '_', 'b'}));
    }
    EXPECT_EQ(profile_name(std::string(300, 'x')), std::string(200, 'x'));
    EXPECT_EQ(profile_name(std::string(199, 'x').append(" yyy")), std::string(199, 'x'));
    EXPECT_EQ(profile_name("  x  "), "x");
}

TEST(ShellWord, is_quoted_where_a_shell_would_take_it_for_more) {
    EXPECT_EQ(shell_word("/etc/asterope/profile.json"), "/etc/asterope/profile.json");
    EXPECT_EQ(shell_word("a folder/p"), "'a folder/p'");
    EXPECT_EQ(shell_word("it's"), R"('it'\''s')");
    EXPECT_EQ(shell_word("$(x)\n"), "'$(x)?'");
    EXPECT_EQ(shell_word(""), "''");
}

TEST(TextHash, is_fnv_1a_of_64_bits) {
    // Landon Curt Noll's test vectors.
    EXPECT_EQ(text_hash(""), "cbf29ce484222325");
    EXPECT_EQ(text_hash("a"), "af63dc4c8601ec8c");
    EXPECT_EQ(text_hash("foobar"), "85944171f73967e8");
}

// A misspelt word is taken for the nearest one that there is, and a foreign one for none.
TEST(NearestWord, is_a_letter_or_so_away_the_nearest_of_several_or_none) {
    const std::vector<std::string> options = {"--rigor", "--resume", "--log", "--sizes",
                                              "--seed",  "--small",  "-o"};
    const std::tuple<std::string, std::vector<std::string>, const char*> cases[] = {
        {"--rigr", options, "--rigor"},
        {"--riggor", options, "--rigor"},
        {"--size", options, "--sizes"},
        {"--lag", options, "--log"},
        {"-rigor", options, "--rigor"},
        {"--seeds", {"--sizes", "--seed"}, "--seed"},
        {"ab", {"abcd"}, ""},
        {"abcx", {"abcd", "abce"}, "abcd"},
        {"--bogus", options, ""},
        {"-x", options, ""},
        {"", options, ""},
        {"--rigor", {}, ""},
        {std::string(1 << 20, 'x'), options, ""}};
    for (const auto& [word, words, nearest] : cases) EXPECT_EQ(nearest_word(word, words), nearest);
}
