// A subcommand of asterope-bench: main asks whether it was chosen, and runs it then.
#include "bench/command.hpp"

#include <CLI/CLI.hpp>

#include "base/error.hpp"

namespace asterope {

Command make_command(CLI::App& app, CLI::App& subcommand, std::function<void()> run) {
    return {[&subcommand] { return subcommand.parsed(); },
            [&app, &subcommand, run = std::move(run)] {
                for (const CLI::Option* option : app.get_options()) {
                    if (option->count() == 0) continue;
                    const std::string name = subcommand.get_name();
                    throw BadInput(option->get_name() + " stands before '" + name +
                                   "': its options stand behind it, see asterope-bench " + name +
                                   " --help");
                }
                run();
            }};
}

} // namespace asterope
