// What --help says, as JSON: man pages and completion are made from it.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace CLI {
class App;
}

namespace asterope {

/// The command and its subcommands. Of each: `name`, `description`, `epilog` (text below the
/// options), `options` and `commands`. Of each option, positional ones included: `names` ("-o",
/// "--output"; empty where it is positional only), `place` (its name as a positional one, or null),
/// `argument` (what its value is called; null for a flag), `limits` ("1 - 64", or null), `default`
/// (or null), `description`, `expert` (listed apart, as most users do not need it), `choices` (or
/// null where they are not known), `list` (values are separated by commas), `required`, `repeats`.
/// Hidden ones are left out. scripts/asterope/command_line.py writes the same of the Python
/// commands.
nlohmann::json help_json(const CLI::App& app);

} // namespace asterope
