// The routine of a profile: rendered, and built to be loaded and timed.
#pragma once

#include <filesystem>
#include <string>
#include <unistd.h>

#include "timing/timed_copy.hpp"

namespace asterope {

/// Runs the asterope-generate that lies beside this program, or else the one on the PATH, and
/// waits: the routine of `profile` lands in `folder`. Where `quiet`, only its errors are seen.
/// Throws Failure where it is missing or fails. The error ends in `remedy`.
void run_generator(const std::filesystem::path& profile, const std::filesystem::path& folder,
                   bool quiet, const std::string& remedy);

/// A new folder for temporary files. The destructor removes it. If the process is killed first, the
/// next ScratchFolder does.
class ScratchFolder {
  public:
    /// Throws Failure. The error ends in `instead`, which says how to go on.
    explicit ScratchFolder(const std::string& instead);
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    std::filesystem::path operator/(const char* name) const { return path_ / name; }

  private:
    int mark_ = -1; ///< locked while the folder is in use
    const std::filesystem::path path_;
    const pid_t maker_ = getpid(); ///< a child that ends must leave the folder to its parent
};

/// Builds the routine of the profile at `profile` as a shared library in `folder`. Runs
/// asterope-generate and the C compiler ($CC, else cc). Returns the library's path. Throws Failure
/// where it cannot be rendered or compiled. The error ends in `instead`, as above.
std::string build_routine(const std::filesystem::path& profile, const ScratchFolder& folder,
                          const std::string& instead);

/// The operation's function of the routine of a profile, given as text. Its library is never
/// unloaded. Throws as build_routine does.
CopyFunction load_routine(const std::string& profile, Operation operation,
                          const std::string& instead);

} // namespace asterope
