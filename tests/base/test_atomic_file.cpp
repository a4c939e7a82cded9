// Files are written whole or not at all: an earlier file survives every fault.
#include "base/atomic_file.hpp"

#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "base/child_process.hpp"
#include "base/interrupt.hpp"
#include "support/unit_test.hpp"

namespace fs = std::filesystem;

namespace {

using AtomicFile = TemporaryFolder;

} // namespace

TEST_F(AtomicFile, replaces_a_file_whole_so_that_readers_keep_the_old_one) {
    const std::string text = std::string(300000, 'x') + std::string(1, '\0') + "end\n";
    write_atomically(folder / "profile.json", text);
    EXPECT_EQ(content(folder / "profile.json"), text);
    std::ifstream reader(folder / "profile.json");
    write_atomically(folder / "profile.json", "new");
    EXPECT_EQ(reader.get(), 'x');
    EXPECT_EQ(content(folder / "profile.json"), "new");
    EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFile, has_the_mode_that_umask_grants) {
    for (const mode_t mask : {0022, 0077, 0002}) {
        const mode_t before = umask(mask);
        write_atomically(folder / "profile.json", "x");
        EXPECT_EQ(umask(before), mask) << "the mask itself was changed";
        EXPECT_EQ(fs::status(folder / "profile.json").permissions(), fs::perms{0666 & ~mask});
    }
}

TEST_F(AtomicFile, that_cannot_be_written_fails_keeps_the_old_one_and_leaves_nothing_beside_it) {
    put("profile.json", "old");
    put("folder/inside", "kept");
    std::signal(SIGXFSZ, SIG_IGN); // larger files fail then, as on a full disk
    rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small = {4096, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    EXPECT_THROW(write_atomically(folder / "profile.json", std::string(100000, 'x')), Failure);
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_EQ(content(folder / "profile.json"), "old");
    EXPECT_THROW(write_atomically(folder / "folder", "x"), Failure);
    EXPECT_EQ(content(folder / "folder" / "inside"), "kept");
    EXPECT_THROW(write_atomically(folder / "missing" / "profile.json", "x"), Failure);
    EXPECT_EQ(files(), 2u);
    if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
    fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_THROW(write_atomically(folder / "other.json", "x"), Failure);
    EXPECT_THROW(require_writable(folder / "other.json"), BadInput);
}

// As into a device: a run into one is tested as well (tests/run/test_tune_ends.py).
TEST_F(AtomicFile, writes_into_a_pipe_that_is_read_and_waits_for_no_reader) {
    ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
    fs::create_symlink("pipe", folder / "link");
    EXPECT_THROW(write_atomically(folder / "pipe", "text"), Failure);
    EXPECT_THROW(create_locked(folder / "pipe", "text"), Failure);
    const Descriptor reader(open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK));
    for (const char* name : {"pipe", "link"}) {
        EXPECT_FALSE(is_replaceable(folder / name));
        require_writable(folder / name);
        write_atomically(folder / name, "text");
        char read_text[8] = {};
        EXPECT_EQ(read(reader.get(), read_text, sizeof read_text), 4);
        EXPECT_STREQ(read_text, "text");
    }
    EXPECT_TRUE(fs::is_fifo(folder / "pipe"));
    EXPECT_TRUE(fs::is_symlink(folder / "link"));
    EXPECT_EQ(files(), 2u);
    Pipe pipe;
    pipe.reading = Descriptor();
    const std::string gone = "/dev/fd/" + std::to_string(pipe.writing.get());
    EXPECT_TRUE(
        mentions(refusal_of<Failure>([&] { write_atomically(gone, "text"); }), "Broken pipe"));
}

TEST_F(AtomicFile, writes_into_a_descriptor_wherever_it_leads) {
    put("file", "old");
    const Descriptor file(open((folder / "file").c_str(), O_WRONLY | O_APPEND));
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    for (const char* parent : {"/dev/fd/", "/proc/self/fd/"}) {
        require_writable(parent + std::to_string(file.get()));
        write_atomically(parent + std::to_string(file.get()), "new");
        write_atomically(parent + std::to_string(ends[0]), "text");
        char read_text[8] = {};
        EXPECT_EQ(read(ends[1], read_text, sizeof read_text), 4);
    }
    EXPECT_EQ(content(folder / "file"), "oldnewnew");
    EXPECT_EQ(files(), 1u);
    close(ends[0]);
    close(ends[1]);
    EXPECT_THROW(require_writable("/dev/fd/" + std::to_string(ends[0])), BadInput);
    const Descriptor only_read(open((folder / "file").c_str(), O_RDONLY));
    EXPECT_THROW(require_writable("/dev/fd/" + std::to_string(only_read.get())), BadInput);
}

