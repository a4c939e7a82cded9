// asterope-generate and the C compiler run as child processes, in a new folder that is removed
// later.
#include "run/built_routine.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>

#include "base/atomic_file.hpp"
#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "timing/external_copy.hpp"

namespace asterope {

namespace {

constexpr std::string_view kTemplate = "asterope-tune-XXXXXX"; ///< of mkdtemp()
constexpr std::string_view kPrefix = kTemplate.substr(0, kTemplate.size() - 6);
constexpr const char* kMark = ".in-use";

/// Opens the mark of a folder, and locks it for this process and its forks. Returns -1 and sets
/// errno where that fails: EWOULDBLOCK if another process has locked it, EPERM if another user owns
/// it.
int lock_mark(const std::filesystem::path& folder, int more) {
    const int file =
        open((folder / kMark).c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | more, 0600);
    if (file < 0) return -1;
    struct stat status {};
    const bool is_own = fstat(file, &status) == 0 && status.st_uid == geteuid();
    if (is_own && flock(file, LOCK_EX | LOCK_NB) == 0) return file;
    const int why = is_own ? errno : EPERM;
    close(file);
    errno = why;
    return -1;
}

/// Removes the folders of tuners that were killed.
void remove_left_folders(const std::filesystem::path& base) {
    std::error_code error;
    for (std::filesystem::directory_iterator at(base, error), end; !error && at != end;
         at.increment(error)) {
        if (at->path().filename().string().rfind(kPrefix, 0) != 0) continue;
        const int mark = lock_mark(at->path(), 0);
        if (mark < 0) continue;
        std::error_code ignored;
        std::filesystem::remove_all(at->path(), ignored);
        close(mark);
    }
}

/// A new folder, so that no other process's files are in it. `mark` says that it is in use; it is
/// -1 where the file system has no locks.
std::filesystem::path make_temporary_folder(const std::string& instead, int& mark) {
    std::error_code error;
    const std::filesystem::path base = std::filesystem::temp_directory_path(error);
    if (!error) remove_left_folders(base);
    while (true) {
        std::string name = (base / kTemplate).string();
        if (error || !mkdtemp(name.data())) {
            throw Failure("cannot make a folder for the routine in " + name + ": " +
                          (error ? error.message() : std::strerror(errno)) +
                          ": let TMPDIR name another place, or " + instead);
        }
        mark = lock_mark(name, O_CREAT);
        // Another tuner may just have taken it for a leftover.
        const bool is_taken = mark < 0 && (errno == EWOULDBLOCK || errno == ENOENT);
        struct stat status {};
        if (!is_taken && (mark < 0 || (fstat(mark, &status) == 0 && status.st_nlink > 0)))
            return name;
        if (mark >= 0) close(mark);
    }
}

} // namespace

void run_generator(const std::filesystem::path& profile, const std::filesystem::path& folder,
                   bool quiet, const std::string& remedy) {
    std::error_code ignored;
    std::filesystem::path command = program_folder() / "asterope-generate";
    if (!std::filesystem::exists(command, ignored)) command = "asterope-generate";
    std::vector<std::string> words = {command.string(), profile.string(), "-o", folder.string()};
    if (quiet) words.push_back("--quiet");
    try {
        const int status = run_program(std::move(words));
        if (status == 0) return;
        if (status == kInterrupted) throw Interrupted("interrupted; " + remedy);
    } catch (const std::system_error& error) {
        throw Failure("cannot run asterope-generate: " + error.code().message() + "; " + remedy);
    }
    throw Failure("asterope-generate failed; " + remedy);
}

ScratchFolder::ScratchFolder(const std::string& instead)
    : path_(make_temporary_folder(instead, mark_)) {}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    if (getpid() == maker_) std::filesystem::remove_all(path_, ignored);
    if (mark_ >= 0) close(mark_);
}

std::string build_routine(const std::filesystem::path& profile, const ScratchFolder& folder,
                          const std::string& instead) {
    run_generator(profile, folder / "", true, instead);
    const std::string library = folder / "libasterope_memcpy.so";
    // A shell runs it: many users set CC="ccache gcc".
    const int status =
        run_program({"/bin/sh", "-c", "exec ${CC:-cc} \"$@\"", "sh", "-O2", "-shared", "-fPIC",
                     "-pthread", "-DASTEROPE_THREADS", "-o", library, folder / "asterope_memcpy.c"},
                    true);
    if (status == 0) return library;
    throw_if_interrupted(); // a terminal's interrupt ends the compiler, too
    throw Failure(std::string("the routine could not be compiled (${CC:-cc} ") +
                  (status == 127 ? "is not there" : "fails") + "): install a C compiler, or " +
                  instead);
}

CopyFunction load_routine(const std::string& profile, Operation operation,
                          const std::string& instead) {
    const ScratchFolder folder(instead);
    const std::filesystem::path file = folder / "profile.json";
    write_atomically(file, profile);
    std::string reason;
    void* library = load_library(build_routine(file, folder, instead), reason);
    if (!library) throw Failure(reason);
    const std::string symbol = symbol_of(operation);
    return reinterpret_cast<CopyFunction>(dlsym(library, symbol.c_str()));
}

} // namespace asterope
