// The options of `asterope-tune check`.
#include "check/command.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "base/option_checks.hpp"
#include "check/check.hpp"

namespace asterope {

Subcommand add_check(CLI::App& app) {
    const auto request = std::make_shared<CheckRequest>();
    CLI::App* const command =
        app.add_subcommand("check", "say whether a profile still fits this machine: exit code 0 "
                                    "fits, 3 stale, 2 unusable");
    command
        ->add_option("PROFILE", request->profile,
                     "the profile (default: your own, $XDG_CONFIG_HOME/asterope/profile.json, else "
                     "/etc/asterope/profile.json)")
        ->check(not_empty());
    CLI::Option* settled = command->add_flag(
        "--settled", request->settled,
        "a profile that is provisional, as too much disturbed its search, counts as stale, too");
    CLI::Option* measures = command->add_flag(
        "--measure", request->measure,
        "also time its copies again, beside libc and their runners-up (20 s at "
        "most): what that says, in the last line, decides, unless the processor is "
        "another or too little could be timed");
    measures->excludes(settled);
    command
        ->add_option("--cpu", request->cpu,
                     "with --measure: run on this CPU instead of the last one allowed")
        ->type_name("N")
        ->check(whole_number())
        ->needs(measures);
    return {command, [request] { return check(*request); }};
}

} // namespace asterope
