// asterope-tune: finds the fastest copy of each size on this machine and writes the profile.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "affinity.hpp"
#include "arena.hpp"
#include "atomic_file.hpp"
#include "clock.hpp"
#include "distribution.hpp"
#include "error.hpp"
#include "interrupt.hpp"
#include "libc_copy.hpp"
#include "live_timings.hpp"
#include "machine.hpp"
#include "mix.hpp"
#include "profile.hpp"
#include "progress.hpp"
#include "result_table.hpp"
#include "run_generator.hpp"
#include "search.hpp"
#include "size_text.hpp"
#include "small_search.hpp"
#include "space.hpp"
#include "trial_log.hpp"
#include "verify.hpp"
#include "version.hpp"
#include "workload.hpp"

namespace asterope {
namespace {

struct Options {
    std::string output = "asterope-profile.json";
    std::string rigor = "standard";
    std::string workload = "balanced";
    std::string sizes = "128,256,512,1K,2K,4K,8K,16K,32K,64K,128K,256K,512K,1M,2M,4M,8M,16M,32M";
    std::string space = "paper";
    std::string log;
    int cpu = -1;
    std::uint64_t seed = 1;
    bool quiet = false, no_generate = false, list_space = false;
    std::string check;
    std::string small = "balanced", distribution;
    std::vector<std::string> without;
};

void say(const Options& options, const std::string& text) {
    if (!options.quiet) std::cout << text << std::flush;
}

nlohmann::json log_header(const Options& options, const nlohmann::json& machine,
                          const SearchFacts& facts) {
    return {{"format", "asterope-trials"},  {"version", 1},
            {"tool_version", kVersion},     {"machine", machine},
            {"space", options.space},       {"candidates", facts.candidates},
            {"workload", options.workload}, {"rigor", options.rigor},
            {"seed", options.seed},         {"started", facts.started}};
}

/// Whether this CPU has a feature and may use it: `without` lists beginnings of names.
class Features {
  public:
    /// Throws BadInput for what no feature's name begins with.
    Features(const Cpu& cpu, const std::vector<std::string>& without)
        : cpu_(cpu), without_(without) {
        std::vector<std::string> names = cpu.features;
        for (std::size_t i = 0; i < asterope_variant_count; ++i) {
            names.push_back(asterope_variants[i].needs);
        }
        for (const std::string& beginning : without) {
            const bool known = std::any_of(names.begin(), names.end(), [&](const auto& name) {
                return !beginning.empty() && name.rfind(beginning, 0) == 0;
            });
            if (!known) {
                throw BadInput("--without '" + beginning.substr(0, 40) +
                               "' is no CPU feature: name one as /proc/cpuinfo does, or the "
                               "beginning of several, like avx512");
            }
        }
    }

    bool operator()(std::string_view feature) const {
        return has_feature(cpu_, feature) &&
               std::none_of(without_.begin(), without_.end(), [&](const std::string& beginning) {
                   return feature.substr(0, beginning.size()) == beginning;
               });
    }

