// The command line of `asterope-tune merge`.
#pragma once

#include "base/command_line.hpp"

namespace asterope {

/// Adds the subcommand `merge` to the program's command line.
Subcommand add_merge(CLI::App& app);

} // namespace asterope
