// asterope-bench: any number of copies side by side, paired and interleaved in one process.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/atomic_file.hpp"
#include "base/command_line.hpp"
#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/progress.hpp"
#include "base/size_text.hpp"
#include "bench/cache_command.hpp"
#include "bench/choice.hpp"
#include "bench/files.hpp"
#include "bench/locality_command.hpp"
#include "bench/messages_command.hpp"
#include "bench/peers/remote.hpp"
#include "bench/routine.hpp"
#include "bench/suite.hpp"
#include "bench/summary.hpp"
#include "bench/threads.hpp"
#include "machine/affinity.hpp"
#include "machine/machine.hpp"
#include "machine/profile_places.hpp"
#include "profile/profile.hpp"
#include "search/objective.hpp"
#include "timing/arena.hpp"
#include "timing/clock.hpp"
#include "timing/distribution.hpp"
#include "version/version_text.hpp"

namespace asterope {
namespace {

const std::vector<std::string> kSuites = {"workloads", "sizes", "aliased", "misalignment",
                                          "mix",       "fixed", "overlap", "threads"};

struct Options {
    RoutineOptions routine{.rounds = 51};
    PeerOptions peers;
    std::string profile, workload, sizes, json, csv, distribution;
    std::optional<double> check;
    bool brief = false;
    std::vector<std::string> suites = {"sizes", "mix"};
};

/// What the sizes suite measures: of tuning's workloads and those for measuring only. "": nothing
/// was asked for. A mix of weights is measured as balanced.
std::vector<Workload> workloads_of(const std::string& text) {
    if (text.empty()) {
        return {Workload::hot, Workload::hot_read, Workload::cold, Workload::consume};
    }
    if (text == "hot_read") return {Workload::hot_read};
    if (text == "fetch") return {Workload::fetch};
    if (text == "fresh") return {Workload::fresh};
    std::vector<Workload> workloads;
    for (const auto& [workload, weight] :
         parse_objective(text == "weights" ? "balanced" : text, "").weights) {
        workloads.push_back(workload);
    }
    return workloads;
}

/// What is measured, after all options and the profile.
struct Request {
    std::vector<std::string> suites;
    std::vector<Workload> workloads;
    std::vector<std::size_t> sizes, table_sizes, thread_sizes, grid_sizes,
        move_sizes; ///< ascending

    bool has(const std::string& suite) const { return contains(suites, suite); }
};

Request read_request(const Options& options) {
    Request request;
    for (const std::string& suite : options.suites) {
        if (suite == "all" || contains(kSuites, suite)) continue;
        std::string known;
        for (const std::string& one : kSuites) known += one + ", ";
        throw BadInput("suite '" + suite.substr(0, 40) + "' is unknown: choose " + known +
                       "or all");
    }
    request.suites = contains(options.suites, std::string("all")) ? kSuites : options.suites;
    std::string workload = options.workload;
    request.sizes = parse_size_list(options.sizes.empty() ? "128,512,2K,8K,32K,128K,512K,2M,8M,32M"
                                                          : options.sizes);
    request.table_sizes = request.thread_sizes = request.grid_sizes = request.move_sizes =
        request.sizes;
    if (options.sizes.empty()) {
        // the table of workloads is for reading between two sizes: it has each power of two
        request.table_sizes.clear();
        for (std::size_t size = 128; size <= std::size_t{32} << 20; size *= 2) {
            request.table_sizes.push_back(size);
        }
        request.thread_sizes = parse_size_list("1K,8K,64K,512K,4M,32M");
        request.grid_sizes = parse_size_list("512,4K,64K");
        request.move_sizes = parse_size_list("512,2K,4K,16K,64K,1M");
    }
    if (!options.profile.empty()) {
        const nlohmann::json profile = read_profile(options.profile);
        const auto search = profile.value("search", nlohmann::json::object());
        if (workload.empty() && search.is_object() && search.contains("workload") &&
            search["workload"].is_string()) {
            workload = search["workload"];
        }
        if (options.sizes.empty()) request.sizes = request.table_sizes = profile_sizes(profile);
    }
    request.workloads = workloads_of(workload);
    if (workload == "fresh" && request.has("sizes") && request.sizes.back() < kFreshFrom) {
        throw BadInput("workload fresh is timed from " + format_size(kFreshFrom) +
                       " up: name larger --sizes");
    }
    return request;
}

void say_left_out(const LeftOutCopy& one) {
    std::fprintf(stderr, "asterope-bench: %s is left out: %s\n", one.name.c_str(),
                 Error::one_line(one.reason).c_str());
}

/// All that was measured; the files are written from it, whatever ended the run.
class BenchRun {
  public:
    BenchRun(const Options& options, const Machine& machine, const std::string& distribution,
             Choice& choice, int cpu)
        : options_(options), machine_(machine), distribution_(distribution), choice_(choice),
          watched_(cpu) {}

