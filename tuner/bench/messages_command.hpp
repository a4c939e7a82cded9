// asterope-bench messages: publish and subscribe over shared memory, between two processes.
#pragma once

#include "bench/command.hpp"

namespace CLI {
class App;
}

namespace asterope {

/// Adds the subcommand.
Command add_messages_command(CLI::App& app);

} // namespace asterope
