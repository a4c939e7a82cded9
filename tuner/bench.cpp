// asterope-bench: the compiled routine beside libc's memcpy, paired and interleaved.
#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <dlfcn.h>
#include <iostream>
#include <nlohmann/json.hpp>

#include "affinity.hpp"
#include "arena.hpp"
#include "atomic_file.hpp"
#include "clock.hpp"
#include "error.hpp"
#include "interrupt.hpp"
#include "libc_copy.hpp"
#include "machine.hpp"
#include "paired.hpp"
#include "profile.hpp"
#include "size_text.hpp"
#include "version.hpp"
#include "workload.hpp"

namespace asterope {
namespace {

struct Options {
    std::string routine = "build/libasterope_memcpy.so";
    std::string symbol = "asterope_memcpy";
    std::string profile, workload, sizes, json;
    int rounds = 51;
    int cpu = -1;
};

enum Copy { kLibcCopy, kLibcCopyAgain, kRoutine };

CopyFunction load_routine(const Options& options) {
    // a name without a slash would be looked for in the system's library folders
    const std::string path =
        options.routine.find('/') == std::string::npos ? "./" + options.routine : options.routine;
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) throw BadInput(std::string("cannot load the routine: ") + dlerror());
    void* symbol = dlsym(library, options.symbol.c_str());
    if (!symbol) throw BadInput(options.routine + " has no function " + options.symbol);
    return reinterpret_cast<CopyFunction>(symbol);
}

struct Row {
    std::size_t size;
    double libc_seconds, seconds;
    Estimate ratio, floor;
};

nlohmann::ordered_json to_json(const Estimate& estimate) {
    return {{"median", estimate.median}, {"low", estimate.low}, {"high", estimate.high}};
}

Row measure(std::size_t size, Workload workload, int rounds, CopyFunction routine,
            Stopwatch& stopwatch) {
    stopwatch.calibrate(size, workload, trial_seconds(workload));
    const Paired paired({kLibcCopy, kRoutine, kLibcCopyAgain}, {workload}, rounds, 0,
                        [&](int copy, Workload, std::uint64_t round) {
                            throw_if_interrupted();
                            return stopwatch.time(copy == kRoutine ? routine : libc_copy(), 0, size,
                                                  workload, round);
                        });
    return {size, paired.seconds(kLibcCopy, workload), paired.seconds(kRoutine, workload),
            paired.ratio(kLibcCopy, kRoutine, workload),
            paired.ratio(kLibcCopy, kLibcCopyAgain, workload)};
}

void compare(const Options& options) {
    std::string workload = options.workload, sizes = options.sizes;
    std::vector<std::size_t> size_list;
    if (!options.profile.empty()) {
        const nlohmann::json profile = read_profile(options.profile);
        const auto search = profile.value("search", nlohmann::json::object());
        if (workload.empty() && search.is_object() && search.contains("workload") &&
            search["workload"].is_string()) {
            workload = search["workload"];
        }
        if (sizes.empty()) size_list = profile_sizes(profile);
    }
    if (workload.empty()) workload = "balanced";
    if (size_list.empty()) {
        size_list =
            parse_size_list(sizes.empty() ? "128,512,2K,8K,32K,128K,512K,2M,8M,32M" : sizes);
    }
    const std::vector<Workload> workloads = parse_workload(workload);
    if (!options.json.empty()) require_writable(options.json);
    const CopyFunction routine = load_routine(options);

    const Machine machine = read_machine();
    const int cpu = pin_to_cpu(options.cpu);
    start_clock(machine.cpu.invariant_tsc);
    const Arena arena(arena_bytes(size_list.back(), machine));
    Stopwatch stopwatch(arena, size_list.back());
    catch_interrupts();

    std::printf("%s against %s: %d paired rounds, CPU %d. x libc above 1: the routine is faster;\n"
                "floor: libc against itself in the same rounds. Intervals of 95 %% (sign test).\n",
                options.symbol.c_str(), machine.libc.c_str(), options.rounds, cpu);
    nlohmann::ordered_json report = {{"format", "asterope-bench"}, {"version", 1},
                                     {"tool_version", kVersion},   {"machine", to_json(machine)},
                                     {"rounds", options.rounds},   {"results", {}}};
    for (const Workload workload : workloads) {
        std::printf("\n%-10s  libc ns/call  ours ns/call  ours GB/s  x libc  (low..high)   floor\n",
                    std::string(name_of(workload)).c_str());
        double logs = 0;
        for (const std::size_t size : size_list) {
            const Row row = measure(size, workload, options.rounds, routine, stopwatch);
            logs += std::log(row.ratio.median);
            std::printf("%-10s %13.1f %13.1f %10.2f %7.2f  (%.2f..%.2f)  (%.2f..%.2f)\n",
                        format_size(size).c_str(), row.libc_seconds * 1e9, row.seconds * 1e9,
                        static_cast<double>(size) / row.seconds / 1e9, row.ratio.median,
                        row.ratio.low, row.ratio.high, row.floor.low, row.floor.high);
            std::fflush(stdout);
            report["results"].push_back({{"workload", name_of(workload)},
                                         {"size", size},
                                         {"libc_ns", row.libc_seconds * 1e9},
                                         {"ns", row.seconds * 1e9},
                                         {"ratio", to_json(row.ratio)},
                                         {"noise_floor", to_json(row.floor)}});
        }
        std::printf("%-10s %53.2f  geometric mean\n", "all",
                    std::exp(logs / static_cast<double>(size_list.size())));
    }
    if (!options.json.empty()) write_atomically(options.json, report.dump(2) + '\n');
}

int run(int argc, char** argv) {
    Options options;
    CLI::App app("Times the compiled routine beside libc's memcpy, interleaved in one process.",
                 "asterope-bench");
    app.set_version_flag("--version", std::string("asterope-bench ") + kVersion);
    app.add_option("--routine", options.routine, "shared library with the routine")
        ->type_name("FILE")
        ->capture_default_str();
    app.add_option("--symbol", options.symbol, "its copy function")
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--profile", options.profile, "take sizes and workload from this profile")
        ->type_name("FILE");
    app.add_option("--workload", options.workload, "hot, cold, or balanced (both)")
        ->type_name("NAME");
    app.add_option("--sizes", options.sizes, "bytes a call, K, M, G for powers of 1024")
        ->type_name("LIST");
    app.add_option("--rounds", options.rounds, "rounds a size")
        ->type_name("N")
        ->check(CLI::Range(3, 100000))
        ->capture_default_str();
    app.add_option("--cpu", options.cpu, "run on this CPU instead of the last one allowed")
        ->type_name("N")
        ->check(CLI::Range(0, 99999));
    app.add_option("--json", options.json, "write the results there too")->type_name("FILE");
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& success) {
        return app.exit(success);
    } catch (const CLI::ParseError& error) {
        throw BadInput(std::string(error.what()) + "; see asterope-bench --help");
    }
    compare(options);
    return kDone;
}

} // namespace
} // namespace asterope

int main(int argc, char** argv) {
    try {
        return asterope::run(argc, argv);
    } catch (const asterope::Error& error) {
        std::fprintf(stderr, "asterope-bench: %s\n", error.what());
        return error.exit_code();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "asterope-bench: %s\n", error.what());
        return asterope::kFailed;
    }
}
