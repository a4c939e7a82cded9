// What the commands share: declaring their options, reading the command line, and errors in one
// line. Without the header of CLI11, which takes longer to compile than most sources that declare
// an option.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace asterope {

/// An option that was added; each function says more of it.
class AddedOption {
  public:
    explicit AddedOption(CLI::Option* option) : option_(option) {}
    AddedOption& required();
    AddedOption& shows_default();
    /// Anything but the empty text, which would count as an option that was not given.
    AddedOption& not_empty();
    /// A whole number of 64 bits: CLI11 alone takes -1 and 2^64 for unsigned numbers, and nothing
    /// at all for 0.
    AddedOption& whole_number();
    AddedOption& within(int least, int most);
    AddedOption& within(double least, double most);
    AddedOption& separated_by_commas();
    AddedOption& value_may_be_missing();
    AddedOption& may_be_repeated(); ///< with one value each
    AddedOption& excludes(const AddedOption& other);
    AddedOption& needs(const AddedOption& other);

  private:
    CLI::Option* option_;
};

/// `names`: "-o,--output", or the name of an argument without dashes. `type`: what its value is
/// called in --help. The value must outlive the parsing.
template <class Value>
AddedOption add_option(CLI::App& app, const std::string& names, Value& value,
                       const std::string& help, const std::string& type = "");
extern template AddedOption add_option(CLI::App&, const std::string&, std::string&,
                                       const std::string&, const std::string&);
extern template AddedOption add_option(CLI::App&, const std::string&, std::vector<std::string>&,
                                       const std::string&, const std::string&);
extern template AddedOption add_option(CLI::App&, const std::string&, int&, const std::string&,
                                       const std::string&);
extern template AddedOption add_option(CLI::App&, const std::string&, unsigned&, const std::string&,
                                       const std::string&);
extern template AddedOption add_option(CLI::App&, const std::string&, std::optional<double>&,
                                       const std::string&, const std::string&);
AddedOption add_flag(CLI::App& app, const std::string& names, bool& value, const std::string& help);

/// --cpu, of a command that runs on one.
AddedOption add_cpu(CLI::App& app, int& cpu, const std::string& help = "");

/// Puts these options, "--seed", under a heading of their own in --help: most users need none of
/// them.
void mark_as_expert(CLI::App& app, std::initializer_list<const char*> names);

/// A subcommand.
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& help);
bool was_named(const CLI::App& command); ///< in the command line

/// A program's command line.
class CommandLine {
  public:
    /// `version`: what --version prints; `footer`: below the options of --help.
    CommandLine(const std::string& name, const std::string& description, const std::string& version,
                const std::string& footer);
    CLI::App& app() { return *app_; }

    /// Reads it. False where it only asked for help or the version, which is printed then. Throws
    /// BadInput for what it does not understand.
    bool parse(int argc, char** argv);
    /// Whether the option was given.
    bool has(const std::string& option) const;
    /// The options that were given to the program itself, not to a subcommand of it: "--rounds".
    std::vector<std::string> given() const;

  private:
    std::shared_ptr<CLI::App> app_; ///< shared: deletes what is not known here
};

/// A subcommand, and what it does once its options are read: returns the program's exit code.
struct Subcommand {
    CLI::App* app;
    std::function<int()> run;
};

/// Runs a command; what it throws becomes one line on stderr and its exit code, and so does what
/// interrupts it (see end_on_interrupts).
int run_command(const char* name, const std::function<int()>& command);

/// The same without what interrupts it.
int exit_code_of(const char* name, const std::function<int()>& command);

} // namespace asterope
