// asterope-tune tunables: which GLIBC_TUNABLES make glibc's memcpy fastest on this machine.
#include "tunables/tunables.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/size_text.hpp"
#include "machine/affinity.hpp"
#include "machine/libc.hpp"
#include "machine/machine.hpp"
#include "program/program_recording.hpp"
#include "search/program_weights.hpp"
#include "space/space.hpp"
#include "timing/arena.hpp"
#include "tunables/report.hpp"

namespace asterope {

namespace {

std::vector<std::size_t> sizes_of(const TunablesRequest& request, const Machine& machine,
                                  const std::optional<Program>& program) {
    std::vector<std::size_t> sizes = sizes_to_search(request.sizes, machine.caches, program);
    if (sizes.front() < kMinimumBytes) {
        throw BadInput("size " + format_size(sizes.front()) + " is below " +
                       format_size(kMinimumBytes) + ", where no threshold can be");
    }
    return sizes;
}

void print(const TunablesRequest& request, const std::string& text) {
    if (!request.quiet) std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
}

} // namespace

Knobs knobs_of(const std::string& libc, const std::map<std::string, Tunable>& tunables,
               const std::string& why) {
    const auto refuse = [](const std::string& reason) {
        return BadInput("no tunables to choose: " + reason);
    };
    if (libc.rfind("glibc", 0) != 0) throw refuse("libc here is " + libc + ", not glibc");
    if (!why.empty()) throw refuse(why);
    // 2.36 ignores the least value that it lists itself; the next whole line is taken.
    const auto find = [&](const char* name) -> Tunable {
        const auto found = tunables.find(name);
        if (found == tunables.end()) {
            throw refuse(libc + " lists no glibc.cpu." + name +
                         (tunables.empty() ? " (it lists none: that began with 2.33)" : ""));
        }
        return {found->second.value, found->second.least + 64, found->second.most};
    };
    Knobs knobs{{}, find(kRepMovsbThreshold), find(kNonTemporalThreshold)};
    if (tunables.count(kRepMovsbStopThreshold)) knobs.stop = find(kRepMovsbStopThreshold);
    return knobs;
}

RemoteSetup shared_setup(const Machine& machine, int cpu, const Knobs& knobs, std::size_t largest) {
    Machine own = machine;
    own.usable_bytes /= settings_of_ways(knobs, largest).size() + 2; // two have the default
    return {cpu, arena_bytes(largest, own), largest, last_cache_bytes(machine)};
}

void find_tunables(const TunablesRequest& request) {
    TunablesReport report;
    const Objective asked =
        parse_objective(request.weights.empty() ? request.workload : request.weights);
    const Rigor rigor = parse_rigor(request.rigor);
    std::optional<Program> program;
    if (!request.recordings.empty()) program = read_program(request.recordings);
    report.machine = read_machine("/", request.cpu);
    const std::vector<std::size_t> sizes = sizes_of(request, report.machine, program);
    report.objective = program ? program_objective(*program, sizes) : asked;
    if (program) report.program = program->name;
    if (libc_threshold_names().empty()) {
        throw BadInput("no tunables to choose: on " + std::string(kArchitecture) +
                       " no libc has any that change its memcpy");
    }
    std::string why;
    report.tunables = read_tunables(program_interpreter(), why);
    const Knobs knobs = knobs_of(report.machine.libc, report.tunables, why);
    if (!request.output.empty()) require_writable(request.output);
    report.rigor = rigor.name;
    report.seed = request.seed;
    report.cpu = pin_to_cpu(request.cpu);
    catch_interrupts();
    for (const std::string& warning : measurement_warnings(report.machine)) {
        if (!request.quiet) std::fprintf(stderr, "warning: %s\n", warning.c_str());
    }

    const RemoteSetup setup = shared_setup(report.machine, report.cpu, knobs, sizes.back());
    std::mt19937_64 random(request.seed);
    DisturbedRounds rounds;
    Progress progress(planned_work(sizes, report.objective, rigor, knobs), request.quiet);
    Course course{sizes, report.objective, rigor, random, setup, progress, rounds};
    report.choice = measure_and_choose(course, knobs);
    progress.clear();
    print(request, default_text(report) + ways_table(report.choice.ways));
    if (report.choice.thresholds != report.choice.knobs.now) {
        report.gains = measure_gains(course, report.choice);
        progress.clear();
    }
    report.noise = rounds.facts();
    print(request, verdict_text(report));
    if (request.quiet && report.change()) std::printf("%s\n", line_of(report).c_str());
    if (!request.output.empty()) {
        write_atomically(request.output, to_json(report).dump(2) + '\n');
    }
    const std::string warning = rounds.warning("this verdict is");
    if (!warning.empty()) std::fprintf(stderr, "%s\n", warning.c_str());
}

} // namespace asterope
