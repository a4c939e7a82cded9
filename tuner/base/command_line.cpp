// What the commands share: reading the command line, and errors in one line.
#include "base/command_line.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <new>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/help_json.hpp"
#include "base/interrupt.hpp"
#include "base/nearest_word.hpp"

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
        const auto found = std::find_if(commands.begin(), commands.end(),
                                        [&](const auto* one) { return one->get_name() == word; });
        if (found != commands.end()) {
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

bool parse(CLI::App& app, int argc, char** argv) {
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
