// The command line of `asterope-tune check`.
#pragma once

#include "base/command_line.hpp"

namespace asterope {

/// Adds the subcommand `check` to the program's command line.
Subcommand add_check(CLI::App& app);

} // namespace asterope