    void measure_all(std::vector<Suite>& suites, Progress& progress) {
        for (Suite& suite : suites) {
            print(progress, suite.table->begin());
            for (const Job& job : suite.jobs) {
                progress.label(job.suite + " " + job.workload + " " + job.label);
                cells_.push_back(measure_one(job, progress));
                print(progress, suite.table->row(cells_.back()));
            }
            print(progress, suite.table->end());
        }
    }

    void write_files(bool complete) const {
        if (cells_.empty()) return; // better the files of an earlier run than empty ones
        if (!options_.json.empty()) {
            const RunFacts facts{machine_,           options_.routine.rounds, distribution_,
                                 choice_.contenders, choice_.left_out,        watched_.facts()};
            write_atomically(options_.json, results_json(facts, cells_, complete).dump(2) + '\n');
        }
        if (!options_.csv.empty()) write_atomically(options_.csv, results_csv(cells_));
    }

    const std::vector<Cell>& cells() const { return cells_; }

    void warn_of_noise() const { watched_.warn("these figures are"); }

  private:
    /// A process that dies is left out from then on.
    Cell measure_one(const Job& job, Progress& progress) {
        const int rounds = options_.routine.rounds;
        for (;;) {
            try {
                const double seconds = expected_seconds(job, choice_.contenders, rounds);
                return measure(job, choice_.contenders, rounds, watched_,
                               [&](double share) { progress.advance(share * seconds); });
            } catch (const RemoteDied& died) {
                progress.clear();
                Contender& contender = choice_.contenders.at(died.contender);
                contender.remote.reset();
                choice_.left_out.push_back({contender.name, died.reason});
                say_left_out(choice_.left_out.back());
            }
        }
    }

    void print(Progress& progress, const std::string& text) const {
        if (text.empty() || options_.brief) return;
        progress.clear();
        std::fputs(text.c_str(), stdout);
        std::fflush(stdout);
    }

