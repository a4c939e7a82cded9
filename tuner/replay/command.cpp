// The options of `asterope-tune replay`.
#include "replay/command.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "base/error.hpp"
#include "base/option_checks.hpp"
#include "run/tuning.hpp"

namespace asterope {

Subcommand add_replay(CLI::App& app) {
    const auto log = std::make_shared<std::string>();
    const auto request = std::make_shared<TuningRequest>();
    CLI::App* const command = app.add_subcommand(
        "replay", "derive the profile anew from the whole log of a run, without timing anything");
    command->add_option("LOG", *log, "the log; it may be gzipped")->required();
    command->add_option("-o,--output", request->output, "where the profile goes")
        ->type_name("FILE")
        ->check(not_empty())
        ->required();
    command->add_option("--log", request->log, "write a log of the replay there")
        ->type_name("FILE")
        ->check(not_empty());
    command->add_flag("--resume", request->resume,
                      "with --log: go on with that log, as a run would");
    command->add_flag("--force", request->force,
                      "replace a profile that came of a more rigorous search");
    command->add_flag("--verbose", request->verbose, "print every table");
    command->add_flag("--quiet", request->quiet, "print errors only");
    command->add_flag("--no-generate", request->no_generate, "stop after the profile");
    return {command, [log, request] {
                replay_run(*log, *request);
                return kDone;
            }};
}

} // namespace asterope
