// A routine built from a profile, where none was named and none lies in a build folder.
#pragma once

#include <filesystem>
#include <string>
#include <unistd.h>

namespace asterope {

/// The routine of a profile, compiled as a shared library in a temporary folder of its own, which
/// goes with this object.
class BuiltRoutine {
  public:
    /// `profile`: empty for the first that is found, see profile_to_read(). Runs asterope-generate
    /// and the C compiler ($CC, else cc). Throws BadInput where there is no profile, Failure where
    /// it cannot be rendered or compiled.
    explicit BuiltRoutine(const std::string& profile);
    ~BuiltRoutine();
    BuiltRoutine(const BuiltRoutine&) = delete;
    BuiltRoutine& operator=(const BuiltRoutine&) = delete;

    const std::string& profile() const { return profile_; }
    std::string library() const { return (folder_ / "libasterope_memcpy.so").string(); }

  private:
    void build() const;

    std::string profile_;
    std::filesystem::path folder_;
    const pid_t maker_ = getpid(); ///< a child that ends must leave the folder to its parent
};

} // namespace asterope