  private:
    const Cpu& cpu_;
    const std::vector<std::string>& without_;
};

/// The indices that are not in `invalid`; what is, is noted and warned of.
template <class Name>
std::vector<Entrant> valid_entrants(std::size_t count, const std::vector<Invalid>& invalid,
                                    const Name& name, SearchFacts& facts) {
    std::vector<Entrant> entrants(count);
    std::iota(entrants.begin(), entrants.end(), 0);
    for (const Invalid& fault : invalid) {
        std::erase(entrants, static_cast<Entrant>(fault.index));
        facts.invalid.emplace_back(name(fault.index), fault.reason);
    }
    if (!invalid.empty()) {
        std::fprintf(stderr, "warning: %zu candidates copy wrongly and are left out (%s: %s)\n",
                     invalid.size(), name(invalid.front().index).c_str(),
                     invalid.front().reason.c_str());
    }
    return entrants;
}

/// The winner that copies of `size` bytes take.
const Candidate& winner_for(std::size_t size, const std::vector<Candidate>& space,
                            const std::vector<SizeResult>& results) {
    const auto found = std::find_if(results.begin(), results.end(),
                                    [&](const SizeResult& result) { return result.size >= size; });
    const SizeResult& result = found == results.end() ? results.back() : *found;
    return space[static_cast<std::size_t>(result.finalists.front().candidate)];
}

/// Times and writes the profile; the options have been checked for what CLI11 can check.
void tune(const Options& options) {
    const std::vector<Workload> workloads = parse_workload(options.workload);
    const Weights small_weights = parse_small_weights(options.small);
    const Rigor rigor = parse_rigor(options.rigor);
    const std::vector<std::size_t> sizes = parse_size_list(options.sizes);
    if (options.space != "paper") {
        throw BadInput("space '" + options.space.substr(0, 40) + "' is unknown: choose paper");
    }
    if (sizes.front() < kMinimumBytes) {
        throw BadInput("size " + format_size(sizes.front()) + " is below " +
                       format_size(kMinimumBytes) + ", where the pipelines begin");
    }
    const CallStatistics statistics =
        options.distribution.empty() ? fleet_statistics() : read_statistics(options.distribution);
    require_writable(options.output);
    catch_interrupts();

    const auto begin = std::chrono::steady_clock::now();
    SearchFacts facts;
    facts.started = utc_now();
    facts.workload = options.workload;
    facts.rigor = rigor.name;
    facts.seed = options.seed;
    facts.without = options.without;

    const Machine machine = read_machine();
    const Features features(machine.cpu, options.without);
    const nlohmann::json machine_json = to_json(machine);
    facts.warnings = measurement_warnings(machine);
    for (const std::string& warning : facts.warnings) {
        if (!options.quiet) std::fprintf(stderr, "warning: %s\n", warning.c_str());
    }
    facts.cpu = pin_to_cpu(options.cpu);

    const std::vector<Candidate> space = paper_space(features);
    SmallFacts small{statistics.name, options.small, small_space(features), {}};
    AliasedFacts aliased{aliased_space(features), {}, {}};
    facts.candidates = space.size();
    say(options, machine.cpu.brand + ", " + machine.libc + ", CPU " + std::to_string(facts.cpu) +
                     "; " + std::to_string(space.size()) + " candidates a size, " +
                     std::to_string(small.space.size()) + " small copies, " + rigor.name +
                     " search, workload " + options.workload + "\n");

    // Before the buffers are taken: the child processes of the verification stay small.
    const std::vector<Entrant> entrants = valid_entrants(
        space.size(), verify(space), [&](auto i) { return space[i].name(); }, facts);
    const std::vector<Entrant> small_entrants = valid_entrants(
        small.space.size(), verify(small.space, space.front().variant->copy),
        [&](auto i) { return small_name(*small.space[i]); }, facts);

    for (const Invalid& fault : verify(aliased.space)) {
        facts.invalid.emplace_back(std::string("aliased ") + aliased.space[fault.index]->kind +
                                       ' ' + aliased.space[fault.index]->rt,
                                   fault.reason);
        aliased.space.clear(); // not worth a search without it
        break;
    }

    start_clock(machine.cpu.invariant_tsc);
    const std::size_t largest = sizes.back();
    const Arena arena(arena_bytes(largest, machine));
    Stopwatch stopwatch(arena, largest);
    MixStopwatch mix(arena, machine, statistics, kLargestMixed, options.seed);
    double expected_seconds = 0;
    for (const std::size_t size : sizes) {
        for (const Workload workload : workloads) {
            throw_if_interrupted();
            stopwatch.calibrate(size, workload, trial_seconds(workload));
            expected_seconds += static_cast<double>(planned_trials(rigor, space)) *
                                stopwatch.trial_seconds(size, workload);
        }
    }

    std::unique_ptr<TrialLog> log;
    if (!options.log.empty()) {
        log = std::make_unique<TrialLog>(options.log, log_header(options, machine_json, facts));
    }
    Progress progress(expected_seconds, options.quiet);
    std::mt19937_64 random(options.seed);

    LiveTimings timings(
        {[&](std::size_t size, Workload workload, Entrant entrant, std::uint64_t round) {
             if (entrant < 0) return stopwatch.time(libc_copy(), 0, size, workload, round);
             const Candidate& candidate = space[static_cast<std::size_t>(entrant)];
             return stopwatch.time(candidate.variant->copy, candidate.distance(), size, workload,
                                   round);
         },
         [&](Entrant entrant) { return space[static_cast<std::size_t>(entrant)].name(); },
         [&](std::size_t size, Workload workload) { return stopwatch.calls(size, workload); }},
        progress, log.get());
    std::vector<SizeResult> results;
    Entrant neighbour = kLibc;
    for (const std::size_t size : sizes) {
        progress.label(format_size(size));
        results.push_back(
            search_size(space, entrants, size, workloads, rigor, neighbour, random, timings));
        neighbour = results.back().finalists.front().candidate;
    }

    // Last, as small copies hand what is above their bound to these winners.
    progress.label("small copies");
    const Candidate& large = winner_for(kLargestMixed, space, results);
    LiveTimings small_timings(
        {[&](std::size_t, Workload workload, Entrant entrant, std::uint64_t round) {
             if (entrant < 0) return mix.time(libc_mix_copy(), workload, round);
             return mix.time({small.space[static_cast<std::size_t>(entrant)]->copy,
                              large.distance(), large.variant->copy},
                             workload, round);
         },
         [&](Entrant entrant) {
             return small_name(*small.space[static_cast<std::size_t>(entrant)]);
         },
         [&](std::size_t, Workload workload) { return MixStopwatch::calls(workload); }},
        progress, log.get());
    small.result = search_small(small_entrants, small_weights, rigor, random, small_timings);

    progress.label("aliasing buffers");
    std::vector<std::size_t> aliased_sizes;
    for (const std::size_t size : sizes) {
        if (size < kAliasedMinimum || size > kAliasedMaximum || aliased.space.empty()) continue;
        // A matter of cached buffers: where memory is waited for, or written past the caches, a
        // load that is held up costs nothing, and the copies in question would be the wrong ones.
        if (std::find(workloads.begin(), workloads.end(), Workload::hot) == workloads.end())
            continue;
        if (std::string_view(winner_for(size, space, results).variant->st) == "NT") continue;
        aliased_sizes.push_back(size);
    }
    std::size_t aliased_trials = 0;
    for (const std::size_t size : aliased_sizes) {
        const Candidate& pipeline = winner_for(size, space, results);
        LiveTimings aliased_timings(
            {[&](std::size_t, Workload workload, Entrant entrant, std::uint64_t round) {
                 if (entrant < 0) return stopwatch.time(libc_copy(), 0, size, workload, round);
                 if (entrant == 0) {
                     return stopwatch.time(pipeline.variant->copy, pipeline.distance(), size,
                                           workload, round);
                 }
                 return stopwatch.time(aliased.space[static_cast<std::size_t>(entrant) - 1]->copy,
                                       0, size, workload, round);
             },
             [&](Entrant entrant) {
                 if (entrant == 0) return pipeline.name();
                 const auto& variant = *aliased.space[static_cast<std::size_t>(entrant) - 1];
                 return std::string(variant.kind) + ' ' + variant.rt;
             },
             [&](std::size_t, Workload workload) { return stopwatch.calls(size, workload); }},
            progress, log.get());
        aliased.sizes.push_back(
            search_aliased(aliased.space.size(), size, rigor, random, aliased_timings));
        aliased_trials += aliased_timings.trials();
    }
    aliased.choice = choose_aliased(aliased.sizes);
    progress.clear();

    facts.finished = utc_now();
    facts.trials = timings.trials() + small_timings.trials() + aliased_trials;
    facts.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const auto profile = make_profile(machine_json, facts, space, results, small, aliased);
    write_atomically(options.output, profile.dump(2) + '\n');
    say(options, "\n" + result_table(space, results) + "\n" + small_table(small) + "\n" +
                     aliased_table(aliased) + "\n" + std::to_string(facts.trials) + " trials in " +
                     format_duration(facts.seconds) + "; profile: " + options.output + "\n");
    if (!options.no_generate) {
        const std::filesystem::path folder = std::filesystem::path(options.output).parent_path();
        run_generator(options.output, folder.empty() ? "." : folder, options.quiet);
    }
}

void list_space(const Options& options) {
    const Machine machine = read_machine();
    const Features features(machine.cpu, options.without);
    std::cout << describe_space(paper_space(features))
              << "small copies: " << small_space(features).size() << " candidates\n";
}

/// Exit code: 0 the profile fits this machine, 3 it does not.
int check(const std::string& path) {
    const nlohmann::json profile = read_profile(path);
    std::vector<std::string> reasons;
    if (profile.value("architecture", nlohmann::json()) != kArchitecture) {
        reasons.push_back("architecture: it is for another than " + std::string(kArchitecture));
    }
    for (std::string& reason : fingerprint_differences(
             profile.value("machine", nlohmann::json::object()), to_json(read_machine()))) {
        reasons.push_back(std::move(reason));
    }
    if (reasons.empty()) {
        std::cout << path << " fits this machine\n";
        return kDone;
    }
    std::cout << path << " is stale:\n";
    for (const std::string& reason : reasons) std::cout << "  " << reason << '\n';
    return kStale;
}

int run(int argc, char** argv) {
    Options options;
    CLI::App app("Finds the fastest memory copy of each size on this machine, writes the winners "
                 "to a profile and renders them as C.",
                 "asterope-tune");
    app.set_version_flag("--version", std::string("asterope-tune ") + kVersion);
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
    app.add_option("-o,--output", options.output,
                   "where the profile goes; the routine lands beside it")
        ->type_name("FILE")
        ->capture_default_str();
    app.add_option(
           "--rigor", options.rigor,
           "quick (about a minute), standard, or exhaustive (every candidate at every size)")
        ->type_name("LEVEL")
        ->capture_default_str();
    app.add_option("--workload", options.workload,
                   "hot: both sides cached; cold: neither; balanced: the geometric mean of both")
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--sizes", options.sizes,
                   "transfer sizes, from 128 up, K, M, G for powers of 1024")
        ->type_name("LIST")
        ->capture_default_str();
    app.add_option("--space", options.space, "parameter space: paper")
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--small", options.small,
                   "what small copies are tuned for: unpredictable sizes, predictable ones, or "
                   "balanced: both, the former counting double")
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--distribution", options.distribution,
                   "sizes and alignments of small copies, instead of those of Google's fleet")
        ->type_name("FILE");
    app.add_option("--without", options.without,
                   "do without these CPU features: avx512, avx2, ... (comma-separated)")
        ->type_name("FEATURES")
        ->delimiter(',');
    app.add_option("--log", options.log, "write every trial there, one JSON object a line")
        ->type_name("FILE");
    app.add_option("--cpu", options.cpu, "run on this CPU instead of the last one allowed")
        ->type_name("N")
        ->check(whole_number);
    app.add_option("--seed", options.seed, "of the order of trials")
        ->type_name("N")
        ->check(whole_number)
        ->capture_default_str();
    app.add_flag("--quiet", options.quiet, "print errors only");
    app.add_flag("--no-generate", options.no_generate, "stop after the profile");
    app.add_flag("--list-space", options.list_space, "count the candidates by axis and stop");
    CLI::App* check_command =
        app.add_subcommand("check", "say whether a profile still fits this machine: exit code 0 "
                                    "fits, 3 stale, 2 unusable");
    check_command->add_option("PROFILE", options.check, "the profile")->required();
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& success) {
        return app.exit(success); // --help, --version
    } catch (const CLI::ParseError& error) {
        throw BadInput(std::string(error.what()) + "; see asterope-tune --help");
    }
    if (check_command->parsed()) return check(options.check);
    if (options.list_space) {
        list_space(options);
    } else {
        tune(options);
    }
    return kDone;
}

} // namespace
} // namespace asterope

int main(int argc, char** argv) {
    try {
        return asterope::run(argc, argv);
    } catch (const asterope::Error& error) {
        std::fprintf(stderr, "asterope-tune: %s\n", error.what());
        return error.exit_code();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "asterope-tune: %s\n", error.what());
        return asterope::kFailed;
    }
}
