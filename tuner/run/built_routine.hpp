// A routine built from a profile, to be loaded and timed.
#pragma once

#include <filesystem>
#include <string>
#include <unistd.h>

namespace asterope {

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

} // namespace asterope
