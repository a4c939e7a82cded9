// Files written whole or not at all: what stood there before survives every fault.
#include "atomic_file.hpp"

#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.hpp"
#include "temporary_folder.hpp"

using namespace asterope;
namespace fs = std::filesystem;

namespace {

class AtomicFile : public TemporaryFolder {};

/// Writing beyond `bytes` fails while this lives, as on a full disk.
class SmallFiles {
  public:
    explicit SmallFiles(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        rlimit small = before_;
        small.rlim_cur = bytes;
        setrlimit(RLIMIT_FSIZE, &small);
    }
    ~SmallFiles() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

  private:
    rlimit before_;
    void (*handler_)(int);
};

/// Permissions mean nothing to root.
bool is_root() {
    return geteuid() == 0;
}

} // namespace

TEST_F(AtomicFile, writes_all_bytes_and_leaves_nothing_else) {
    const std::string text = std::string(300000, 'x') + std::string(1, '\0') + "end\n";
    write_atomically(folder / "profile.json", text);
    EXPECT_EQ(content(folder / "profile.json"), text);
    EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFile, replaces_a_longer_file_whole) {
    put("profile.json", "something longer than what follows");
    write_atomically(folder / "profile.json", "short");
    EXPECT_EQ(content(folder / "profile.json"), "short");
    EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFile, replaces_by_renaming_so_that_readers_keep_the_old_file) {
    put("profile.json", "old");
    std::ifstream reader(folder / "profile.json");
    write_atomically(folder / "profile.json", "new");
    std::string seen;
    reader >> seen;
    EXPECT_EQ(seen, "old");
}

TEST_F(AtomicFile, has_the_mode_that_umask_grants) {
    for (const mode_t mask : {0022, 0077, 0002}) {
        const mode_t before = umask(mask);
        write_atomically(folder / "profile.json", "x");
        EXPECT_EQ(umask(before), mask) << "the mask itself was changed";
        struct stat status {};
        ASSERT_EQ(stat((folder / "profile.json").c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 0777, 0666 & ~mask);
    }
}

TEST_F(AtomicFile, on_a_full_disk_leaves_the_old_file_and_nothing_beside_it) {
    put("profile.json", "old");
    {
        const SmallFiles full(4096);
        EXPECT_THROW(write_atomically(folder / "profile.json", std::string(100000, 'x')), Failure);
    }
    EXPECT_EQ(content(folder / "profile.json"), "old");
    EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFile, onto_a_folder_fails_and_leaves_nothing_beside_it) {
    fs::create_directory(folder / "profile.json");
    put("profile.json/inside", "kept");
    EXPECT_THROW(write_atomically(folder / "profile.json", "x"), Failure);
    EXPECT_EQ(content(folder / "profile.json" / "inside"), "kept");
    EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFile, in_a_missing_folder_fails) {
    EXPECT_THROW(write_atomically(folder / "missing" / "profile.json", "x"), Failure);
    EXPECT_EQ(files(), 0u);
}

TEST_F(AtomicFile, in_a_read_only_folder_fails) {
    if (is_root()) GTEST_SKIP() << "root may write everywhere";
    fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_THROW(write_atomically(folder / "profile.json", "x"), Failure);
}

TEST_F(AtomicFile, require_writable_touches_nothing) {
    require_writable(folder / "new.json");
    EXPECT_EQ(files(), 0u);
    put("profile.json", "old");
    require_writable(folder / "profile.json");
    EXPECT_EQ(content(folder / "profile.json"), "old");
    EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFile, require_writable_takes_a_bare_name) {
    const fs::path before = fs::current_path();
    fs::current_path(folder);
    EXPECT_NO_THROW(require_writable("profile.json"));
    fs::current_path(before);
}

TEST_F(AtomicFile, require_writable_refuses_what_will_not_work) {
    put("file", "x");
    EXPECT_THROW(require_writable(""), BadInput);
    EXPECT_THROW(require_writable(folder), BadInput);
    EXPECT_THROW(require_writable(folder / "missing" / "profile.json"), BadInput);
    EXPECT_THROW(require_writable(folder / "file" / "profile.json"), BadInput);
    EXPECT_THROW(require_writable(folder / std::string(300, 'x')), BadInput);
    if (!is_root()) {
        fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
        EXPECT_THROW(require_writable(folder / "profile.json"), BadInput);
    }
}
