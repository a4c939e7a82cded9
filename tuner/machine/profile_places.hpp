// The places where profiles lie that nobody named: the user's own, then the system's.
#pragma once

#include <filesystem>
#include <string>

namespace asterope {

/// $XDG_CONFIG_HOME/asterope/profile.json; ~/.config in its place where that is no absolute path,
/// as the XDG base directory specification has it. Empty where HOME is none either (a service).
std::filesystem::path user_profile();

/// /etc/asterope/profile.json
std::filesystem::path system_profile();

/// `named` if a profile was named; else the user's where there is one; else the system's. One that
/// is there counts, whether it can be read or not: to go on with another would surprise its owner.
/// Throws BadInput where there is none, and says where it looked.
std::filesystem::path profile_to_read(const std::string& named);

/// Makes the folder that a profile at `place` (one of the above) needs. Throws BadInput where that
/// cannot be.
void make_folder_of(const std::filesystem::path& place);

} // namespace asterope
