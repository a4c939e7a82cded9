// asterope-bench locality: what copy and move cost once the data they leave behind is used.
#pragma once

#include "bench/command.hpp"

namespace CLI {
class App;
}

namespace asterope {

/// Adds the subcommand.
Command add_locality_command(CLI::App& app);

} // namespace asterope
