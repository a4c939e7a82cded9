// asterope-bench: any number of copies side by side, paired and interleaved in one process.
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/atomic_file.hpp"
#include "base/command_line.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/progress.hpp"
#include "base/watched_run.hpp"
#include "bench/app_commands.hpp"
#include "bench/files.hpp"
#include "bench/request.hpp"
#include "bench/suite.hpp"
#include "bench/summary.hpp"
#include "bench/threads.hpp"
#include "machine/affinity.hpp"
#include "machine/machine.hpp"
#include "machine/profile_places.hpp"
#include "timing/arena.hpp"
#include "timing/clock.hpp"
#include "timing/distribution.hpp"
#include "version/version_text.hpp"

namespace asterope {
namespace {

void say_left_out(const LeftOutCopy& one) {
    std::fprintf(stderr, "asterope-bench: %s is left out: %s\n", one.name.c_str(),
                 Error::one_line(one.reason).c_str());
}

/// All that was measured; the report is written from it, whatever ended the run.
class BenchRun {
  public:
    BenchRun(const Options& options, const Setting& setting,
             const std::vector<LeftOutCopy>& left_out, int cpu)
        : options_(options), setting_(setting), left_out_(left_out), watched_(cpu) {}

    void measure_all(std::vector<Suite>& suites, Progress& progress) {
        for (Suite& suite : suites) {
            print(progress, suite.table->begin());
            for (const Job& job : suite.jobs) {
                progress.label(job.suite + " " + job.workload + " " + job.labels.front());
                const double seconds =
                    expected_seconds(job, setting_.contenders, options_.routine.rounds);
                for (Cell& cell :
                     measure(job, setting_.contenders, options_.routine.rounds, watched_,
                             [&](double share) { progress.advance(share * seconds); })) {
                    cells_.push_back(std::move(cell));
                    print(progress, suite.table->row(cells_.back()));
                }
            }
            print(progress, suite.table->end());
        }
    }

    void write_report(bool complete) const {
        if (cells_.empty()) return; // better that of an earlier run than an empty one
        if (options_.json.empty()) return;
        const RunFacts facts{setting_.machine,         options_.routine.rounds, setting_.operation,
                             setting_.statistics.name, setting_.contenders,     left_out_,
                             watched_.facts()};
        write_atomically(options_.json, results_json(facts, cells_, complete).dump(2) + '\n');
    }

    const std::vector<Cell>& cells() const { return cells_; }

    void warn_of_noise() const { watched_.warn("these figures are"); }

  private:
    void print(Progress& progress, const std::string& text) const {
        if (text.empty() || options_.brief) return;
        progress.clear();
        std::fputs(text.c_str(), stdout);
        std::fflush(stdout);
    }

