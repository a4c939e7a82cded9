// The routine that asterope-bench times, and its CPU: options that all its comparisons share.
#pragma once

#include <string>

#include "timing/timed_copy.hpp"

namespace CLI {
class App;
}

namespace asterope {

struct RoutineOptions {
    std::string library = {}; ///< path of a shared library; empty: see routine_library()
    std::string profile = {}; ///< to build the routine from; empty: see profile_to_read()
    Operation operation = Operation::copy;
    int rounds; ///< the default is the command's
    int cpu = -1;
    std::string symbol() const { return symbol_of(operation); }
};

/// --routine, --rounds and --cpu.
void add_options(CLI::App& app, RoutineOptions& options);

/// The shared library to load. It is the one that was named, else build/libasterope_memcpy.so, else
/// the one beside this program, else one built from the profile. In the last case, a line on stderr
/// says so. Throws BadInput where the profile to build it from is missing, Failure where it cannot
/// be built.
std::string routine_library(const RoutineOptions& options);

} // namespace asterope
