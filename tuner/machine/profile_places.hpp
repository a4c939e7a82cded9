// The places where a profile lies that no option named: the user's own, then the system's.
#pragma once

#include <filesystem>
#include <string>

namespace asterope {

/// $XDG_CONFIG_HOME/asterope/profile.json; ~/.config in its place where that is not an absolute
/// path, as the XDG base directory specification has it. Empty where HOME is missing, too (a
/// service).
std::filesystem::path user_profile();

/// /etc/asterope/profile.json
std::filesystem::path system_profile();

/// `named` if a profile was named, else the user's if it exists, else the system's. An existing one
/// counts, readable or not: to go on with another would surprise its owner. Throws BadInput where
/// neither exists, and says where it looked.
std::filesystem::path profile_to_read(const std::string& named);

/// Makes the folder that a profile at `place` (one of the above) needs. Throws BadInput where that
/// cannot be.
void make_folder_of(const std::filesystem::path& place);

} // namespace asterope
