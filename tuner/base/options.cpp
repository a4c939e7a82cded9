// The options of a command, declared without the header of CLI11.
#include "base/options.hpp"

#include <CLI/CLI.hpp>

#include "base/command_line.hpp"
#include "base/option_checks.hpp"

namespace asterope {

AddedOption& AddedOption::required() {
    option_->required();
    return *this;
}

AddedOption& AddedOption::shows_default() {
    option_->capture_default_str();
    return *this;
}

AddedOption& AddedOption::not_empty() {
    option_->check(asterope::not_empty());
    return *this;
}

AddedOption& AddedOption::whole_number() {
    option_->check(asterope::whole_number());
    return *this;
}

AddedOption& AddedOption::within(int least, int most) {
    option_->check(CLI::Range(least, most));
    return *this;
}

AddedOption& AddedOption::within(double least, double most) {
    option_->check(CLI::Range(least, most));
    return *this;
}

AddedOption& AddedOption::separated_by_commas() {
    option_->delimiter(',');
    return *this;
}

AddedOption& AddedOption::value_may_be_missing() {
    option_->expected(0, 1);
    return *this;
}

AddedOption& AddedOption::may_be_repeated() {
    option_->allow_extra_args(false)->expected(1)->multi_option_policy(
        CLI::MultiOptionPolicy::TakeAll);
    return *this;
}

AddedOption& AddedOption::excludes(const AddedOption& other) {
    option_->excludes(other.option_);
    return *this;
}

AddedOption& AddedOption::needs(const AddedOption& other) {
    option_->needs(other.option_);
    return *this;
}

template <class Value>
AddedOption add_option(CLI::App& app, const std::string& names, Value& value,
                       const std::string& help, const std::string& type) {
    CLI::Option* const option = app.add_option(names, value, help);
    if (!type.empty()) option->type_name(type);
    return AddedOption(option);
}
template AddedOption add_option(CLI::App&, const std::string&, std::string&, const std::string&,
                                const std::string&);
template AddedOption add_option(CLI::App&, const std::string&, std::vector<std::string>&,
                                const std::string&, const std::string&);
template AddedOption add_option(CLI::App&, const std::string&, int&, const std::string&,
                                const std::string&);
template AddedOption add_option(CLI::App&, const std::string&, unsigned&, const std::string&,
                                const std::string&);
template AddedOption add_option(CLI::App&, const std::string&, std::optional<double>&,
                                const std::string&, const std::string&);

AddedOption add_flag(CLI::App& app, const std::string& names, bool& value,
                     const std::string& help) {
    return AddedOption(app.add_flag(names, value, help));
}

AddedOption add_cpu(CLI::App& app, int& cpu, const std::string& help) {
    return add_option(app, "--cpu", cpu,
                      help.empty() ? "run on this CPU instead of the last one allowed" : help, "N")
        .whole_number();
}

void mark_as_expert(CLI::App& app, std::initializer_list<const char*> names) {
    for (const char* name : names) app.get_option(name)->group("Expert options");
}

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& help) {
    return app.add_subcommand(name, help);
}

bool was_named(const CLI::App& command) {
    return command.parsed();
}

CommandLine::CommandLine(const std::string& name, const std::string& description,
                         const std::string& version, const std::string& footer)
    : app_(std::make_shared<CLI::App>(description, name)) {
    app_->set_version_flag("--version", version);
    app_->footer(footer);
}

bool CommandLine::parse(int argc, char** argv) {
    return asterope::parse(*app_, argc, argv);
}

bool CommandLine::has(const std::string& option) const {
    return app_->count(option) > 0;
}

std::vector<std::string> CommandLine::given() const {
    std::vector<std::string> names;
    for (const CLI::Option* option : app_->get_options()) {
        if (option->count() > 0) names.push_back(option->get_name());
    }
    return names;
}

} // namespace asterope
