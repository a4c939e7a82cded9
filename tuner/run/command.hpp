// The command lines of asterope-tune. Without a subcommand, it makes a tuning run. Most subcommands
// have a room of their own.
#pragma once

#include <functional>

#include "base/command_line.hpp"

namespace asterope {

/// Adds the options of a tuning run. Call the returned function once they are parsed: it tunes and
/// returns the program's exit code. `app` must live until then.
std::function<int()> add_tuning(CLI::App& app);

/// Each adds the subcommand of its name to the program's command line.
Subcommand add_replay(CLI::App& app);
Subcommand add_check(CLI::App& app);
Subcommand add_diagnose(CLI::App& app);
Subcommand add_merge(CLI::App& app);
Subcommand add_tunables(CLI::App& app);

} // namespace asterope
