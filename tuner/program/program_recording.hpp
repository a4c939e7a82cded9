// Reads the recordings that asterope-record writes (scripts/asterope/recording.schema.json).
#pragma once

#include <string>
#include <vector>

#include "program/program.hpp"

namespace asterope {

/// Reads a recording. Throws BadInput with one line, beginning with "recording PATH": for what is
/// no recording, is of another version, is damaged, or holds no copies.
Program read_program_recording(const std::string& path);

/// What each --recording names, FILE or FILE=WEIGHT, joined. Throws BadInput for a weight that is
/// not above 0, too.
Program read_program(const std::vector<std::string>& recordings);

} // namespace asterope
