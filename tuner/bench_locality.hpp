// asterope-bench locality: what copy and move cost once the data they leave behind is used.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace asterope {

/// Adds the subcommand; it has been chosen where `chosen()` is true after parsing, and `run()` runs
/// it then.
struct LocalityCommand {
    std::function<bool()> chosen;
    std::function<void()> run;
};
LocalityCommand add_locality_command(CLI::App& app);

} // namespace asterope
