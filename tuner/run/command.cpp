// The options of asterope-tune's own run, and of `asterope-tune replay`.
#include "run/command.hpp"

#include <memory>
#include <sys/stat.h>

#include "base/error.hpp"
#include "machine/cpu.hpp"
#include "machine/numa.hpp"
#include "machine/profile_places.hpp"
#include "run/references.hpp"
#include "search/objective.hpp"
#include "space/candidates.h"

namespace asterope {

namespace {

/// The options as given. The flags set fields of the request, see request_of().
struct Options {
    TuningRequest request;
    bool for_system = false, for_user = false, interleave = false;
};

void add_places(CLI::App& app, Options& options) {
    add_option(app, "-o,--output", &options.request.output,
               "where the profile goes; the routine lands beside it", "FILE",
               {.shows_default = true});
    add_option(app, "--system", &options.for_system,
               "write it to /etc/asterope/profile.json, for all users, and render nothing", "",
               {.excludes = {"--output"}});
    add_option(app, "--user", &options.for_user,
               "write it to $XDG_CONFIG_HOME/asterope/profile.json (~/.config/...), which "
               "goes before the system's, and render nothing",
               "", {.excludes = {"--output", "--system"}});
    add_option(
        app, "--fresh", &options.request.fresh,
        "ignore the profile that is there, and replace it even if it came of a more rigorous "
        "search; without this, an equal or better search's choices stand unless clearly beaten");
}

void add_aims(CLI::App& app, TuningRequest& request) {
    add_option(
        app, "--rigor", &request.options.rigor,
        "quick, standard (some minutes), or exhaustive (every combination of the paper's axes "
        "at every size, the other axes around the best)",
        "LEVEL", {.shows_default = true});
    add_option(app, "--workload", &request.options.workload, tunable_text(), "NAME",
               {.shows_default = true});
    add_option(app, "--operations", &request.operations,
               "the functions to tune: memcpy (with memmove and mempcpy), or memset, too", "LIST",
               {.shows_default = true, .not_empty = true});
    add_option(
        app, "--sizes", &request.sizes,
        "transfer sizes, from 128 up, K, M, G for powers of 1024 (default: powers of two to "
        "128K, every second one to 32M, 64M, and around each cache's size; exhaustive: powers of "
        "two to 64M, 256M, too; quick: every second one to 32M, or to 8M beside a large cache)",
        "LIST", {.not_empty = true});
    add_option(app, "--space", &request.options.space,
               "parameter space: paper, or extended by transfer block, page interleaving, "
               "prefetchw, direction and movdir64b",
               "NAME", {.shows_default = true});
    add_option(app, "--reference", &request.references,
               "a shared object with one more memcpy and memset, such as a newer glibc's; "
               "functions of other names are named behind it; winners are judged by the best of "
               "libc and the references; may be repeated",
               kReferenceForm, {.may_be_repeated = true});
    add_option(
        app, "--threads", &request.options.threads,
        "the most threads that share a copy; 1: copies are not shared (default: one for each "
        "CPU allowed, at most 64)",
        "N", {.within = {{1, ASTEROPE_MOST_THREADS}}});
    add_option(app, "--source-map", &request.options.source_map,
               "map the sources from this file or device (FILE[:OFFSET[:LENGTH]]), read-only",
               "MAP", {.not_empty = true});
    add_option(app, "--recording", &request.recording,
               "the sizes of small copies that a program has, as asterope-record wrote them",
               "FILE", {.not_empty = true});
    add_option(app, "--without", &request.options.without,
               std::string("do without these CPU features: ") + kFeatureExamples[0] + ", " +
                   kFeatureExamples[1] +
                   ", ... (comma-separated); sensing: without copies that first probe "
                   "whether their data is cached",
               "FEATURES", {.separated_by_commas = true});
}

void add_course(CLI::App& app, Options& options) {
    TuningRequest& request = options.request;
    add_option(app, "--log", &request.log,
               "write every sample there, one JSON object a line, and keep it (default: to "
               "PROFILE.trials, and remove it once the search is complete)",
               "FILE", {.not_empty = true});
    add_option(app, "--resume", &request.resume,
               "go on with the log of a run that was cut short; all options as in that run");
    add_option(app, "--time-budget", &request.time_budget,
               "stop timing after so long (90s, 10m, 1.5h) and write the findings so far", "TIME",
               {.not_empty = true});
    add_cpu(app, request.cpu);
    add_option(
        app, "--interleave", &options.interleave,
        "buffers on all NUMA nodes in turn, page by page, as numactl -i all has it (default: "
        "on the node of the CPU that times)");
    add_option(app, "--seed", &request.seed, "of the order of samples", "N",
               {.shows_default = true, .whole_number = true});
}

void add_output(CLI::App& app, Options& options) {
    add_option(app, "--verbose", &options.request.verbose,
               "count the candidates by axis, print every kind's table instead of the rows, and "
               "say where the time went");
    add_option(app, "--no-generate", &options.request.no_generate, "stop after the profile");
    add_option(
        app, "--strict", &options.request.strict,
        "exit with 1 where the compiled routine, which it needs, loses to libc or a reference "
        "in the exam at the end, or cannot be examined",
        "", {.excludes = {"--no-generate", "--system", "--user"}});
    add_option(app, "--quiet", &options.request.quiet, "print errors only");
}

/// Writes a profile for all users into a place that all may read, despite the caller's umask.
void write_to(const std::filesystem::path& place, TuningRequest& request) {
    if (place.empty()) throw BadInput("--user: neither XDG_CONFIG_HOME nor HOME names a folder");
    if (place == system_profile()) umask(022);
    request.output = place.string();
    request.makes_folder = request.no_generate = true;
}

TuningRequest request_of(Options& options) {
    TuningRequest& request = options.request;
    if (options.for_system) write_to(system_profile(), request);
    if (options.for_user) write_to(user_profile(), request);
    if (options.interleave) interleave_memory(read_numa_nodes(0));
    request.options.sensing = std::erase(request.options.without, "sensing") == 0;
    return request;
}

} // namespace

std::function<TuningRequest()> add_tuning(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    add_places(app, *options);
    add_aims(app, options->request);
    add_course(app, *options);
    add_output(app, *options);
    mark_as_expert(app, {"--space", "--reference", "--source-map", "--without", "--log", "--cpu",
                         "--interleave", "--seed"});
    return [options] { return request_of(*options); };
}

Subcommand add_replay(CLI::App& app) {
    const auto log = std::make_shared<std::string>();
    const auto request = std::make_shared<TuningRequest>();
    CLI::App& command =
        add_command(app, "replay",
                    "derive the profile anew from the whole log of a run, without timing anything");
    add_option(command, "LOG", log.get(), "the log", "", {.required = true});
    add_option(command, "-o,--output", &request->output, "where the profile goes", "FILE",
               {.required = true, .not_empty = true});
    add_option(command, "--verbose", &request->verbose, "print every kind's table, not the rows");
    add_option(command, "--quiet", &request->quiet, "print errors only");
    add_option(command, "--no-generate", &request->no_generate, "stop after the profile");
    return {command, [log, request] { replay_run(*log, *request); }};
}

} // namespace asterope
