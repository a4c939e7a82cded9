// What the commands share: reading the command line, and errors in one line.
#include "command_line.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>

#include "error.hpp"

namespace asterope {

bool parse(CLI::App& app, int argc, char** argv) {
    try {
        app.parse(argc, argv);
        return true;
    } catch (const CLI::Success& asked) {
        app.exit(asked);
        return false;
    } catch (const CLI::ParseError& error) {
        throw BadInput(std::string(error.what()) + "; see " + app.get_name() + " --help");
    }
}

int run_command(const char* name, const std::function<int()>& command) {
    try {
        return command();
    } catch (const Error& error) {
        std::fprintf(stderr, "%s: %s\n", name, error.what());
        return error.exit_code();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", name, error.what());
        return kFailed;
    }
}

} // namespace asterope
