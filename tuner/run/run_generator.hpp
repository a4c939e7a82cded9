// Renders the routine by calling asterope-generate.
#pragma once

#include <filesystem>
#include <string>

namespace asterope {

/// Runs the asterope-generate that lies beside this program, or else the one on the PATH, and
/// waits: the routine of `profile` lands in `folder`. Where `quiet`, only its errors are seen.
/// Throws Failure where there is none or it fails, ending in `remedy`.
void run_generator(const std::filesystem::path& profile, const std::filesystem::path& folder,
                   bool quiet, const std::string& remedy);

} // namespace asterope
