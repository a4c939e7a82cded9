// asterope-tune diagnose: what the pitfalls of memory benchmarks do to copies on this machine.
#pragma once

#include "base/command_line.hpp"

namespace asterope {

/// Adds the subcommand `diagnose` to the program's command line.
Subcommand add_diagnose(CLI::App& app);

} // namespace asterope
