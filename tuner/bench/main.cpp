// asterope-bench: any number of copies side by side, paired and interleaved in one process.
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/atomic_file.hpp"
#include "base/command_line.hpp"
#include "base/contains.hpp"
#include "base/error.hpp"
#include "bench/bench_run.hpp"
#include "bench/files.hpp"
#include "bench/request.hpp"
#include "bench/summary.hpp"
#include "bench/threads.hpp"
#include "machine/affinity.hpp"
#include "machine/machine.hpp"
#include "machine/profile_places.hpp"
#include "timing/arena.hpp"
#include "timing/distribution.hpp"
#include "version/version_text.hpp"

namespace asterope {
namespace {

void say_left_out(const NotTimed& one) {
    std::fprintf(stderr, "asterope-bench: %s is left out: %s\n", one.name.c_str(),
                 Error::one_line(one.reason).c_str());
}

/// Every cell that was measured, in the order of the tables.
using Cells = std::vector<Cell>;

void measure_all(BenchRun& run, std::vector<Suite>& suites, bool brief, Cells& cells) {
    for (Suite& suite : suites) {
        run.begin(brief ? nullptr : suite.table);
        for (const Job& job : suite.jobs) {
            for (Cell& cell : run.measure(job)) cells.push_back(std::move(cell));
        }
        run.end();
    }
}

/// The CPUs to use, beginning with the one that the process is pinned to.
std::vector<int> beginning_with(int cpu, std::vector<int> cpus) {
    std::rotate(cpus.begin(), std::ranges::find(cpus, cpu), cpus.end());
    return cpus;
}

/// Consumes the arena.
void measure_suites(const Options& options, const Request& request, const Setting& setting,
                    std::optional<Arena>& arena, const std::vector<int>& cpus, BenchRun& run,
                    Cells& cells) {
    std::vector<Suite> suites, on_threads;
    for (const NamedSuite& one : kSuites) {
        if (!request.has(one.name)) continue;
        const std::vector<std::size_t>& sizes = request.sizes.at(one.name);
        if (!one.make) {
            on_threads = thread_suites(setting, cpus, sizes);
        } else if (one.name == std::string("overlap") && !setting.contenders.at(1).move) {
            say_left_out({one.name, routine_library(options.routine) +
                                        " has no memmove to go with " + options.routine.symbol()});
        } else {
            std::ranges::move(one.make(setting, *arena, sizes), std::back_inserter(suites));
        }
    }

    for (const std::vector<Suite>* all : {&suites, &on_threads}) {
        for (const Suite& suite : *all) {
            for (const Job& job : suite.jobs) run.plan(run.expected_cost(job));
        }
    }
    measure_all(run, suites, options.brief, cells);
    suites.clear();
    arena.reset(); // its memory is freed for the arenas of the threads
    measure_all(run, on_threads, options.brief, cells);
}

void print_legend(const Contenders& contenders) {
    std::printf("libc: ns a call; others: libc's time over their own; * the best of its row.\n\n");
    int longest = 0;
    for (const Contender& contender : contenders) {
        longest = std::max(longest, static_cast<int>(contender.name.size()));
    }
    for (const Contender& contender : contenders) {
        std::printf("  %-*s  %s\n", longest, contender.name.c_str(), contender.description.c_str());
    }
}

/// libc, or where there are references: "the better of glibc 2.36, glibc-2.41".
std::string rivals_of(const Contenders& contenders, const std::string& libc) {
    std::string rivals = libc;
    for (const Contender& contender : contenders) {
        if (contender.reference) rivals += ", " + contender.name;
    }
    return rivals == libc ? libc : "the better of " + rivals;
}

/// Names the cells under --check. Returns the exit code.
int check(double least, const std::vector<Cell>& cells) {
    const std::vector<std::string> under = cells_under(least, cells);
    for (const std::string& line : under) {
        std::fprintf(stderr, "asterope-bench: %s\n", line.c_str());
    }
    if (under.empty()) return kDone;
    std::fprintf(stderr, "asterope-bench: %zu of %zu cells are under --check %g\n", under.size(),
                 cells.size(), least);
    return kFailed;
}

/// Loads the copies, which may come from any library, and times them. Returns the exit code.
int measure(const Options& options, const Request& request, const CallStatistics& statistics,
            const Machine& machine) {
    const Operation operation = options.routine.operation;
    const std::vector<int> cpus = allowed_cpus();
    const Selection selection = choose(options.peers, options.routine, machine.libc);
    BenchRun run(machine, selection.contenders, options.routine.rounds);
    const int cpu = run.start(options.routine.cpu);
    const std::size_t largest = request.largest_size();
    std::optional<Arena> arena;
    if (largest) arena.emplace(arena_bytes(largest, machine));
    for (const NotTimed& one : selection.left_out) say_left_out(one);

    std::printf(
        options.brief
            ? "%s against %s, %d paired rounds, CPU %d: %s time over its own, "
              "geometric means over sizes\n"
            : "%s against %s: %d paired rounds, CPU %d. x libc above 1: the routine is faster;\n"
              "floor: libc against itself in the same rounds. Intervals of 95 %% (sign test).\n",
        options.routine.symbol().c_str(), rivals_of(selection.contenders, machine.libc).c_str(),
        options.routine.rounds, cpu,
        options.peers.references.empty() ? "libc's" : "in each cell the faster one's");
    const Setting setting{machine, selection.contenders, statistics, request.workloads, operation};
    if (setting.with_peers() && !options.brief) print_legend(selection.contenders);
    std::fflush(stdout);
    Cells cells;
    const auto report = [&](bool complete) {
        // a file of an earlier run is worth more than an empty one
        if (cells.empty() || options.json.empty()) return;
        const RunFacts facts{setting, options.routine.rounds, selection.left_out, run.noise()};
        write_atomically(options.json, results_json(facts, cells, complete).dump(2) + '\n');
    };
    try {
        measure_suites(options, request, setting, arena, beginning_with(cpu, cpus), run, cells);
        require_still_right(selection.contenders, operation);
    } catch (const Error&) {
        report(false);
        throw;
    }
    report(true);
    if (options.brief) {
        std::printf("%s", brief_text(cells, operation).c_str());
    } else if (setting.with_peers()) {
        std::printf("\n%s", summary_text(cells, operation).c_str());
    }
    std::fflush(stdout);
    run.warn();
    return options.check ? check(*options.check, cells) : kDone;
}

/// Returns the exit code.
int compare(const Options& options) {
    if (!options.json.empty()) {
        require_writable(options.json);
        refuse_loss(options.json, options.routine.profile, "the profile", "--json");
        refuse_loss(options.json, options.routine.library, "the routine", "--json");
        refuse_loss(options.json, options.recording, "the recording", "--json");
    }
    const Request request = read_request(options);
    const CallStatistics statistics = options.recording.empty()
                                          ? fleet_statistics(options.routine.operation)
                                          : recorded_statistics(options.recording);
    const Machine machine = read_machine("/", options.routine.cpu);
    if (options.routine.cpu >= 0) require_allowed(options.routine.cpu);
    return in_child_process(options.routine,
                            [&] { return measure(options, request, statistics, machine); });
}

int run(int argc, char** argv) {
    Options options;
    CommandLine line(
        "asterope-bench",
        "Times copies, or sets, side by side with libc's, interleaved in one process.",
        version_text("asterope-bench"),
        "Exit codes: 0 done; 1 failed while running, or a cell is under --check; 2 bad "
        "arguments or bad input; 130 interrupted.");
    add_options(line.app(), options);
    const std::vector<Subcommand> commands = {add_locality_command(line.app()),
                                              add_messages_command(line.app()),
                                              add_cache_command(line.app())};
    if (!line.parse(argc, argv)) return kDone;
    if (const auto code = line.run_named(commands)) return *code;
    resolve_operation(options);
    if (contains(options.peers.peers, "list")) {
        std::fputs(list_peers().c_str(), stdout);
        return kDone;
    }
    if (line.has("--profile") && options.routine.profile.empty()) { // without a file
        options.routine.profile = profile_to_read("").string();
        std::printf("profile: %s\n", Error::one_line(options.routine.profile).c_str());
    }
    return compare(options);
}

} // namespace
} // namespace asterope

int main(int argc, char** argv) {
    return asterope::run_command("asterope-bench", [&] { return asterope::run(argc, argv); });
}
