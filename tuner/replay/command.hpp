// The command line of `asterope-tune replay`.
#pragma once

#include "base/command_line.hpp"

namespace asterope {

/// Adds the subcommand `replay` to the program's command line.
Subcommand add_replay(CLI::App& app);

} // namespace asterope
