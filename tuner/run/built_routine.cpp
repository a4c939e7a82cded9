// The routine of a profile: rendered, and built to be loaded and timed.
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

BuiltRoutine::BuiltRoutine(const std::filesystem::path& profile, std::string instead)
    : profile_(profile.string()), instead_(std::move(instead)),
      folder_(make_temporary_folder(instead_)) {
    build();
}

BuiltRoutine::BuiltRoutine(Text text, std::string instead)
    : instead_(std::move(instead)), folder_(make_temporary_folder(instead_)) {
    profile_ = (folder_ / "profile.json").string();
    write_atomically(profile_, text.of_profile);
    build();
}

CopyFunction load_routine(const std::string& profile, Operation operation,
                          const std::string& instead) {
    const BuiltRoutine built(BuiltRoutine::Text{profile}, instead);
    std::string reason;
    void* library = load_library(built.library(), reason);
    if (!library) throw Failure(reason);
    const std::string symbol = "asterope_" + name_of(operation);
    return reinterpret_cast<CopyFunction>(dlsym(library, symbol.c_str()));
}

BuiltRoutine::~BuiltRoutine() {
    if (getpid() != maker_) return;
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

void BuiltRoutine::build() const {
    try {
        render_and_compile();
    } catch (...) {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
        throw;
    }
}

void BuiltRoutine::render_and_compile() const {
    run_generator(profile_, folder_, true, instead_);
    // By a shell: CC="ccache gcc" is a habit of many.
    const int status = run_program({"/bin/sh", "-c", "exec ${CC:-cc} \"$@\"", "sh", "-O2",
                                    "-shared", "-fPIC", "-pthread", "-DASTEROPE_THREADS", "-o",
                                    library(), (folder_ / "asterope_memcpy.c").string()},
                                   true);
    if (status == 0) return;
    throw Failure("the routine of " + profile_ + " could not be compiled (${CC:-cc} " +
                  (status == 127 ? "is not there" : "fails") + "): install a C compiler, or " +
                  instead_);
}

} // namespace asterope
