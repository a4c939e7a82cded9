// Files of lines: only whole lines are read, and other files are told apart.
#include "base/line_reader.hpp"

#include <sys/stat.h>

#include "base/text_file.hpp"
#include "support/unit_test.hpp"

namespace {

using Text = std::vector<std::string>;

class Lines : public TemporaryFolder {
  protected:
    /// The lines, and whether the last one is torn.
    std::pair<Text, bool> read_text(const std::string& text) {
        put("file", text);
        LineReader reader(folder / "file", "thing");
        Text lines;
        std::string line;
        for (; reader.next(line); lines.push_back(line)) {
            EXPECT_EQ(reader.number(), lines.size() + 1);
        }
        EXPECT_FALSE(reader.next(line)) << "after the end is the end";
        return {lines, reader.torn()};
    }
};

} // namespace

TEST_F(Lines, come_without_their_newline_at_any_length_but_for_a_last_one_that_has_none) {
    std::vector<std::tuple<std::string, Text, bool>> rows = {
        {"one\n\ntwo\tthree\nf\xc3\xbcnf\n", {"one", "", "two\tthree", "f\xc3\xbcnf"}, false},
        {"one\ntwo", {"one"}, true},
        {"one", {}, true},
        {"one\n" + std::string(100, '\0'), {"one"}, true}};
    for (const std::size_t length : {1u << 18, (1u << 18) - 1, (1u << 18) + 1, 3000000u}) {
        const std::string line(length, 'x');
        rows.push_back({"begin\n" + line + "\nend\n", {"begin", line, "end"}, false});
    }
    for (const auto& [text, lines, torn] : rows) {
        EXPECT_EQ(read_text(text), std::pair(lines, torn));
    }
}

TEST_F(Lines, begin_behind_a_byte_order_mark_and_count_their_bytes_in_the_file) {
    const std::string mark(kByteOrderMark);
    EXPECT_EQ(read_text(mark + "one\n" + mark + "two\n"),
              std::pair(Text{"one", mark + "two"}, false));
    put("file", mark + "one\n\ntwo\nthree");
    LineReader reader(folder / "file", "thing");
    EXPECT_EQ(reader.start(), "one\n\ntwo\nthree") << "a look at it takes nothing";
    std::string line;
    for (const std::uintmax_t bytes : {7u, 8u, 12u}) {
        ASSERT_TRUE(reader.next(line));
        EXPECT_EQ(reader.bytes(), bytes);
    }
    EXPECT_FALSE(reader.next(line));
    EXPECT_EQ(reader.bytes(), 12u);
}

TEST_F(Lines, are_refused_where_there_is_no_file_to_read_or_no_text_or_no_end) {
    const auto fault = [](const std::filesystem::path& path) {
        return refusal_of([&] {
            LineReader reader(path, "thing");
            for (std::string line; reader.next(line);) continue;
        });
    };
    ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
    EXPECT_EQ(fault(folder / "pipe"),
              "thing: is a pipe that nothing was written to; start its writer first");
    EXPECT_EQ(fault("/dev/zero"), "thing: line 1 is longer than 16 MiB");
    const std::pair<std::string, const char*> cases[] = {
        {"", "is empty"},
        {"\x1f\x8b\x08", "is gzipped: unpack it first (gunzip)"},
        {"one\ntw\0o\n" + std::string(1, '\0') + "\n", "line 2 is not text"},
        {std::string(4, '\0'), "line 1 is not text"},
        {"\x7f"
         "ELF\2\1\1",
         "line 1 is not text"},
        {"\x89PNG\r\n", "line 1 is not text"},
        {"one\n" + std::string(17 << 20, 'x'), "line 2 is longer than 16 MiB"},
    };
    for (const auto& [text, said] : cases) {
        put("file", text);
        EXPECT_EQ(fault(folder / "file"), std::string("thing: ") + said);
    }
}
