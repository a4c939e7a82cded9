// The options of `asterope-tune replay` and `thin`.
#include "replay/command.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "base/error.hpp"
#include "base/option_checks.hpp"
#include "replay/replay.hpp"
#include "run/thin.hpp"
#include "run/tuning.hpp"

namespace asterope {

Subcommand add_replay(CLI::App& app) {
    const auto request = std::make_shared<ReplayRequest>();
    const auto derived = std::make_shared<TuningRequest>();
    derived->output.clear();
    CLI::App* const command = app.add_subcommand(
        "replay", "run searches against the log of an exhaustive one instead of the machine: what "
                  "each costs, and how good its winners are");
    command->add_option("LOG", request->log, "the log, or what `thin` made of it")->required();
    command->add_option("--rigor", request->rigors, "these searches only")
        ->type_name("LEVELS")
        ->delimiter(',')
        ->capture_default_str();
    command
        ->add_option("--workload", request->workload,
                     "what winners are chosen for (default: as the log's were)")
        ->type_name("NAME")
        ->check(not_empty());
    command
        ->add_option("--weights", request->weights, "a mix of workloads, such as hot=1,consume=2")
        ->type_name("LIST")
        ->check(not_empty());
    command->add_option("--space", request->space, "paper or extended (default: as the log's)")
        ->type_name("NAME")
        ->check(not_empty());
    command->add_option("--seeds", request->seeds, "how often each is run")
        ->type_name("N")
        ->check(whole_number())
        ->capture_default_str();
    command->add_option("--json", request->json, "write all figures there")
        ->type_name("FILE")
        ->check(not_empty());
    CLI::Option* derive =
        command
            ->add_option("-o,--output", derived->output,
                         "instead, derive the profile anew from the whole log of a run")
            ->type_name("FILE")
            ->check(not_empty());
    command->add_option("--log", derived->log, "with -o: write a log of the replay there")
        ->type_name("FILE")
        ->check(not_empty())
        ->needs(derive);
    command
        ->add_flag("--resume", derived->resume, "with --log: go on with that log, as a run would")
        ->needs(derive);
    command
        ->add_flag("--force", derived->force,
                   "with -o: replace a profile that came of a more rigorous search")
        ->needs(derive);
    command->add_flag("--verbose", derived->verbose, "with -o: print every table")->needs(derive);
    command->add_flag("--quiet", derived->quiet, "with -o: print errors only")->needs(derive);
    command->add_flag("--no-generate", derived->no_generate, "with -o: stop after the profile")
        ->needs(derive);
    return {command, [request, derived] {
                if (derived->output.empty()) {
                    replay(*request);
                } else {
                    replay_run(request->log, *derived);
                }
                return kDone;
            }};
}

Subcommand add_thin(CLI::App& app) {
    const auto request = std::make_shared<ThinRequest>();
    CLI::App* const command = app.add_subcommand(
        "thin", "make the log of an exhaustive search small: some samples of each candidate");
    command->add_option("LOG", request->log, "the log")->required();
    command->add_option("-o,--output", request->output, "where it goes, gzipped")
        ->type_name("FILE")
        ->required();
    command->add_option("--sizes", request->sizes, "these of its sizes only (default: all)")
        ->type_name("LIST")
        ->check(not_empty());
    command
        ->add_option("--samples", request->samples,
                     "at most so many of each candidate, size and workload")
        ->type_name("N")
        ->check(whole_number())
        ->capture_default_str();
    return {command, [request] {
                thin(*request);
                return kDone;
            }};
}

} // namespace asterope
