// asterope-bench cache: reads of a cached file through a file system client's buffer cache.
#include "bench/app_commands.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/interrupt.hpp"
#include "base/progress.hpp"
#include "base/size_text.hpp"
#include "base/text.hpp"
#include "bench/apps/cached_file.hpp"
#include "bench/apps/steps.hpp"
#include "bench/routine.hpp"
#include "machine/affinity.hpp"
#include "timing/clock.hpp"
#include "timing/timed_copy.hpp"

namespace asterope {

namespace {

struct Options {
    RoutineOptions routine{.rounds = 21};
    std::string sizes = "64K,256K,1M";
    std::string blocks = "4K,32K,128K";
    std::string file = "512M";
    unsigned misses = 5;
    std::size_t past_page = 0;
};

/// Bytes of reads that are timed in one turn of one copy.
constexpr std::size_t kTimedBytes = std::size_t{32} << 20;

void check(const std::vector<std::size_t>& sizes, const std::vector<std::size_t>& blocks,
           std::size_t file) {
    for (const auto* list : {&sizes, &blocks}) {
        for (const std::size_t bytes : *list) {
            if (bytes < 512) {
                throw BadInput(format_size(bytes) + " is less than 512 B, the least here");
            }
            if (bytes & (bytes - 1)) {
                throw BadInput(format_size(bytes) +
                               " is no power of two: reads and blocks must divide the file");
            }
        }
    }
    const std::size_t largest = std::max(sizes.back(), blocks.back());
    if (file % largest) {
        throw BadInput("--file " + format_size(file) + " is no multiple of " +
                       format_size(largest) + ", the largest read or block");
    }
}

/// A routine that starts threads does so at its first call, and while there is more than one CPU.
void start_threads_of(CopyFunction routine, std::size_t bytes) {
    std::vector<char> from(bytes), to(bytes);
    routine(to.data(), from.data(), bytes, 0);
}

void run(const Options& options) {
    const std::vector<std::size_t> sizes = parse_size_list(options.sizes);
    const std::vector<std::size_t> blocks = parse_size_list(options.blocks);
    const std::size_t file_bytes = parse_size(options.file);
    check(sizes, blocks, file_bytes);
    const CopyFunction routine = load_routine(options.routine);
    const Machine machine = read_machine("/", options.routine.cpu);
    if (file_bytes > usable_bytes(machine)) {
        throw too_large("--file " + format_size(file_bytes) + " is", machine);
    }
    start_threads_of(routine, blocks.back());
    const int cpu = pin_to_cpu(options.routine.cpu);
    start_clock(machine.cpu.invariant_tsc);
    catch_interrupts();

    std::printf("Sequential reads of a cached file of %s, %u %% of its blocks missing, %s against "
                "%s:\n%d paired rounds, CPU %d. x libc above 1: the routine is faster; floor: libc "
                "against itself.\n\n%s",
                format_size(file_bytes).c_str(), options.misses, options.routine.symbol.c_str(),
                machine.libc.c_str(), options.routine.rounds, cpu,
                step_header("block    read               ").c_str());
    std::vector<double> ratios[2];
    MonitoredRounds watched(cpu);
    Progress progress(
        static_cast<double>(blocks.size() * sizes.size()) * 2 * options.routine.rounds * 3, false);
    const auto compare = [&](SequentialReader& reader, std::size_t size, bool consume) {
        return compare_steps(
            options.routine.rounds,
            [&](int copy, std::uint64_t) {
                throw_if_interrupted();
                const CopyFunction function = copy == kAppRoutine ? routine : libc_copy();
                reader.run(function, times_for(settling_bytes_of(machine), size), consume, true);
                progress.advance(1);
                return std::vector<double>{
                    reader.run(function, times_for(kTimedBytes, size), consume, false)};
            },
            &watched)[0];
    };
    for (const std::size_t block : blocks) {
        progress.label("blocks of " + format_size(block));
        CachedFile file(file_bytes, block);
        for (const std::size_t size : sizes) {
            SequentialReader reader(file, size, options.misses, options.past_page);
            for (const bool consume : {false, true}) {
                const Step step = compare(reader, size, consume);
                std::string label;
                append(label, "%-8s %-8s %-9s", format_size(block).c_str(),
                       format_size(size).c_str(), consume ? "and used" : "read");
                progress.clear();
                std::fputs(step_row(label, step, size).c_str(), stdout);
                std::fflush(stdout);
                ratios[consume].push_back(step.ratio.median);
            }
        }
    }
    std::printf("%s\n%s\n", ratio_summary("read", ratios[false]).c_str(),
                ratio_summary("read and used", ratios[true]).c_str());
    std::fflush(stdout);
    watched.warn("these figures are");
}

} // namespace

AppCommand add_cache_command(CLI::App& app) {
    // the options must outlive this function, as the parser writes into them
    const auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "cache",
        "sequential reads of a file through a file system client's buffer cache: blocks that a "
        "hash "
        "table finds, in shared memory larger than the last CPU cache, are copied into one buffer; "
        "some are missing and are written into the cache first. 'read': the read alone; 'and "
        "used': "
        "the application also sums what it got");
    command->add_option("--sizes", options->sizes, "bytes a read, K, M, G for powers of 1024")
        ->type_name("LIST")
        ->capture_default_str();
    command->add_option("--blocks", options->blocks, "bytes of a block of the cache")
        ->type_name("LIST")
        ->capture_default_str();
    command->add_option("--file", options->file, "bytes of the file, and of the cache")
        ->type_name("N")
        ->capture_default_str();
    command->add_option("--misses", options->misses, "of a hundred blocks, as many are missing")
        ->type_name("N")
        ->check(CLI::Range(0, 50))
        ->capture_default_str();
    add_past_page(*command, options->past_page,
                  "the application's buffer begins; blocks begin at one");
    add_options(*command, options->routine);
    return {command, [options] { run(*options); }};
}

} // namespace asterope
