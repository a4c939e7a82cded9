// The command lines of asterope-tune. Without a subcommand, it makes a tuning run. Most subcommands
// have a room of their own.
#pragma once

#include <functional>

#include "base/command_line.hpp"
#include "run/tuning.hpp"

namespace asterope {

/// Adds the options of a tuning run. Once they are parsed, the returned function returns what they
/// ask for. `app` must live until then.
std::function<TuningRequest()> add_tuning(CLI::App& app);

/// Each adds the subcommand of its name to the program's command line.
Subcommand add_replay(CLI::App& app);
Subcommand add_check(CLI::App& app);
Subcommand add_diagnose(CLI::App& app);
Subcommand add_merge(CLI::App& app);
Subcommand add_tunables(CLI::App& app);

} // namespace asterope
