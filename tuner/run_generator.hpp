// Renders the routine by calling asterope-generate.
#pragma once

#include <filesystem>

namespace asterope {

/// Runs the asterope-generate that lies beside this program, or else the one on the PATH, and
/// waits: the routine of `profile` lands in `folder`. Throws Failure where there is none or it
/// fails; the profile is not touched. Where `quiet`, only its errors are seen.
void run_generator(const std::filesystem::path& profile, const std::filesystem::path& folder,
                   bool quiet);

} // namespace asterope
