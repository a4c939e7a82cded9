// asterope-tune check: whether a profile still fits this machine.
#pragma once

#include "base/command_line.hpp"

namespace asterope {

/// Adds the subcommand `check` to the program's command line.
Subcommand add_check(CLI::App& app);

} // namespace asterope
