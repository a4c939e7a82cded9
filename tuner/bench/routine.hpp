// Which routine asterope-bench times, and on which CPU: options that all its comparisons share.
#pragma once

#include <string>

#include "workload.hpp"

namespace CLI {
class App;
}

namespace asterope {

struct RoutineOptions {
    std::string routine = "build/libasterope_memcpy.so";
    std::string symbol = "asterope_memcpy";
    int rounds; ///< the default is the command's
    int cpu = -1;
};

/// --routine, --symbol, --rounds and --cpu.
void add_options(CLI::App& app, RoutineOptions& options);

/// Throws BadInput where the library cannot be loaded or lacks the function.
CopyFunction load_routine(const RoutineOptions& options);

} // namespace asterope
