// The routine of a profile: rendered, and built to be loaded and timed.
#pragma once

#include <filesystem>
#include <string>
#include <unistd.h>

#include "timing/timed_copy.hpp"

namespace asterope {

/// Runs the asterope-generate that lies beside this program, or else the one on the PATH, and
/// waits: the routine of `profile` lands in `folder`. Where `quiet`, only its errors are seen.
/// Throws Failure where there is none or it fails, ending in `remedy`.
void run_generator(const std::filesystem::path& profile, const std::filesystem::path& folder,
                   bool quiet, const std::string& remedy);

/// The routine of a profile, compiled as a shared library in a temporary folder of its own, which
/// goes with this object.
class BuiltRoutine {
  public:
    /// Of the profile at `profile`. Runs asterope-generate and the C compiler ($CC, else cc).
    /// Throws Failure where it cannot be rendered or compiled, which ends in `instead`: what to do
    /// then.
    BuiltRoutine(const std::filesystem::path& profile, std::string instead);
    struct Text {
        const std::string& of_profile;
    };
    /// The same of a profile that is no file yet.
    BuiltRoutine(Text text, std::string instead);
    ~BuiltRoutine();
    BuiltRoutine(const BuiltRoutine&) = delete;
    BuiltRoutine& operator=(const BuiltRoutine&) = delete;

    const std::string& profile() const { return profile_; }
    std::string library() const { return (folder_ / "libasterope_memcpy.so").string(); }

  private:
    void build() const;
    void render_and_compile() const;

    std::string profile_, instead_;
    std::filesystem::path folder_;
    const pid_t maker_ = getpid(); ///< a child that ends must leave the folder to its parent
};

/// The operation's function of the routine of a profile, given as text. Its library is never
/// unloaded. Throws as BuiltRoutine does.
CopyFunction load_routine(const std::string& profile, Operation operation,
                          const std::string& instead);

} // namespace asterope
