// The command line of `asterope-tune tunables`.
#pragma once

#include "base/command_line.hpp"

namespace asterope {

/// Adds the subcommand `tunables` to the program's command line.
Subcommand add_tunables(CLI::App& app);

} // namespace asterope
