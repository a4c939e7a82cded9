// CLI11 does the parsing. Its errors are rewritten into one line that says what to do.
#include "base/command_line.hpp"

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdio>
#include <new>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"

namespace asterope {

namespace {

using nlohmann::json;

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_group().empty()) continue; // hidden
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
        for (const std::string& name : option->get_snames()) names.push_back('-' + name);
    }
    return names;
}

/// Guesses the meaning of the first unknown option or command: " (did you mean --rigor?)", or
/// empty.
std::string hint_for_unknown(const CLI::App& app) {
    const std::vector<std::string> unknown = app.remaining(true);
    if (unknown.empty()) return "";
    const CLI::App* current = &app;
    while (!current->get_subcommands().empty()) current = current->get_subcommands().back();
    std::vector<std::string> known = option_names(*current);
    for (const CLI::App* command : current->get_subcommands({})) {
        known.push_back(command->get_name());
    }
    const std::string meant = nearest_word(unknown[0].substr(0, unknown[0].find('=')), known);
    return meant.empty() ? "" : " (did you mean " + meant + "?)";
}

// The checks of options' values, beyond CLI11's own.
CLI::Validator whole_number() {
    return {[](const std::string& text) {
                std::uint64_t number = 0;
                const char* end = text.data() + text.size();
                const auto [rest, error] = std::from_chars(text.data(), end, number);
                const bool good = error == std::errc() && rest == end;
                return good ? "" : "'" + text.substr(0, 40) + "' is not a whole number of 64 bits";
            },
            ""};
}

CLI::Validator not_empty() {
    return {[](const std::string& text) { return text.empty() ? "must not be empty" : ""; }, ""};
}

/// CLI11 2.1 leaves the usage and the descriptions in one line each, of up to a thousand
/// characters.
class WrappedHelp : public CLI::Formatter {
  public:
    std::string make_option_desc(const CLI::Option* option) const override {
        return lines(option->get_description(), kWidth - column_width_);
    }
    std::string make_subcommand(const CLI::App* command) const override {
        std::string out = "  " + command->get_name();
        out.resize(std::max(column_width_, out.size() + 1), ' ');
        const std::string text = lines(command->get_description(), kWidth - column_width_);
        for (const char c : text)
            out += c == '\n' ? '\n' + std::string(column_width_, ' ') : std::string(1, c);
        return out + '\n';
    }
    std::string make_description(const CLI::App* app) const override {
        return lines(CLI::Formatter::make_description(app), kWidth) + '\n';
    }
    std::string make_usage(const CLI::App* app, std::string name) const override {
        return wrapped(CLI::Formatter::make_usage(app, std::move(name)), kWidth, "       ");
    }
    std::string make_footer(const CLI::App* app) const override {
        return app->get_footer().empty() ? "" : lines(app->get_footer(), kWidth) + '\n';
    }

  private:
    static constexpr std::size_t kWidth = 80; ///< of a terminal

    static std::string lines(const std::string& text, std::size_t width) {
        std::string all = wrapped(text, width, "");
        all.pop_back(); // the end of its last line
        return all;
    }
};

json option_json(const CLI::Option& option) {
    json names = json::array();
    for (const std::string& name : option.get_snames()) names.push_back('-' + name);
    for (const std::string& name : option.get_lnames()) names.push_back("--" + name);

    // CLI11 appends the check of a range: "N:INT in [1 - 64]".
    std::string argument = option.get_type_name(), limits;
    if (const auto range = argument.find(" in ["); range != std::string::npos) {
        limits = argument.substr(range + 5, argument.size() - range - 6);
        argument.resize(argument.rfind(':', range));
    }
    if (names.empty()) argument = option.get_name(true);
    std::string value = option.get_default_str();
    if (value.size() > 1 && value.front() == '[') value = value.substr(1, value.size() - 2);

    json out;
    out["names"] = std::move(names);
    out["place"] = option.get_positional() ? json(option.get_name(true)) : json();
    out["argument"] = option.get_expected_max() ? json(argument) : json();
    out["limits"] = limits.empty() ? json() : json(limits);
    out["default"] = value.empty() ? json() : json(value);
    out["description"] = option.get_description();
    out["expert"] = option.get_group() == "Expert options";
    out["choices"] = nullptr;
    out["list"] = option.get_delimiter() != '\0';
    out["required"] = option.get_required();
    // One with a delimiter counts as repeated, too: its values may be given one by one.
    out["repeats"] = option.get_expected_max() > 1 && option.get_delimiter() == '\0';
    return out;
}

