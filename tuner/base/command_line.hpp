// What the commands share: reading the command line, and errors in one line.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace asterope {

/// Reads the command line. False where it only asked for help or the version, which is printed
/// then. Throws BadInput for what it does not understand.
bool parse(CLI::App& app, int argc, char** argv);

/// Runs a command; what it throws becomes one line on stderr and its exit code, and so does what
/// interrupts it (see end_on_interrupts).
int run_command(const char* name, const std::function<int()>& command);

} // namespace asterope