TEST_F(AtomicFile, replaces_the_file_that_links_lead_to_even_where_it_is_none_yet) {
    fs::create_directory(folder / "inner");
    fs::create_symlink("inner/file", folder / "middle");
    fs::create_symlink(folder / "middle", folder / "link");
    for (const char* text : {"first", "second"}) {
        require_writable(folder / "link");
        write_atomically(folder / "link", text);
        EXPECT_EQ(content(folder / "inner" / "file"), text);
        EXPECT_TRUE(fs::is_symlink(folder / "link"));
        EXPECT_TRUE(fs::is_symlink(folder / "middle"));
    }
    EXPECT_EQ(files(), 3u);
    fs::create_symlink("missing/file", folder / "nowhere");
    EXPECT_THROW(require_writable(folder / "nowhere"), BadInput);
    fs::create_symlink("round", folder / "round");
    EXPECT_THROW(write_atomically(folder / "round", "x"), Failure);
    EXPECT_TRUE(
        mentions(refusal_of([&] { require_writable(folder / "round"); }), "round in a circle"));
}

TEST_F(AtomicFile, removes_files_that_a_killed_process_left_and_no_others) {
    const auto others = {".file.tmp",         ".file.abc.tmp",   ".file.abcdef",
                         ".other.abcdef.tmp", "file.abcdef.tmp", ".file.abcdef.tmp.x"};
    for (const char* name : others) put(name, "kept");
    put(".file.aB3dEf.tmp", "left");
    require_writable(folder / "file");
    EXPECT_EQ(files(), others.size());
    put(".file.aB3dEf.tmp", "being written by a process that lives");
    const Descriptor writer(open((folder / ".file.aB3dEf.tmp").c_str(), O_RDWR));
    ASSERT_TRUE(lock_file(writer.get()));
    put(".file.GH1jKl.tmp", "left");
    write_atomically(folder / "file", "x");
    EXPECT_EQ(files(), others.size() + 2);
}

TEST_F(AtomicFile, is_written_whole_before_an_interrupt_comes) {
    const auto write_for_ever = [&] {
        end_on_interrupts("name");
        std::thread([] {
            sigset_t all; // for the first thread only
            sigfillset(&all);
            pthread_sigmask(SIG_BLOCK, &all, nullptr);
            for (;;) kill(getpid(), SIGTERM);
        }).detach();
        for (;;) write_atomically(folder / "file", std::string(100000, 'x'));
    };
    EXPECT_EXIT(write_for_ever(), testing::ExitedWithCode(130), "");
    EXPECT_FALSE(fs::exists(folder / "file") && fs::file_size(folder / "file") != 100000);
    EXPECT_LE(files(), 1u);
}

TEST_F(AtomicFile, is_created_whole_and_locked_where_there_is_none) {
    const Descriptor file = create_locked(folder / "file", "begin ");
    ASSERT_TRUE(file);
    EXPECT_EQ(content(folder / "file"), "begin ");
    write_all(file.get(), "and go on");
    EXPECT_EQ(content(folder / "file"), "begin and go on");
    EXPECT_FALSE(lock_file(open((folder / "file").c_str(), O_RDWR | O_CLOEXEC)));
    EXPECT_FALSE(create_locked(folder / "file", "another"));
    EXPECT_EQ(content(folder / "file"), "begin and go on");
    EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFile, require_writable_touches_nothing_takes_a_bare_name_and_refuses_bad_places) {
    const fs::path before = fs::current_path();
    fs::current_path(folder);
    require_writable("file");
    fs::current_path(before);
    EXPECT_EQ(files(), 0u);
    put("file", "old");
    require_writable(folder / "file");
    for (const fs::path& path :
         {fs::path(), folder, folder / "missing" / "profile.json", folder / "file" / "profile.json",
          folder / std::string(300, 'x')}) {
        EXPECT_THROW(require_writable(path), BadInput) << path;
    }
    EXPECT_EQ(content(folder / "file"), "old");
    EXPECT_EQ(files(), 1u);
}
