// The subcommands of asterope-bench that time copies inside applications.
#pragma once

#include "base/command_line.hpp"

namespace asterope {

Subcommand add_cache_command(CLI::App& app);
Subcommand add_locality_command(CLI::App& app);
Subcommand add_messages_command(CLI::App& app);

} // namespace asterope