/// The contents of --help, as JSON: man pages and completion are made from it.
///
/// The command and each subcommand have `name`, `description`, `epilog` (text below the options),
/// `options` and `commands`. Each option, positional ones included, has:
///
/// - `names`: "-o", "--output"; empty where it is positional only.
/// - `place`: its name as a positional one, or null.
/// - `argument`: the name of its value; null for a flag.
/// - `limits` ("1 - 64"), `default`, `description`: each may be null.
/// - `expert`: it is listed apart, as most users do not need it.
/// - `choices`: null where they are not known. `list`: values are separated by commas.
/// - `required`, `repeats`.
///
/// Hidden ones are left out. scripts/asterope/command_line.py writes the same of the Python
/// commands.
json help_json(const CLI::App& app) {
    json out = {{"name", app.get_name()},
                {"description", app.get_description()},
                {"epilog", app.get_footer()},
                {"options", json::array()},
                {"commands", json::array()}};
    for (const CLI::Option* option : app.get_options({})) {
        if (!option->get_group().empty()) out["options"].push_back(option_json(*option));
    }
    for (const CLI::App* command : app.get_subcommands({})) {
        if (!command->get_group().empty()) out["commands"].push_back(help_json(*command));
    }
    return out;
}

} // namespace

void add_option(CLI::App& app, const std::string& names, OptionValue value, const std::string& help,
                const std::string& type, const OptionRules& rules) {
    CLI::Option* const option = std::visit(
        [&](auto* place) {
            if constexpr (std::is_same_v<decltype(place), bool*>) {
                return app.add_flag(names, *place, help);
            } else {
                return app.add_option(names, *place, help);
            }
        },
        value);
    if (!type.empty()) option->type_name(type);
    if (rules.required) option->required();
    if (rules.not_empty) option->check(not_empty());
    if (rules.whole_number) option->check(whole_number());
    if (rules.within) {
        const auto [least, most] = *rules.within;
        const bool fractions = std::holds_alternative<std::optional<double>*>(value);
        option->check(fractions ? CLI::Range(least, most)
                                : CLI::Range(static_cast<int>(least), static_cast<int>(most)));
    }
    if (rules.separated_by_commas) option->delimiter(',');
    if (rules.value_may_be_missing) option->expected(0, 1);
    if (rules.may_be_repeated) {
        option->allow_extra_args(false)->expected(1)->multi_option_policy(
            CLI::MultiOptionPolicy::TakeAll);
    }
    for (const char* other : rules.excludes) option->excludes(app.get_option(other));
    for (const char* other : rules.needs) option->needs(app.get_option(other));
    if (rules.shows_default) option->capture_default_str();
}

void add_cpu(CLI::App& app, int& cpu, const OptionRules& rules, const std::string& help) {
    OptionRules all = rules;
    all.whole_number = true;
    add_option(app, "--cpu", &cpu, help, "N", all);
}

void mark_as_expert(CLI::App& app, std::initializer_list<const char*> names) {
    for (const char* name : names) app.get_option(name)->group("Expert options");
}

CLI::App& add_command(CLI::App& app, const std::string& name, const std::string& help) {
    return *app.add_subcommand(name, help);
}

CommandLine::CommandLine(const std::string& name, const std::string& description,
                         const std::string& version, const std::string& footer)
    : app_(std::make_shared<CLI::App>(description, name)) {
    app_->option_defaults()->disable_flag_override(); // else it takes --quiet=no and --quiet=3
    app_->set_version_flag("--version", version);
    app_->footer(footer);
    app_->formatter(std::make_shared<WrappedHelp>());
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
        const std::string hint = unknown ? hint_for_unknown(app) : "";
        std::string said = error.what();
        const auto value = said.find(" was given a disallowed flag override");
        if (value != std::string::npos) said.replace(value, std::string::npos, " takes no value");
        throw BadInput(said + hint + "; see " + app.get_name() + " --help");
    }
}

bool CommandLine::has(const std::string& option) const {
    return app_->count(option) > 0;
}

std::optional<int> CommandLine::run_named(const std::vector<Subcommand>& subcommands) const {
    const auto named =
        std::ranges::find_if(subcommands, [](const Subcommand& one) { return one.app->parsed(); });
    if (named == subcommands.end()) return std::nullopt;
    for (const CLI::Option* option : app_->get_options()) {
        if (option->count() == 0) continue; // the subcommand would pass over it in silence
        throw BadInput(option->get_name() +
                       " stands before the command: its options stand behind it, see " +
                       app_->get_name() + " COMMAND --help");
    }
    return named->run();
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
