// asterope-bench cache: reads of a cached file through a file system client's buffer cache.
#pragma once

#include "bench/command.hpp"

namespace CLI {
class App;
}

namespace asterope {

/// Adds the subcommand.
Command add_cache_command(CLI::App& app);

} // namespace asterope
