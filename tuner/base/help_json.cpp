// What --help says, as JSON: man pages and completion are made from it.
#include "base/help_json.hpp"

#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

namespace asterope {
namespace {

using nlohmann::json;

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

} // namespace

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

} // namespace asterope
