// The command line of a tuning run, what asterope-tune does without a subcommand.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace asterope {

/// Adds the options of a tuning run. What is returned does it, once they are read, and returns the
/// program's exit code; `app` must live until then.
std::function<int()> add_tuning(CLI::App& app);

} // namespace asterope
