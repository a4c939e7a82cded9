// The command line of `asterope-tune replay` and `thin`.
#pragma once

#include "base/command_line.hpp"

namespace asterope {

/// Adds the subcommand `replay` to the program's command line.
Subcommand add_replay(CLI::App& app);

/// Adds the subcommand `thin`, which makes the logs small that `replay` reads.
Subcommand add_thin(CLI::App& app);

} // namespace asterope
