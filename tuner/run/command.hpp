// The command lines of a tuning run, what asterope-tune does without a subcommand, and of `replay`.
#pragma once

#include <functional>

#include "base/command_line.hpp"

namespace asterope {

/// Adds the options of a tuning run. What is returned does it, once they are read, and returns the
/// program's exit code; `app` must live until then.
std::function<int()> add_tuning(CLI::App& app);

/// Adds the subcommand `replay` to the program's command line.
Subcommand add_replay(CLI::App& app);

} // namespace asterope
