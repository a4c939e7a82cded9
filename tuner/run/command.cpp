// The options of asterope-tune's own run, and of `asterope-tune replay`.
#include "run/command.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <sys/stat.h>

#include "base/error.hpp"
#include "base/option_checks.hpp"
#include "base/watched_run.hpp"
#include "machine/cpu.hpp"
#include "machine/profile_places.hpp"
#include "run/plan.hpp"
#include "run/tuning.hpp"
#include "search/objective.hpp"
#include "space/candidates.h"
#include "space/space.hpp"

namespace asterope {

namespace {

/// As given; what is not in the request decides what it becomes.
struct Options {
    TuningRequest request;
    bool for_system = false, for_user = false;
};

void add_places(CLI::App& app, Options& options) {
    CLI::Option* output = app.add_option("-o,--output", options.request.output,
                                         "where the profile goes; the routine lands beside it")
                              ->type_name("FILE")
                              ->capture_default_str();
    CLI::Option* system_flag =
        app.add_flag("--system", options.for_system,
                     "write it to /etc/asterope/profile.json, for all users, and render nothing")
            ->excludes(output);
    app.add_flag("--user", options.for_user,
                 "write it to $XDG_CONFIG_HOME/asterope/profile.json (~/.config/...), which "
                 "goes before the system's, and render nothing")
        ->excludes(output)
        ->excludes(system_flag);
    app.add_flag("--force", options.request.force,
                 "replace a profile that came of a more rigorous search of this machine");
}

void add_aims(CLI::App& app, TuningRequest& request) {
    app.add_option("--rigor", request.rigor,
                   "quick, standard (some minutes), or exhaustive (every candidate at every size)")
        ->type_name("LEVEL")
        ->capture_default_str();
    app.add_option("--workload", request.workload, tunable_text())
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--operations", request.operations,
                   "what is tuned: memcpy (with memmove and mempcpy), or memset, too")
        ->type_name("LIST")
        ->check(not_empty())
        ->capture_default_str();
    app.add_option("--sizes", request.sizes,
                   "transfer sizes, from 128 up, K, M, G for powers of 1024 (default: powers of "
                   "two to 32M, and around each cache's size)")
        ->type_name("LIST")
        ->check(not_empty());
    app.add_option("--space", request.space,
                   "parameter space: paper, or extended by transfer block, page interleaving, "
                   "prefetchw, direction and movdir64b")
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--reference", request.references,
                   "a shared object with one more memcpy and memset that winners are judged by, "
                   "such as a newer glibc's, their names behind it where they are others: what "
                   "counts is the better of libc and the references; may be repeated")
        ->type_name(kReferenceForm)
        ->allow_extra_args(false)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_option("--threads", request.threads,
                   "the most threads for copies that are shared among several; 1: none are "
                   "(default: as many "
                   "as there are CPUs allowed)")
        ->type_name("N")
        ->check(CLI::Range(1, ASTEROPE_MOST_THREADS));
    app.add_option("--source-map", request.source_map,
                   "map the sources from this file or device (FILE[:OFFSET[:LENGTH]]), read-only")
        ->type_name("MAP")
        ->check(not_empty());
    app.add_option("--recording", request.recording,
                   "sizes of small copies as a program has them: what asterope-record wrote")
        ->type_name("FILE")
        ->check(not_empty());
    app.add_option("--without", request.without,
                   std::string("do without these CPU features: ") + kFeatureExamples[0] + ", " +
                       kFeatureExamples[1] +
                       ", ... (comma-separated); sensing: without copies that probe where their "
                       "data is before they go on")
        ->type_name("FEATURES")
        ->delimiter(',');
}

void add_course(CLI::App& app, TuningRequest& request) {
    app.add_option("--log", request.log,
                   "write every trial there, one JSON object a line, and keep it (default: beside "
                   "the profile, as PROFILE.trials, until that is written)")
        ->type_name("FILE")
        ->check(not_empty());
    app.add_flag("--resume", request.resume,
                 "go on with the log of a run that was cut short; all options as in that run");
    app.add_option("--time-budget", request.time_budget,
                   "stop timing after so long (90s, 10m, 1.5h) and write what was found until then")
        ->type_name("TIME")
        ->check(not_empty());
    app.add_option("--cpu", request.cpu, "run on this CPU instead of the last one allowed")
        ->type_name("N")
        ->check(whole_number());
    app.add_option("--seed", request.seed, "of the order of trials")
        ->type_name("N")
        ->check(whole_number())
        ->capture_default_str();
}

void add_output(CLI::App& app, Options& options) {
    app.add_flag(
        "--verbose", options.request.verbose,
        "count the candidates by axis, print every table, not only the routine's rows, and "
        "say where the time went");
    app.add_flag("--strict", options.request.strict,
                 "exit with 1 where the compiled routine loses to libc or a reference in the exam "
                 "at the end, or cannot be examined");
    app.add_flag("--quiet", options.request.quiet, "print errors only");
    app.add_flag("--no-generate", options.request.no_generate, "stop after the profile");
}

/// A profile for all lies where all may read it, whatever the caller's umask.
void write_to(const std::filesystem::path& place, TuningRequest& request) {
    if (place.empty()) throw BadInput("--user: neither XDG_CONFIG_HOME nor HOME names a folder");
    if (place == system_profile()) umask(022);
    request.output = place.string();
    request.makes_folder = request.no_generate = true;
}

int run(Options& options) {
    TuningRequest& request = options.request;
    if (options.for_system) write_to(system_profile(), request);
    if (options.for_user) write_to(user_profile(), request);
    request.no_sensing = std::erase(request.without, "sensing") > 0;
    const auto search = [&] {
        tune(request);
        return static_cast<int>(kDone);
    };
    if (request.references.empty()) return search();
    return run_watched({"asterope-tune", "interrupted; the same command with --resume goes on",
                        "leave it out, or repair it, and remove the log " + log_of(request) +
                            ", which is of no use without it"},
                       search);
}

} // namespace

std::function<int()> add_tuning(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    add_places(app, *options);
    add_aims(app, options->request);
    add_course(app, options->request);
    add_output(app, *options);
    mark_as_expert(app, {"--force", "--space", "--reference", "--source-map", "--without", "--log",
                         "--cpu", "--seed"});
    return [options] { return run(*options); };
}

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
