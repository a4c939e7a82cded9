// The subcommands of asterope-bench that time copies inside applications.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace asterope {

struct AppCommand {
    CLI::App* parser; ///< parsed() where the command line names it
    std::function<void()> run;
};

AppCommand add_cache_command(CLI::App& app);
AppCommand add_locality_command(CLI::App& app);
AppCommand add_messages_command(CLI::App& app);

} // namespace asterope
