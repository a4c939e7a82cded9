// What the commands share: reading the command line, and errors in one line.
#include "command_line.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "error.hpp"
#include "help_json.hpp"

namespace asterope {

bool parse(CLI::App& app, int argc, char** argv) {
    bool as_json = false;
    app.add_flag("--help-json", as_json)->group(""); // hidden: it is for the build
    try {
        app.parse(argc, argv);
        if (as_json) std::puts(help_json(app).dump(2).c_str());
        return !as_json;
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
