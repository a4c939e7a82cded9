// Files that users name are read whole, or refused in one line.
#include "base/text_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "base/error.hpp"
#include "support/refusal.hpp"
#include "support/temporary_folder.hpp"

namespace asterope {
namespace {

using ReadTextFile = TemporaryFolder;

std::string file_fault(const std::filesystem::path& path) {
    return refusal_of([&] { read_text_file(path, "thing"); });
}

TEST_F(ReadTextFile, reads_every_byte) {
    const std::string text("one\r\n\0two", 10);
    put("file", text);
    EXPECT_EQ(read_text_file(folder / "file", "thing"), text);
}

TEST_F(ReadTextFile, says_what_is_missing_or_a_folder) {
    EXPECT_EQ(file_fault(folder / "none"), "thing: No such file or directory");
    EXPECT_EQ(file_fault(folder), "thing: Is a directory");
}

TEST_F(ReadTextFile, skips_a_byte_order_mark_at_the_beginning_only) {
    const std::string mark(kByteOrderMark);
    put("file", mark + "text" + mark);
    EXPECT_EQ(read_text_file(folder / "file", "thing"), "text" + mark);
    put("file", mark);
    EXPECT_EQ(read_text_file(folder / "file", "thing"), "");
}

TEST_F(ReadTextFile, does_not_wait_for_a_writer_of_a_pipe) {
    ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
    EXPECT_EQ(file_fault(folder / "pipe"),
              "thing: is a pipe that nothing was written to; start its writer first");
}

TEST_F(ReadTextFile, reads_a_pipe_to_its_end) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    ASSERT_EQ(write(ends[1], "text", 4), 4);
    std::thread writer([&] {
        ASSERT_EQ(write(ends[1], " and more", 9), 9);
        close(ends[1]);
    });
    EXPECT_EQ(read_text_file("/dev/fd/" + std::to_string(ends[0]), "thing"), "text and more");
    writer.join();
    close(ends[0]);
}

TEST_F(ReadTextFile, says_that_links_go_round_in_a_circle) {
    std::filesystem::create_symlink("link", folder / "link");
    EXPECT_EQ(file_fault(folder / "link"), "thing: Too many levels of symbolic links");
}

TEST_F(ReadTextFile, does_not_read_without_end) {
    EXPECT_EQ(file_fault("/dev/zero"), "thing: is longer than 16 MiB");
}

} // namespace
} // namespace asterope
