// The command line of `asterope-tune diagnose`.
#pragma once

#include "base/command_line.hpp"

namespace asterope {

/// Adds the subcommand `diagnose` to the program's command line.
Subcommand add_diagnose(CLI::App& app);

} // namespace asterope
