// Whether a profile was tuned for the program that a recording is of.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.hpp"
#include "program/program.hpp"

namespace asterope {

/// Why the profile is not the recorded program's: it was tuned for all programs, or for one of
/// another name, or for one whose copies take their time at other sizes. Empty where it is.
std::vector<std::string> other_program(const Profile& profile, const Program& recorded);

} // namespace asterope
