// What the commands share: declaring their options, reading the command line, and errors in one
// line.
#include "base/command_line.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <new>
#include <nlohmann/json.hpp>

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/help_json.hpp"
#include "base/interrupt.hpp"
#include "base/nearest_word.hpp"
#include "base/option_checks.hpp"

namespace asterope {

namespace {

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_group().empty()) continue; // hidden
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
        for (const std::string& name : option->get_snames()) names.push_back('-' + name);
    }
    return names;
}

/// What the first unknown option or command may be meant to be: " (did you mean --rigor?)", or
/// empty.
std::string hint_for_unknown(const CLI::App& app, int argc, char** argv) {
    const CLI::App* current = &app;
    const auto hint = [](const std::string& word, const std::vector<std::string>& known) {
        const std::string meant = nearest_word(word, known);
        return meant.empty() ? "" : " (did you mean " + meant + "?)";
    };
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word.size() > 1 && word[0] == '-') {
            const bool is_long = word[1] == '-';
            const std::string name = word.substr(0, is_long ? word.find('=') : 2);
            const CLI::Option* option = current->get_option_no_throw(name);
            if (!option) return hint(is_long ? name : word, option_names(*current));
            const bool has_value = is_long ? name.size() < word.size() : word.size() > 2;
            if (option->get_items_expected_max() > 0 && !has_value) ++i;
            continue;
        }
        const std::vector<const CLI::App*> commands = current->get_subcommands({});
        if (const auto* found = find_in(commands, word, &CLI::App::get_name)) {
            current = *found;
        } else if (!commands.empty()) {
            std::vector<std::string> names;
            for (const CLI::App* command : commands) names.push_back(command->get_name());
            return hint(word, names);
        }
    }
    return "";
}

} // namespace

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
    CLI::App& app = *app_;
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
        // Where one is missing that must be there, it may be the misspelt one.
        const bool unknown = dynamic_cast<const CLI::ExtrasError*>(&error) ||
                             dynamic_cast<const CLI::RequiredError*>(&error);
        const std::string hint = unknown ? hint_for_unknown(app, argc, argv) : "";
        throw BadInput(std::string(error.what()) + hint + "; see " + app.get_name() + " --help");
    }
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

int run_command(const char* name, const std::function<int()>& command) {
    end_on_interrupts(name);
    return exit_code_of(name, command);
}

int exit_code_of(const char* name, const std::function<int()>& command) {
    try {
        return command();
    } catch (const Error& error) {
        std::fprintf(stderr, "%s: %s\n", name, error.what());
        return error.exit_code();
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "%s: no memory is left for this\n", name);
        return kFailed;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", name, error.what());
        return kFailed;
    }
}

} // namespace asterope
