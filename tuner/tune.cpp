// asterope-tune: the command line of the tuner.
#include <CLI/CLI.hpp>

#include <charconv>
#include <iostream>
#include <sys/stat.h>

#include "base/command_line.hpp"
#include "base/error.hpp"
#include "check/check.hpp"
#include "diagnose/diagnose.hpp"
#include "machine/machine.hpp"
#include "machine/profile_places.hpp"
#include "merge/merge.hpp"
#include "replay/replay.hpp"
#include "run/thin.hpp"
#include "run/tuning.hpp"
#include "search/aliased_search.hpp"
#include "search/shard.hpp"
#include "search/small_search.hpp"
#include "space/features.hpp"
#include "space/space.hpp"
#include "version/version_text.hpp"

namespace asterope {
namespace {

void list_space(const std::vector<std::string>& without) {
    const Machine machine = read_machine();
    const Features features(machine.cpu, without);
    std::cout << describe_space(paper_space(features), extension_variants(features))
              << "small copies: " << copies_of(asterope_small_copies, features).size()
              << " candidates\n";
}

/// A profile for all lies where all may read it, whatever the caller's umask.
void write_to(const std::filesystem::path& place, TuningRequest& request) {
    if (place.empty()) throw BadInput("--user: neither XDG_CONFIG_HOME nor HOME names a folder");
    if (place == system_profile()) umask(022);
    request.output = place.string();
    request.makes_folder = request.no_generate = true;
}

int run(int argc, char** argv) {
    TuningRequest request;
    bool list = false;
    bool for_system = false, for_user = false;
    CLI::App app("Finds the fastest memory copy of each size on this machine, writes the winners "
                 "to a profile and renders them as C.",
                 "asterope-tune");
    app.set_version_flag("--version", version_text("asterope-tune"));
    app.footer("Exit codes: 0 done; 1 failed while running; 2 bad arguments or bad input; 3 the "
               "profile is stale; 130 interrupted.");
    // CLI11 alone takes -1 and 2^64 for unsigned numbers, and nothing at all for 0.
    const CLI::Validator whole_number(
        [](const std::string& text) {
            std::uint64_t number = 0;
            const char* end = text.data() + text.size();
            const auto [rest, error] = std::from_chars(text.data(), end, number);
            const bool good = error == std::errc() && rest == end;
            return good ? "" : "'" + text.substr(0, 40) + "' is no whole number of 64 bits";
        },
        "");
    // What is empty would count as not given.
    const CLI::Validator not_empty(
        [](const std::string& text) { return text.empty() ? "must not be empty" : ""; }, "");
    CLI::Option* output = app.add_option("-o,--output", request.output,
                                         "where the profile goes; the routine lands beside it")
                              ->type_name("FILE")
                              ->capture_default_str();
    CLI::Option* system_flag =
        app.add_flag("--system", for_system,
                     "write it to /etc/asterope/profile.json, for all users, and render nothing")
            ->excludes(output);
    CLI::Option* user_flag =
        app.add_flag("--user", for_user,
                     "write it to $XDG_CONFIG_HOME/asterope/profile.json (~/.config/...), which "
                     "goes before the system's, and render nothing")
            ->excludes(output)
            ->excludes(system_flag);
    app.add_flag("--force", request.force,
                 "replace a profile that came of a more rigorous search of this machine");
    app.add_option("--rigor", request.rigor,
                   "quick, standard (some minutes), or exhaustive (every candidate at every size)")
        ->type_name("LEVEL")
        ->capture_default_str();
    app.add_option("--workload", request.workload, tunable_text())
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--weights", request.weights,
                   "a mix of workloads of your own, such as hot=1,consume=2")
        ->type_name("LIST")
        ->check(not_empty);
    app.add_option("--sizes", request.sizes,
                   "transfer sizes, from 128 up, K, M, G for powers of 1024 (default: powers of "
                   "two to 32M, and around each cache's size)")
        ->type_name("LIST")
        ->check(not_empty);
    app.add_option("--space", request.space,
                   "parameter space: paper, or extended by transfer block, page interleaving, "
                   "prefetchw, direction and movdir64b")
        ->type_name("NAME")
        ->capture_default_str();
    app.add_flag("--no-sensing", request.no_sensing,
                 "no copies that probe where their data is before they go on");
    app.add_option("--threads", request.threads,
                   "the most threads for copies that are shared among several; 1: none are "
                   "(default: as many "
                   "as there are CPUs allowed)")
        ->type_name("N")
        ->check(CLI::Range(1, ASTEROPE_MOST_THREADS));
    app.add_option("--source-map", request.source_map,
                   "map the sources from this file or device (FILE[:OFFSET[:LENGTH]]), read-only")
        ->type_name("MAP")
        ->check(not_empty);
    app.add_option("--small", request.small,
                   "what small copies are tuned for: unpredictable sizes, predictable ones, or "
                   "balanced: both, the former counting double")
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--distribution", request.distribution,
                   "sizes and alignments of small copies, instead of those of Google's fleet")
        ->type_name("FILE")
        ->check(not_empty);
    app.add_option("--without", request.without,
                   "do without these CPU features: avx512, avx2, ... (comma-separated)")
        ->type_name("FEATURES")
        ->delimiter(',');
    app.add_option("--log", request.log,
                   "write every trial there, one JSON object a line, and keep it (default: beside "
                   "the profile, as PROFILE.trials, until that is written)")
        ->type_name("FILE")
        ->check(not_empty);
    app.add_flag("--resume", request.resume,
                 "go on with the log of a run that was cut short; all options as in that run");
    app.add_option("--time-budget", request.time_budget,
                   "stop timing after so long (90s, 10m, 1.5h) and write what was found until then")
        ->type_name("TIME")
        ->check(not_empty);
    app.add_option("--shard", request.shard,
                   "only this share of the search: that of the I-th of N equal machines; `merge` "
                   "joins the profiles (default of -o: asterope-profile.I-of-N.json)")
        ->type_name("I/N")
        ->check(not_empty)
        // Alone a share is nobody's profile: it would stand in for that of the whole machine.
        ->excludes(system_flag)
        ->excludes(user_flag);
    app.add_option("--cpu", request.cpu, "run on this CPU instead of the last one allowed")
        ->type_name("N")
        ->check(whole_number);
    app.add_option("--seed", request.seed, "of the order of trials")
        ->type_name("N")
        ->check(whole_number)
        ->capture_default_str();
    app.add_flag("--timings", request.timings, "say where the time went");
    app.add_flag("--verbose", request.verbose, "print every table, not only the routine's rows");
    app.add_flag("--quiet", request.quiet, "print errors only");
    app.add_flag("--no-generate", request.no_generate, "stop after the profile");
    app.add_flag("--list-space", list, "count the candidates by axis and stop");
    mark_as_expert(app, {"--force", "--weights", "--space", "--no-sensing", "--source-map",
                         "--small", "--distribution", "--without", "--log", "--shard", "--cpu",
                         "--seed", "--timings", "--list-space"});
    CLI::App* check_command =
        app.add_subcommand("check", "say whether a profile still fits this machine: exit code 0 "
                                    "fits, 3 stale, 2 unusable");
    CheckRequest checked;
    check_command
        ->add_option("PROFILE", checked.profile,
                     "the profile (default: your own, $XDG_CONFIG_HOME/asterope/profile.json, else "
                     "/etc/asterope/profile.json)")
        ->check(not_empty);
    CLI::Option* settled = check_command->add_flag(
        "--settled", checked.settled,
        "a profile that is provisional, as too much disturbed its search, counts as stale, too");
    CLI::Option* measures = check_command->add_flag(
        "--measure", checked.measure,
        "also time its copies again, beside libc and their runners-up (20 s at "
        "most): what that says decides, unless the processor is another");
    measures->excludes(settled);
    check_command
        ->add_option("--cpu", checked.cpu,
                     "with --measure: run on this CPU instead of the last one allowed")
        ->type_name("N")
        ->check(whole_number)
        ->needs(measures);
    DiagnosisRequest diagnosis;
    CLI::App* diagnose_command = app.add_subcommand(
        "diagnose", "measure what the pitfalls of memory benchmarks do to copies here");
    diagnose_command->add_option("PROFILE", diagnosis.profile,
                                 "compare its winners, too; without it libc alone");
    diagnose_command->add_option("--json", diagnosis.json, "write all figures there")
        ->type_name("FILE");
    diagnose_command
        ->add_option("--cpu", diagnosis.cpu, "run on this CPU instead of the last one allowed")
        ->type_name("N")
        ->check(whole_number);
    diagnose_command->add_flag("--quick", diagnosis.quick, "fewer rounds: some seconds in all");
    diagnose_command
        ->add_option("--only", diagnosis.only, "only these sections: " + section_names())
        ->type_name("NAMES")
        ->delimiter(',');
    ReplayRequest replayed;
    CLI::App* replay_command = app.add_subcommand(
        "replay", "run searches against the log of an exhaustive one instead of the machine: what "
                  "each costs, and how good its winners are");
    replay_command->add_option("LOG", replayed.log, "the log, or what `thin` made of it")
        ->required();
    replay_command->add_option("--rigor", replayed.rigors, "these searches only")
        ->type_name("LEVELS")
        ->delimiter(',')
        ->capture_default_str();
    replay_command
        ->add_option("--workload", replayed.workload,
                     "what winners are chosen for (default: as the log's were)")
        ->type_name("NAME")
        ->check(not_empty);
    replay_command
        ->add_option("--weights", replayed.weights, "a mix of workloads, such as hot=1,consume=2")
        ->type_name("LIST")
        ->check(not_empty);
    replay_command
        ->add_option("--space", replayed.space, "paper or extended (default: as the log's)")
        ->type_name("NAME")
        ->check(not_empty);
    replay_command->add_option("--seeds", replayed.seeds, "how often each is run")
        ->type_name("N")
        ->check(whole_number)
        ->capture_default_str();
    replay_command->add_option("--json", replayed.json, "write all figures there")
        ->type_name("FILE")
        ->check(not_empty);
    TuningRequest derived;
    derived.output.clear();
    CLI::Option* derive =
        replay_command
            ->add_option("-o,--output", derived.output,
                         "instead, derive the profile anew from the whole log of a run")
            ->type_name("FILE")
            ->check(not_empty);
    replay_command->add_option("--log", derived.log, "with -o: write a log of the replay there")
        ->type_name("FILE")
        ->check(not_empty)
        ->needs(derive);
    replay_command
        ->add_flag("--resume", derived.resume, "with --log: go on with that log, as a run would")
        ->needs(derive);
    replay_command
        ->add_flag("--force", derived.force,
                   "with -o: replace a profile that came of a more rigorous search")
        ->needs(derive);
    replay_command->add_flag("--verbose", derived.verbose, "with -o: print every table")
        ->needs(derive);
    replay_command->add_flag("--quiet", derived.quiet, "with -o: print errors only")->needs(derive);
    replay_command
        ->add_flag("--no-generate", derived.no_generate, "with -o: stop after the profile")
        ->needs(derive);
    ThinRequest thinned;
    CLI::App* thin_command = app.add_subcommand(
        "thin", "make the log of an exhaustive search small: some samples of each candidate");
    thin_command->add_option("LOG", thinned.log, "the log")->required();
    thin_command->add_option("-o,--output", thinned.output, "where it goes, gzipped")
        ->type_name("FILE")
        ->required();
    thin_command->add_option("--sizes", thinned.sizes, "these of its sizes only (default: all)")
        ->type_name("LIST")
        ->check(not_empty);
    thin_command
        ->add_option("--samples", thinned.samples,
                     "at most so many of each candidate, size and workload")
        ->type_name("N")
        ->check(whole_number)
        ->capture_default_str();
    MergeRequest merged;
    CLI::App* merge_command = app.add_subcommand(
        "merge", "join the shards of one search, or make from searches on several machines of one "
                 "type their common best");
    merge_command
        ->add_option("INPUTS", merged.inputs,
                     "of shards: profiles or trial logs; of several machines: trial logs")
        ->required();
    merge_command->add_option("-o,--output", merged.output, "where the profile goes")
        ->type_name("FILE")
        ->check(not_empty)
        ->required();
    merge_command->add_flag("--quiet", merged.quiet, "print errors only");
    if (!parse(app, argc, argv)) return kDone;
    if (merge_command->parsed()) {
        merge(merged);
        return kDone;
    }
    if (replay_command->parsed()) {
        if (derived.output.empty()) {
            replay(replayed);
        } else {
            replay_run(replayed.log, derived);
        }
        return kDone;
    }
    if (thin_command->parsed()) {
        thin(thinned);
        return kDone;
    }
    if (diagnose_command->parsed()) {
        diagnose(diagnosis);
        return kDone;
    }
    if (check_command->parsed()) return check(checked);
    if (for_system) write_to(system_profile(), request);
    if (for_user) write_to(user_profile(), request);
    if (list) {
        list_space(request.without);
    } else {
        if (!request.shard.empty() && !app.count("--output")) {
            // On a file system that the machines share they would all write the same.
            const Shard shard = parse_shard(request.shard);
            request.output = "asterope-profile." + std::to_string(shard.index) + "-of-" +
                             std::to_string(shard.count) + ".json";
        }
        tune(request);
    }
    return kDone;
}

} // namespace
} // namespace asterope

int main(int argc, char** argv) {
    return asterope::run_command("asterope-tune", [&] { return asterope::run(argc, argv); });
}
