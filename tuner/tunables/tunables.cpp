// Checks that this glibc can be set, starts the processes, and reports.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/size_text.hpp"
#include "machine/affinity.hpp"
#include "machine/libc.hpp"
#include "run/command.hpp"
#include "search/size_order.hpp"
#include "space/space.hpp"
#include "timing/arena.hpp"
#include "tunables/report.hpp"

namespace asterope {

namespace {

struct Request {
    std::string rigor = "standard", workload = "balanced";
    std::string sizes;  ///< empty: the default ones
    std::string output; ///< where the JSON goes; empty: nowhere
    int cpu = -1;       ///< negative: the last one allowed
    bool quiet = false; ///< print the line alone
};

std::vector<std::size_t> sizes_of(const Request& request, const Machine& machine) {
    std::vector<std::size_t> sizes =
        request.sizes.empty() ? default_sizes(machine.caches) : parse_size_list(request.sizes);
    if (sizes.front() < kMinimumBytes) {
        throw BadInput("size " + format_size(sizes.front()) + " is below " +
                       format_size(kMinimumBytes) + ", where no threshold can be");
    }
    return sizes;
}

void print(const Request& request, const std::string& text) {
    if (!request.quiet) std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
}

/// Each process of the first measurement gets an equal share of memory. Two have the default.
RemoteSetup shared_setup(const Machine& machine, int cpu, const Knobs& knobs, std::size_t largest) {
    Machine own = machine;
    own.usable_bytes = usable_memory(machine) / (settings_of_ways(knobs, largest).size() + 2);
    return {cpu, arena_bytes(largest, own), largest, last_cache_bytes(machine)};
}

/// Prints the tables, the verdict and the line, and writes the file.
void find_tunables(const Request& request) {
    TunablesReport report;
    report.objective = parse_objective(request.workload);
    const Rigor rigor = parse_rigor(request.rigor);
    report.machine = read_machine("/", request.cpu);
    const std::vector<std::size_t> sizes = sizes_of(request, report.machine);
    if (libc_threshold_names().empty()) {
        throw BadInput("no tunables to choose: on " + std::string(kArchitecture) +
                       " no libc has any that change its memcpy");
    }
    std::string why;
    report.tunables = read_tunables(program_interpreter(), why);
    const Knobs knobs = knobs_of(report.machine.libc, report.tunables, why);
    if (!request.output.empty()) require_writable(request.output);
    report.rigor = rigor.name;
    report.cpu = pin_to_cpu(request.cpu);
    catch_interrupts();
    for (const std::string& warning : measurement_warnings(report.machine)) {
        if (!request.quiet) std::fprintf(stderr, "warning: %s\n", warning.c_str());
    }

    const RemoteSetup setup = shared_setup(report.machine, report.cpu, knobs, sizes.back());
    RunTimings timings(request.quiet);
    const Course course{sizes, report.objective, rigor, setup, timings};
    plan(course, knobs);
    report.choice = measure_and_choose(course, knobs);
    timings.progress.clear();
    print(request, default_text(report) + ways_table(report.choice.ways));
    if (report.choice.thresholds != report.choice.knobs.now) {
        report.gains = measure_gains(course, report.choice);
        timings.progress.clear();
    }
    report.noise = timings.disturbed_rounds().facts();
    print(request, verdict_text(report));
    if (request.quiet && report.change()) std::printf("%s\n", line_of(report).c_str());
    if (!request.output.empty()) {
        write_atomically(request.output, to_json(report).dump(2) + '\n');
    }
    if (!request.quiet) timings.disturbed_rounds().warn("this verdict is");
}

} // namespace

Subcommand add_tunables(CLI::App& app) {
    const auto request = std::make_shared<Request>();
    CLI::App& command =
        add_command(app, "tunables",
                    "find the GLIBC_TUNABLES that make glibc's own memcpy fastest on this machine, "
                    "where no library may be replaced. Those of its malloc, which save page "
                    "faults, tries asterope-prove --runs --tunables -- PROGRAM");
    add_option(command, "-o,--output", &request->output, "write what was measured there, as JSON",
               "FILE", {.not_empty = true});
    add_option(command, "--rigor", &request->rigor, "quick (a minute), standard, or exhaustive",
               "LEVEL", {.shows_default = true});
    add_option(command, "--workload", &request->workload, tunable_text(), "NAME",
               {.shows_default = true});
    add_option(command, "--sizes", &request->sizes,
               "transfer sizes, from 128 up, K, M, G for powers of 1024 (default: powers of "
               "two to 32M, and around the sizes of caches below)",
               "LIST", {.not_empty = true});
    add_cpu(command, request->cpu);
    add_option(command, "--quiet", &request->quiet,
               "print the line to set alone, and nothing where the default is as good");
    return {command, [request] { find_tunables(*request); }};
}

} // namespace asterope
