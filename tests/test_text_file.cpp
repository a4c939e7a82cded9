// Files that users name are read whole, or refused in one line.
#include "text_file.hpp"

#include <gtest/gtest.h>

#include "error.hpp"
#include "temporary_folder.hpp"

namespace asterope {
namespace {

using ReadTextFile = TemporaryFolder;

std::string fault(const std::filesystem::path& path) {
    try {
        read_text_file(path, "thing");
        return "";
    } catch (const BadInput& error) {
        return error.what();
    }
}

TEST_F(ReadTextFile, reads_every_byte) {
    const std::string text("one\r\n\0two", 10);
    put("file", text);
    EXPECT_EQ(read_text_file(folder / "file", "thing"), text);
}

TEST_F(ReadTextFile, says_what_is_missing_or_a_folder) {
    EXPECT_EQ(fault(folder / "none"), "thing: No such file or directory");
    EXPECT_EQ(fault(folder), "thing: Is a directory");
}

TEST_F(ReadTextFile, does_not_read_without_end) {
    EXPECT_EQ(fault("/dev/zero"), "thing: is longer than 16 MiB");
}

} // namespace
} // namespace asterope