    const Options& options_;
    const Machine& machine_;
    const std::string& distribution_;
    Choice& choice_;
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
    std::rotate(cpus.begin(), std::find(cpus.begin(), cpus.end(), cpu), cpus.end());
    return cpus;
}

/// Of what is copied on one thread, in bytes; 0: nothing.
std::size_t largest_size(const Request& request) {
    std::size_t largest = 0;
    for (const auto& [suite, sizes] :
         {std::pair("workloads", &request.table_sizes), std::pair("sizes", &request.sizes),
          std::pair("aliased", &request.sizes), std::pair("misalignment", &request.grid_sizes),
          std::pair("mix", &request.sizes), std::pair("fixed", &request.sizes),
          std::pair("overlap", &request.move_sizes)}) {
        if (request.has(suite)) largest = std::max(largest, sizes->back());
    }
    return largest;
}

/// Consumes the arena.
void measure_suites(const Options& options, const Request& request, const Setting& setting,
                    std::optional<Arena>& arena, const std::vector<int>& cpus, BenchRun& run) {
    std::vector<Suite> suites, on_threads;
    const auto add = [&](const std::string& name, const auto& make) {
        if (!request.has(name)) return;
        for (Suite& suite : make()) suites.push_back(std::move(suite));
    };
    add("workloads", [&] { return workload_suites(setting, *arena, request.table_sizes); });
    add("sizes",
        [&] { return size_suites("sizes", setting, *arena, request.sizes, request.workloads); });
    add("aliased", [&] {
        return size_suites("aliased", setting, *arena, request.sizes, {Workload::aliased});
    });
    add("misalignment", [&] { return misalignment_suites(setting, *arena, request.grid_sizes); });
    add("mix", [&] { return mix_suites(setting, *arena); });
    add("fixed", [&] { return fixed_suites(setting, *arena); });
    if (setting.contenders.at(1).move) {
        add("overlap", [&] { return overlap_suites(setting, *arena, request.move_sizes); });
    } else if (request.has("overlap")) {
        say_left_out({"overlap", options.routine.routine + " has no memmove to go with " +
                                     options.routine.symbol});
    }
    if (request.has("threads")) on_threads = thread_suites(setting, cpus, request.thread_sizes);

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
    std::printf("Each column: libc's time over that copy's; * the best of its row.\n\n");
    int longest = 0;
    for (const Contender& contender : contenders) {
        longest = std::max(longest, static_cast<int>(contender.name.size()));
    }
    for (const Contender& contender : contenders) {
        std::printf("  %-*s  %s%s\n", longest, contender.name.c_str(),
                    contender.description.c_str(),
                    contender.remote ? "; in a process of its own, so in no mix, grid, small fixed "
                                       "sizes and threads"
                                     : "");
    }
}

/// Returns the exit code.
int compare(const Options& options) {
    const Request request = read_request(options);
    const CallStatistics statistics =
        options.distribution.empty() ? fleet_statistics() : read_statistics(options.distribution);
    if (!options.json.empty()) require_writable(options.json);
    if (!options.csv.empty()) require_writable(options.csv);

    const Machine machine = read_machine();
    const std::vector<int> cpus = allowed_cpus();
    if (options.routine.cpu >= 0) require_allowed(options.routine.cpu);
    catch_interrupts();
    Choice choice = choose(options.peers, options.routine, machine.libc);
    const int cpu = pin_to_cpu(options.routine.cpu);
    start_clock(machine.cpu.invariant_tsc);
    const std::size_t largest = largest_size(request);
    std::optional<Arena> arena;
    if (largest) {
        Machine own = machine; // what one process of ours may take
        if (choice.wants_tuned_glibc) own.usable_bytes /= 2;
        arena.emplace(arena_bytes(largest, own));
    }
    if (choice.wants_tuned_glibc && arena) {
        add_tuned_glibc(choice, machine, *arena, largest, cpu);
    } else if (choice.wants_tuned_glibc) {
        choice.left_out.push_back({"glibc_tuned", "it runs in no process but its own: no threads"});
    }
    for (const LeftOutCopy& one : choice.left_out) say_left_out(one);

    std::printf(
        options.brief
            ? "%s against %s, %d paired rounds, CPU %d: libc's time over its own, "
              "geometric means over sizes\n"
            : "%s against %s: %d paired rounds, CPU %d. x libc above 1: the routine is faster;\n"
              "floor: libc against itself in the same rounds. Intervals of 95 %% (sign test).\n",
        options.routine.symbol.c_str(), machine.libc.c_str(), options.routine.rounds, cpu);
    const Setting setting{machine, choice.contenders, statistics};
    if (setting.with_peers() && !options.brief) print_legend(choice.contenders);
    std::fflush(stdout);
    BenchRun run(options, machine, statistics.name, choice, cpu);
    try {
        measure_suites(options, request, setting, arena, beginning_with(cpu, cpus), run);
    } catch (const Error&) {
        run.write_files(false);
        throw;
    }
    run.write_files(true);
    if (options.brief) {
        std::printf("%s", brief_text(run.cells()).c_str());
    } else if (setting.with_peers()) {
        std::printf("\n%s", summary_text(run.cells(), choice.contenders).c_str());
    }
    std::fflush(stdout);
    run.warn_of_noise();
    if (!options.check) return kDone;
    const std::vector<std::string> under = cells_under(*options.check, run.cells());
    if (under.empty()) return kDone;
    for (const std::string& line : under)
        std::fprintf(stderr, "asterope-bench: %s\n", line.c_str());
    std::fprintf(stderr, "asterope-bench: %zu of %zu cells are under --check %g\n", under.size(),
                 run.cells().size(), *options.check);
    return kFailed;
}

int run(int argc, char** argv) {
    Options options;
    CLI::App app("Times copies side by side with libc's memcpy, interleaved in one process.",
                 "asterope-bench");
    app.set_version_flag("--version", version_text("asterope-bench"));
    app.footer("Exit codes: 0 done; 1 failed while running, or a cell is under --check; 2 bad "
               "arguments or bad input; 130 interrupted.");
    add_options(app, options.routine);
    add_options(app, options.peers);
    CLI::Option* profile =
        app.add_option("--profile", options.profile,
                       "take sizes and workload from this profile, and build the routine from it "
                       "where no library is found (without FILE: from your own, "
                       "$XDG_CONFIG_HOME/asterope/profile.json, else /etc/asterope/profile.json)")
            ->type_name("FILE")
            ->expected(0, 1);
    app.add_option("--workload", options.workload,
                   "of the sizes suite: hot, hot_read, cold, consume, produce, fetch, fresh (to "
                   "memory just "
                   "mapped, from 4 KiB up), or balanced (hot, cold, consume and fetch); without "
                   "it, the first four")
        ->type_name("NAME");
    app.add_option(
           "--suite", options.suites,
           "comma-separated; workloads: one table of sizes and workloads; sizes: one size "
           "at a time, by workload; aliased: the same where buffers alias modulo 4096; "
           "misalignment: a grid of misaligned sources and destinations; mix: copies of "
           "unpredictable sizes, as calls count, at page ends, and as bytes count; fixed: small "
           "copies of one size at a time; overlap: memmove within cached buffers, shifted by 1, "
           "8, 64 and 4096 bytes up and down; threads: 1 to all CPUs at once; all")
        ->type_name("NAMES")
        ->delimiter(',')
        ->capture_default_str();
    app.add_option("--distribution", options.distribution,
                   "sizes and alignments of the mix, instead of those of Google's fleet")
        ->type_name("FILE");
    app.add_option("--sizes", options.sizes, "bytes a call, K, M, G for powers of 1024")
        ->type_name("LIST");
    app.add_flag("--brief", options.brief, "print a few lines instead of the tables");
    app.add_option("--json", options.json, "write the results there too")->type_name("FILE");
    app.add_option("--csv", options.csv, "the same, a line for each copy in each cell")
        ->type_name("FILE");
    app.add_option("--check", options.check,
                   "exit with 1 and name the cells where the routine's ratio to libc is under MIN: "
                   "with its whole interval, so that noise alone fails nobody")
        ->type_name("MIN")
        ->check(CLI::Range(0.001, 1000.0));
    mark_as_expert(
        app, {"--symbol", "--rounds", "--cpu", "--peer", "--distribution", "--csv", "--check"});
    const std::vector<Command> commands = {
        add_locality_command(app),
        add_messages_command(app),
        add_cache_command(app),
    };
    if (!parse(app, argc, argv)) return kDone;
    for (const Command& command : commands) {
        if (!command.chosen()) continue;
        command.run();
        return kDone;
    }
    if (options.peers.built_in == "list") {
        std::fputs(list_peers().c_str(), stdout);
        return kDone;
    }
    if (profile->count() > 0 && options.profile.empty()) {
        options.profile = profile_to_read("").string();
        std::printf("profile: %s\n", Error::one_line(options.profile).c_str());
    }
    options.routine.profile = options.profile;
    return compare(options);
}

} // namespace
} // namespace asterope

int main(int argc, char** argv) {
    // the process of glibc_tuned is this program too
    if (const auto served = asterope::serve_trials(argc, argv)) return *served;
    return asterope::run_command("asterope-bench", [&] { return asterope::run(argc, argv); });
}
