// The tuning run: verifies, times, searches, writes the profile and renders the routine.
#include "tuning.hpp"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "affinity.hpp"
#include "aliased_search.hpp"
#include "atomic_file.hpp"
#include "clock.hpp"
#include "cpu.hpp"
#include "error.hpp"
#include "features.hpp"
#include "interrupt.hpp"
#include "machine.hpp"
#include "plan.hpp"
#include "profile.hpp"
#include "progress.hpp"
#include "result_table.hpp"
#include "run_generator.hpp"
#include "searches.hpp"
#include "spaces.hpp"
#include "version.hpp"

namespace asterope {

namespace {

nlohmann::json log_header(const TuningRequest& request, const nlohmann::json& machine,
                          const SearchFacts& facts) {
    return {{"format", "asterope-trials"},  {"version", 1},
            {"tool_version", kVersion},     {"machine", machine},
            {"space", request.space},       {"candidates", facts.candidates},
            {"workload", request.workload}, {"weights", request.weights},
            {"rigor", request.rigor},       {"seed", request.seed},
            {"started", facts.started}};
}

} // namespace

void tune(const TuningRequest& request) {
    const Machine machine = read_machine();
    const Plan plan(request, machine);
    const auto say = [&](const std::string& text) {
        if (!request.quiet) std::cout << text << std::flush;
    };
    catch_interrupts();

    const auto begin = std::chrono::steady_clock::now();
    SearchFacts facts;
    facts.started = utc_now();
    facts.space = request.space;
    facts.source_map = request.source_map;
    facts.rigor = plan.rigor.name;
    facts.seed = request.seed;
    facts.without = request.without;

    const nlohmann::json machine_json = to_json(machine);
    const Features features(machine.cpu, request.without);
    facts.warnings = measurement_warnings(machine);
    for (const std::string& warning : facts.warnings) {
        if (!request.quiet) std::fprintf(stderr, "warning: %s\n", warning.c_str());
    }
    facts.cpu = pin_to_cpu(request.cpu);
    facts.sensing = plan.sensing && plan.objective.weights.size() > 1 && counter_serves_copies();
    const Spaces spaces(features, plan.extended, facts.sensing);
    facts.invalid = spaces.invalid;
    facts.candidates = spaces.entrants.size();
    say(machine.cpu.brand + ", " + machine.libc + ", CPU " + std::to_string(facts.cpu) + "; " +
        std::to_string(facts.candidates) + " candidates a size" +
        (plan.extended ? " and the extension axes" : "") + ", " +
        std::to_string(spaces.small_space.size()) + " small copies, " + plan.rigor.name +
        " search, workload " + plan.objective.name + "\n");

    start_clock(machine.cpu.invariant_tsc);
    PipelineFacts pipelines;
    SmallFacts small{plan.statistics.name, request.small, spaces.small_space, {}};
    AliasedFacts aliased{spaces.aliased_space, {}, {}};
    {
        Searches searches(plan, spaces, machine, request.seed, request.quiet);
        if (!request.log.empty()) {
            searches.log_to(request.log, log_header(request, machine_json, facts));
        }
        pipelines = searches.pipelines();
        small.result = searches.small_copies(pipelines);
        aliased.sizes = searches.aliased_copies(pipelines);
        facts.trials = searches.trials();
    }
    aliased.choice = choose_aliased(aliased.sizes);

    facts.finished = utc_now();
    facts.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const auto profile = make_profile(machine_json, facts, spaces.space, pipelines, small, aliased);
    write_atomically(request.output, profile.dump(2) + '\n');
    for (const std::string& table :
         {result_table(spaces.space, pipelines), sensing_table(pipelines), intents_table(pipelines),
          axes_table(pipelines), small_table(small), aliased_table(aliased)}) {
        if (!table.empty()) say('\n' + table);
    }
    say('\n' + std::to_string(facts.trials) + " trials in " + format_duration(facts.seconds) +
        "; profile: " + request.output + '\n');
    if (!request.no_generate) {
        const std::filesystem::path folder = std::filesystem::path(request.output).parent_path();
        run_generator(request.output, folder.empty() ? "." : folder, request.quiet);
    }
}

} // namespace asterope
