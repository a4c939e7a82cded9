// What the commands share: reading the command line, and errors in one line.
#pragma once

#include <functional>

#include "base/options.hpp"

namespace asterope {

/// A subcommand, and what it does once its options are read: returns the program's exit code.
struct Subcommand {
    CLI::App* app;
    std::function<int()> run;
};

/// Reads the command line. False where it only asked for help or the version, which is printed
/// then. Throws BadInput for what it does not understand.
bool parse(CLI::App& app, int argc, char** argv);

/// Runs a command; what it throws becomes one line on stderr and its exit code, and so does what
/// interrupts it (see end_on_interrupts).
int run_command(const char* name, const std::function<int()>& command);

/// The same without what interrupts it.
int exit_code_of(const char* name, const std::function<int()>& command);

} // namespace asterope
