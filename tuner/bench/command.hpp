// A subcommand of asterope-bench: main asks whether it was chosen, and runs it then.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace asterope {

struct Command {
    std::function<bool()> chosen; ///< true once the command line was parsed and names it
    std::function<void()> run;
};

/// `subcommand` of `app`. Its run() throws BadInput where options of `app` stand before it: they
/// are options of the tables, and would be passed over in silence.
Command make_command(CLI::App& app, CLI::App& subcommand, std::function<void()> run);

} // namespace asterope
