// The commands' common part: declaring options, reading the command line, and errors in one
// line. It does not include the header of CLI11, which takes longer to compile than most sources
// that declare an option.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"

namespace CLI {
class App;
}

namespace asterope {

/// Where the value of an option goes; of a flag, a bool. It must outlive the parsing.
using OptionValue = std::variant<std::string*, std::vector<std::string>*, int*, unsigned*,
                                 std::uint64_t*, std::optional<double>*, bool*>;

/// The properties of an option beyond its name, value and help.
struct OptionRules {
    bool required = false, shows_default = false;
    bool not_empty = false; ///< "" would count as an option that was not given
    /// 64 bits: CLI11 alone takes -1 and 2^64 for unsigned numbers, and an empty text for 0.
    bool whole_number = false;
    bool separated_by_commas = false, value_may_be_missing = false;
    bool may_be_repeated = false; ///< with one value each
    std::optional<std::pair<double, double>> within = {};
    std::vector<const char*> excludes = {}, needs = {}; ///< other options, added before: "--cpu"
};

/// `names`: "-o,--output", or the name of an argument without dashes. `type`: its value's name in
/// --help.
void add_option(CLI::App& app, const std::string& names, OptionValue value, const std::string& help,
                const std::string& type = "", const OptionRules& rules = {});

/// --cpu, of a command that runs on one.
void add_cpu(CLI::App& app, int& cpu, const OptionRules& rules = {},
             const std::string& help = "run on this CPU instead of the last one allowed");

/// Puts these options, "--seed", under a heading of their own in --help: most users do not need
/// them.
void mark_as_expert(CLI::App& app, std::initializer_list<const char*> names);

/// A subcommand.
CLI::App& add_command(CLI::App& app, const std::string& name, const std::string& help);

/// A subcommand, and the function that runs once its options are read. `run` may return the
/// program's exit code; else that is kDone.
struct Subcommand {
    template <class Run> Subcommand(CLI::App& command, Run does) : app(&command) {
        if constexpr (std::is_void_v<std::invoke_result_t<Run>>) {
            run = [does] { return does(), static_cast<int>(kDone); };
        } else {
            run = does;
        }
    }

    CLI::App* app;
    std::function<int()> run;
};

/// A program's command line.
class CommandLine {
  public:
    /// `version`: the text of --version; `footer`: below the options of --help.
    CommandLine(const std::string& name, const std::string& description, const std::string& version,
                const std::string& footer);
    CLI::App& app() { return *app_; }

    /// Reads it. False where it only asked for help or the version, which is printed then. Throws
    /// BadInput for words that it does not understand.
    bool parse(int argc, char** argv);
    /// Whether the option was given.
    bool has(const std::string& option) const;
    /// Runs the one of its subcommands that was named, and returns the exit code; empty where none
    /// was. Throws BadInput where an option stands before it.
    std::optional<int> run_named(const std::vector<Subcommand>& subcommands) const;

  private:
    std::shared_ptr<CLI::App> app_; ///< shared: its deleter needs no definition of CLI::App here
};

/// Runs a command. Exceptions and interrupts become one line on stderr and its exit code (see
/// end_on_interrupts).
int run_command(const char* name, const std::function<int()>& command);

/// The same of exceptions alone.
int exit_code_of(const char* name, const std::function<int()>& command);

} // namespace asterope