    const Options& options_;
    const Setting& setting_;
    const std::vector<LeftOutCopy>& left_out_;
    MonitoredRounds watched_;
    std::vector<Cell> cells_;
};

double expected_seconds(const std::vector<Suite>& suites, const Contenders& contenders,
                        int rounds) {
    double seconds = 0;
    for (const Suite& suite : suites) {
        for (const Job& job : suite.jobs) seconds += expected_seconds(job, contenders, rounds);
    }
    return seconds;
}

/// Those to use, beginning with the one that the process is pinned to.
std::vector<int> beginning_with(int cpu, std::vector<int> cpus) {
    std::rotate(cpus.begin(), std::ranges::find(cpus, cpu), cpus.end());
    return cpus;
}

/// Consumes the arena.
void measure_suites(const Options& options, const Request& request, const Setting& setting,
                    std::optional<Arena>& arena, const std::vector<int>& cpus, BenchRun& run) {
    std::vector<Suite> suites, on_threads;
    using Sizes = std::vector<std::size_t>;
    const auto add = [&](const std::string& name, const auto& make) {
        if (!request.has(name)) return;
        for (Suite& suite : make(request.sizes.at(name))) suites.push_back(std::move(suite));
    };
    add("workloads", [&](const Sizes& sizes) { return workload_suites(setting, *arena, sizes); });
    add("sizes", [&](const Sizes& sizes) {
        return size_suites("sizes", setting, *arena, sizes, request.workloads);
    });
    add("aliased", [&](const Sizes& sizes) {
        return size_suites("aliased", setting, *arena, sizes, {Workload::aliased});
    });
    add("misalignment",
        [&](const Sizes& sizes) { return misalignment_suites(setting, *arena, sizes); });
    add("mix", [&](const Sizes&) { return mix_suites(setting, *arena); });
    add("fixed", [&](const Sizes&) { return fixed_suites(setting, *arena); });
    add("states", [&](const Sizes& sizes) { return state_suites(setting, *arena, sizes); });
    if (setting.contenders.at(1).move) {
        add("overlap", [&](const Sizes& sizes) { return overlap_suites(setting, *arena, sizes); });
    } else if (request.has("overlap")) {
        say_left_out({"overlap", options.routine.routine + " has no memmove to go with " +
                                     options.routine.symbol()});
    }
    if (request.has("threads")) {
        on_threads = thread_suites(setting, cpus, request.sizes.at("threads"));
    }

    const int rounds = options.routine.rounds;
    Progress progress(expected_seconds(suites, setting.contenders, rounds) +
                          expected_seconds(on_threads, setting.contenders, rounds),
                      false);
    run.measure_all(suites, progress);
    suites.clear();
    arena.reset(); // its memory is the threads' now
    run.measure_all(on_threads, progress);
}

void print_legend(const Contenders& contenders) {
    std::printf("Each column: libc's time over that one's; * the best of its row.\n\n");
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

/// Loads the copies, which may be anybody's, and times them. Returns the exit code.
int measure(const Options& options, const Request& request, const CallStatistics& statistics,
            const Machine& machine) {
    const Operation operation = options.routine.operation;
    const std::vector<int> cpus = allowed_cpus();
    catch_interrupts();
    const Selection choice = choose(options.peers, options.routine, machine.libc);
    const int cpu = pin_to_cpu(options.routine.cpu);
    start_clock(machine.cpu.invariant_tsc);
    const std::size_t largest = request.largest_size();
    std::optional<Arena> arena;
    if (largest) arena.emplace(arena_bytes(largest, machine));
    for (const LeftOutCopy& one : choice.left_out) say_left_out(one);

    std::printf(
        options.brief
            ? "%s against %s, %d paired rounds, CPU %d: %s time over its own, "
              "geometric means over sizes\n"
            : "%s against %s: %d paired rounds, CPU %d. x libc above 1: the routine is faster;\n"
              "floor: libc against itself in the same rounds. Intervals of 95 %% (sign test).\n",
        options.routine.symbol().c_str(), rivals_of(choice.contenders, machine.libc).c_str(),
        options.routine.rounds, cpu,
        options.peers.references.empty() ? "libc's" : "in each cell the faster one's");
    const Setting setting{machine, choice.contenders, statistics, operation};
    if (setting.with_peers() && !options.brief) print_legend(choice.contenders);
    std::fflush(stdout);
    BenchRun run(options, setting, choice.left_out, cpu);
    try {
        measure_suites(options, request, setting, arena, beginning_with(cpu, cpus), run);
        require_still_right(choice.contenders, operation);
    } catch (const Error&) {
        run.write_report(false);
        throw;
    }
    run.write_report(true);
    if (options.brief) {
        std::printf("%s", brief_text(run.cells(), operation).c_str());
    } else if (setting.with_peers()) {
        std::printf("\n%s", summary_text(run.cells(), choice.contenders, operation).c_str());
    }
    std::fflush(stdout);
    run.warn_of_noise();
    return options.check ? check(*options.check, run.cells()) : kDone;
}

/// Returns the exit code.
int compare(const Options& options) {
    const Request request = read_request(options);
    const CallStatistics statistics = options.recording.empty()
                                          ? fleet_statistics(options.routine.operation)
                                          : recorded_statistics(options.recording);
    if (!options.json.empty()) require_writable(options.json);

    const Machine machine = read_machine("/", options.routine.cpu);
    if (options.routine.cpu >= 0) require_allowed(options.routine.cpu);
    routine_library(options.routine); // one that is built for this run goes when this process ends
    return run_watched({"asterope-bench", "interrupted"},
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
    const Subcommand commands[] = {add_locality_command(line.app()),
                                   add_messages_command(line.app()), add_cache_command(line.app())};
    if (!line.parse(argc, argv)) return kDone;
    for (const Subcommand& command : commands) {
        if (!was_named(*command.app)) continue;
        // options of the tables that stand before a subcommand would be passed over in silence
        if (const auto given = line.given(); !given.empty()) {
            throw BadInput(given.front() + " stands before the command: its options stand behind "
                                           "it, see asterope-bench COMMAND --help");
        }
        return command.run();
    }
    resolve_operation(options);
    if (options.peers.built_in == "list") {
        std::fputs(list_peers().c_str(), stdout);
        return kDone;
    }
    if (line.has("--profile") && options.profile.empty()) { // without a file
        options.profile = profile_to_read("").string();
        std::printf("profile: %s\n", Error::one_line(options.profile).c_str());
    }
    options.routine.profile = options.profile;
    return compare(options);
}

} // namespace
} // namespace asterope

int main(int argc, char** argv) {
    return asterope::run_command("asterope-bench", [&] { return asterope::run(argc, argv); });
}
