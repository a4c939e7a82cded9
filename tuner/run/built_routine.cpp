// asterope-generate and the C compiler run as child processes, in a new folder that is removed
// later.
#include "run/built_routine.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <system_error>

#include "base/atomic_file.hpp"
#include "base/child_process.hpp"
#include "base/error.hpp"
#include "timing/external_copy.hpp"

namespace asterope {

namespace {

/// A new folder, so that no other process's files are in it.
std::filesystem::path make_temporary_folder(const std::string& instead) {
    std::error_code error;
    std::string name = (std::filesystem::temp_directory_path(error) / "asterope-XXXXXX").string();
    if (error || !mkdtemp(name.data())) {
        throw Failure("cannot make a folder for the routine in " + name + ": " +
                      (error ? error.message() : std::strerror(errno)) +
                      ": let TMPDIR name another place, or " + instead);
    }
    return name;
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

ScratchFolder::ScratchFolder(const std::string& instead) : path_(make_temporary_folder(instead)) {}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    if (getpid() == maker_) std::filesystem::remove_all(path_, ignored);
}

BuiltRoutine::BuiltRoutine(const std::filesystem::path& profile, const std::string& instead)
    : profile_(profile.string()), folder_(instead) {
    run_generator(profile, folder_ / "", true, instead);
    // A shell runs it: many users set CC="ccache gcc".
    const int status = run_program({"/bin/sh", "-c", "exec ${CC:-cc} \"$@\"", "sh", "-O2",
                                    "-shared", "-fPIC", "-pthread", "-DASTEROPE_THREADS", "-o",
                                    library(), folder_ / "asterope_memcpy.c"},
                                   true);
    if (status == 0) return;
    throw Failure("the routine of " + profile_ + " could not be compiled (${CC:-cc} " +
                  (status == 127 ? "is not there" : "fails") + "): install a C compiler, or " +
                  instead);
}

CopyFunction load_routine(const std::string& profile, Operation operation,
                          const std::string& instead) {
    const ScratchFolder folder(instead);
    const std::filesystem::path file = folder / "profile.json";
    write_atomically(file, profile);
    const BuiltRoutine built(file, instead);
    std::string reason;
    void* library = load_library(built.library(), reason);
    if (!library) throw Failure(reason);
    const std::string symbol = symbol_of(operation);
    return reinterpret_cast<CopyFunction>(dlsym(library, symbol.c_str()));
}

} // namespace asterope
