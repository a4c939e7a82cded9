// asterope-bench: the compiled routine beside libc's memcpy, paired and interleaved.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "affinity.hpp"
#include "arena.hpp"
#include "atomic_file.hpp"
#include "bench_locality.hpp"
#include "bench_report.hpp"
#include "bench_routine.hpp"
#include "bench_workloads.hpp"
#include "clock.hpp"
#include "command_line.hpp"
#include "distribution.hpp"
#include "error.hpp"
#include "interrupt.hpp"
#include "libc_copy.hpp"
#include "machine.hpp"
#include "mix.hpp"
#include "objective.hpp"
#include "paired.hpp"
#include "profile.hpp"
#include "profile_text.hpp"
#include "size_text.hpp"
#include "version.hpp"
#include "workload.hpp"

namespace asterope {
namespace {

struct Options {
    RoutineOptions routine{.rounds = 51};
    std::string profile, workload, sizes, json, distribution;
    std::vector<std::string> suites = {"sizes", "mix"};
};

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Each size under each workload.
void run_sizes(const std::vector<std::size_t>& sizes, const std::vector<Workload>& workloads,
               const Arena& arena, const Machine& machine, CopyFunction routine, Report& report) {
    Stopwatch stopwatch(arena, sizes.back(), last_cache_bytes(machine));
    for (const Workload workload : workloads) {
        report.begin(std::string(name_of(workload)));
        for (const std::size_t size : sizes) {
            stopwatch.calibrate(size, workload, trial_seconds(workload));
            report.row(format_size(size), size, workload,
                       [&](int copy, Workload which, std::uint64_t round) {
                           return stopwatch.time(copy == kRoutine ? routine : libc_copy(), 0, size,
                                                 which, round, company_of(copy));
                       });
        }
        report.end();
    }
}

/// Small copies under MixStopwatch: which of its suites is told by `suites`.
void run_small(const std::vector<std::string>& suites, const CallStatistics& statistics,
               const Arena& arena, const Machine& machine, CopyFunction routine, Report& report) {
    if (!has(suites, "mix") && !has(suites, "fixed")) return;
    MixStopwatch stopwatch(arena, machine, statistics, kLargestMixed, 1);
    const MixCopy ours{reinterpret_cast<asterope_small_candidate>(reinterpret_cast<void*>(routine)),
                       0, nullptr};
    const auto copy_of = [&](int copy) { return copy == kRoutine ? ours : libc_mix_copy(); };
    if (has(suites, "mix")) {
        report.suite("mix");
        report.begin(statistics.name + " mix");
        for (const Workload workload :
             {Workload::mix_l1, Workload::mix_l2, Workload::mix_l3, Workload::mix_l1_read,
              Workload::mix_l2_read, Workload::mix_l3_read}) {
            report.row(std::string(name_of(workload)), 0, workload,
                       [&](int copy, Workload which, std::uint64_t round) {
                           return stopwatch.time(copy_of(copy), which, round);
                       });
        }
        report.end();
    }
    if (!has(suites, "fixed")) return;
    report.suite("fixed");
    for (const Workload workload : {Workload::fixed, Workload::fixed_read}) {
        report.begin(std::string(name_of(workload)));
        for (const std::size_t size : MixStopwatch::fixed_sizes()) {
            report.row(format_size(size), size, workload,
                       [&](int copy, Workload which, std::uint64_t round) {
                           return stopwatch.time_fixed(copy_of(copy), size,
                                                       which == Workload::fixed_read, round);
                       });
        }
        report.end();
    }
}

/// What tuning is for, and what is for measuring only. A mix of weights is measured as balanced.
std::vector<Workload> workloads_of(const std::string& text) {
    if (text == "hot_read") return {Workload::hot_read};
    std::vector<Workload> workloads;
    for (const auto& [workload, weight] :
         parse_objective(text == "weights" ? "balanced" : text, "").weights) {
        workloads.push_back(workload);
    }
    return workloads;
}

void compare(const Options& options) {
    std::vector<std::string> suites = options.suites;
    for (const std::string& suite : suites) {
        if (!has({"workloads", "sizes", "aliased", "mix", "fixed", "all"}, suite)) {
            throw BadInput("suite '" + suite.substr(0, 40) +
                           "' is unknown: choose workloads, sizes, aliased, mix, fixed or all");
        }
    }
    if (has(suites, "all")) suites = {"workloads", "sizes", "aliased", "mix", "fixed"};
    std::string workload = options.workload;
    std::vector<std::size_t> sizes = parse_size_list(
        options.sizes.empty() ? "128,512,2K,8K,32K,128K,512K,2M,8M,32M" : options.sizes);
    // the table of workloads is for reading between two sizes: it has each power of two
    std::vector<std::size_t> table_sizes = sizes;
    if (options.sizes.empty()) {
        table_sizes.clear();
        for (std::size_t size = 128; size <= std::size_t{32} << 20; size *= 2) {
            table_sizes.push_back(size);
        }
    }
    if (!options.profile.empty()) {
        const nlohmann::json profile = read_profile(options.profile);
        const auto search = profile.value("search", nlohmann::json::object());
        if (workload.empty() && search.is_object() && search.contains("workload") &&
            search["workload"].is_string()) {
            workload = search["workload"];
        }
        if (options.sizes.empty()) sizes = table_sizes = profile_sizes(profile);
    }
    if (workload.empty()) workload = "balanced";
    const std::vector<Workload> workloads = workloads_of(workload);
    const CallStatistics statistics =
        options.distribution.empty() ? fleet_statistics() : read_statistics(options.distribution);
    if (!options.json.empty()) require_writable(options.json);
    const CopyFunction routine = load_routine(options.routine);

    const Machine machine = read_machine();
    const int cpu = pin_to_cpu(options.routine.cpu);
    start_clock(machine.cpu.invariant_tsc);
    const Arena arena(arena_bytes(std::max(sizes.back(), table_sizes.back()), machine));
    catch_interrupts();

    std::printf("%s against %s: %d paired rounds, CPU %d. x libc above 1: the routine is faster;\n"
                "floor: libc against itself in the same rounds. Intervals of 95 %% (sign test).\n",
                options.routine.symbol.c_str(), machine.libc.c_str(), options.routine.rounds, cpu);
    Report report(options.routine.rounds);
    if (has(suites, "workloads")) run_workloads(table_sizes, arena, machine, routine, report);
    if (has(suites, "sizes")) {
        report.suite("sizes");
        run_sizes(sizes, workloads, arena, machine, routine, report);
    }
    if (has(suites, "aliased")) {
        report.suite("aliased");
        run_sizes(sizes, {Workload::aliased}, arena, machine, routine, report);
    }
    run_small(suites, statistics, arena, machine, routine, report);
    if (!options.json.empty()) {
        const nlohmann::ordered_json json = {
            {"format", "asterope-bench"},       {"version", 1},
            {"tool_version", kVersion},         {"machine", to_json(machine)},
            {"rounds", options.routine.rounds}, {"distribution", profile_name(statistics.name)},
            {"results", report.results()}};
        write_atomically(options.json, json.dump(2) + '\n');
    }
}

int run(int argc, char** argv) {
    Options options;
    CLI::App app("Times the compiled routine beside libc's memcpy, interleaved in one process.",
                 "asterope-bench");
    app.set_version_flag("--version", std::string("asterope-bench ") + kVersion);
    add_options(app, options.routine);
    app.add_option("--profile", options.profile, "take sizes and workload from this profile")
        ->type_name("FILE");
    app.add_option("--workload", options.workload,
                   "hot, hot_read, cold, consume, produce, or balanced (hot, cold and consume)")
        ->type_name("NAME");
    app.add_option("--suite", options.suites,
                   "comma-separated; workloads: one table of sizes and workloads; sizes: one size "
                   "at a time, by workload; aliased: the same where "
                   "buffers alias modulo 4096; mix: small copies of unpredictable sizes; fixed: of "
                   "one size at a time; all")
        ->type_name("NAMES")
        ->delimiter(',')
        ->capture_default_str();
    app.add_option("--distribution", options.distribution,
                   "sizes and alignments of small copies, instead of those of Google's fleet")
        ->type_name("FILE");
    app.add_option("--sizes", options.sizes, "bytes a call, K, M, G for powers of 1024")
        ->type_name("LIST");
    app.add_option("--json", options.json, "write the results there too")->type_name("FILE");
    const LocalityCommand locality = add_locality_command(app);
    if (!parse(app, argc, argv)) return kDone;
    if (locality.chosen()) {
        locality.run();
        return kDone;
    }
    compare(options);
    return kDone;
}

} // namespace
} // namespace asterope

int main(int argc, char** argv) {
    return asterope::run_command("asterope-bench", [&] { return asterope::run(argc, argv); });
}
