// Files that users name are read whole, or refused in one line.
#include "base/text_file.hpp"

#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "base/child_process.hpp"
#include "support/unit_test.hpp"

namespace {

using ReadTextFile = TemporaryFolder;

TEST_F(ReadTextFile, names_a_file_that_cannot_be_read_and_waits_for_nobody) {
    ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
    std::filesystem::create_symlink("link", folder / "link");
    const std::pair<std::filesystem::path, const char*> cases[] = {
        {folder / "none", "No such file or directory"},
        {folder, "Is a directory"},
        {folder / "pipe", "is a pipe that nothing was written to; start its writer first"},
        {folder / "link", "Too many levels of symbolic links"},
        {"/dev/zero", "is longer than 16 MiB"}};
    for (const auto& [path, said] : cases) {
        EXPECT_EQ(refusal_of([&, &path = path] { read_text_file(path, "thing"); }),
                  std::string("thing: ") + said);
    }
}

TEST_F(ReadTextFile, reads_every_byte_but_a_byte_order_mark_at_the_beginning) {
    const std::string mark(kByteOrderMark), text("one\r\n\0two", 10);
    const std::pair<std::string, std::string> cases[] = {
        {text, text}, {mark + "text" + mark, "text" + mark}, {mark, ""}};
    for (const auto& [written, found] : cases) {
        put("file", written);
        EXPECT_EQ(read_text_file(folder / "file", "thing"), found);
    }
}

TEST_F(ReadTextFile, reads_a_pipe_to_its_end) {
    Pipe pipe;
    ASSERT_EQ(write(pipe.writing.get(), "text", 4), 4);
    std::thread writer([&] {
        ASSERT_EQ(write(pipe.writing.get(), " and more", 9), 9);
        pipe.writing = Descriptor();
    });
    const std::string path = "/dev/fd/" + std::to_string(pipe.reading.get());
    EXPECT_EQ(read_text_file(path, "thing"), "text and more");
    writer.join();
}

} // namespace
