// A routine built from a profile, where none was named and none lies in a build folder.
#include "bench/built_routine.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "base/error.hpp"
#include "base/program.hpp"
#include "machine/profile_places.hpp"
#include "run/run_generator.hpp"

namespace asterope {

namespace {

constexpr const char* kInstead = "name a shared library with --routine instead";

/// A new folder, so that no other process's files are in it.
std::filesystem::path make_temporary_folder() {
    std::error_code error;
    std::string name = (std::filesystem::temp_directory_path(error) / "asterope-XXXXXX").string();
    if (error || !mkdtemp(name.data())) {
        throw Failure("cannot make a folder for the routine in " + name + ": " +
                      (error ? error.message() : std::strerror(errno)) +
                      ": let TMPDIR name another place, or " + kInstead);
    }
    return name;
}

} // namespace

BuiltRoutine::BuiltRoutine(const std::string& profile) {
    try {
        profile_ = profile_to_read(profile).string();
    } catch (const BadInput& none) {
        throw BadInput("there is no build/libasterope_memcpy.so, and none can be built: " +
                       std::string(none.what()) + ", or " + kInstead);
    }
    folder_ = make_temporary_folder();
    try {
        build();
    } catch (...) {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
        throw;
    }
}

BuiltRoutine::~BuiltRoutine() {
    if (getpid() != maker_) return;
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

void BuiltRoutine::build() const {
    run_generator(profile_, folder_, true, kInstead);
    // By a shell: CC="ccache gcc" is a habit of many.
    const int status = run_program({"/bin/sh", "-c", "exec ${CC:-cc} \"$@\"", "sh", "-O2",
                                    "-shared", "-fPIC", "-pthread", "-DASTEROPE_THREADS", "-o",
                                    library(), (folder_ / "asterope_memcpy.c").string()},
                                   true);
    if (status == 0) return;
    throw Failure("the routine of " + profile_ + " could not be compiled (${CC:-cc} " +
                  (status == 127 ? "is not there" : "fails") + "): install a C compiler, or " +
                  kInstead);
}

} // namespace asterope
