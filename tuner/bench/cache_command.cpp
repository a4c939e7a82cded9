// asterope-bench cache: reads of a cached file through a file system client's buffer cache.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/command_line.hpp"
#include "base/error.hpp"
#include "base/size_text.hpp"
#include "base/text.hpp"
#include "bench/apps/cached_file.hpp"
#include "bench/bench_run.hpp"

namespace asterope {

namespace {

struct CacheOptions {
    RoutineOptions routine{.rounds = 21};
    std::string sizes = "64K,256K,1M";
    std::string blocks = "4K,32K,128K";
    std::string file = "512M";
};

constexpr unsigned kMisses = 5; ///< of a hundred blocks

void check_cache(const std::vector<std::size_t>& sizes, const std::vector<std::size_t>& blocks,
                 std::size_t file) {
    for (const auto* list : {&sizes, &blocks}) {
        for (const std::size_t bytes : *list) {
            if (bytes < 512) {
                throw BadInput(format_size(bytes) + " is less than 512 B, the least here");
            }
            if (bytes & (bytes - 1)) {
                throw BadInput(format_size(bytes) +
                               " is not a power of two: reads and blocks must divide the file");
            }
        }
    }
    const std::size_t largest = std::max(sizes.back(), blocks.back());
    if (file % largest) {
        throw BadInput("--file " + format_size(file) + " is not a multiple of " +
                       format_size(largest) + ", the largest read or block");
    }
}

int run_cache(const CacheOptions& options) {
    const std::vector<std::size_t> sizes = parse_size_list(options.sizes);
    const std::vector<std::size_t> blocks = parse_size_list(options.blocks);
    const std::size_t file_bytes = parse_size(options.file);
    check_cache(sizes, blocks, file_bytes);
    BenchRun run(options.routine);
    require_memory(file_bytes, "--file " + format_size(file_bytes) + " is",
                   usable_memory(run.machine()));
    const int cpu = run.start(options.routine.cpu);

    std::printf("Sequential reads of a cached file of %s, %u %% of its blocks missing, %s against "
                "%s:\n%d paired rounds, CPU %d. x libc above 1: the routine is faster; floor: libc "
                "against itself.\n",
                format_size(file_bytes).c_str(), kMisses, options.routine.symbol().c_str(),
                run.machine().libc.c_str(), options.routine.rounds, cpu);
    // 2 jobs, read and used, of 3 entrants: libc, the routine, libc again
    run.plan(static_cast<double>(blocks.size() * sizes.size()) * 2 * 3);
    run.begin(plain_table("block    read", 27, TimeUnit::microseconds));
    const std::size_t settling = settling_bytes(last_cache_bytes(run.machine()));
    GeometricMean ratios[2];
    for (const std::size_t block : blocks) {
        CachedFile file(file_bytes, block);
        for (const std::size_t size : sizes) {
            SequentialReader reader(file, size, kMisses);
            for (const bool consume : {false, true}) {
                std::string label =
                    formatted("%-8s %-8s %s", format_size(block).c_str(), format_size(size).c_str(),
                              consume ? "and used" : "read");
                Job job{"cache", "cache", {label}, size};
                job.sample_cost = 1;
                job.time = [&](const Contender& contender, std::uint64_t, int) -> PartSeconds {
                    reader.run(contender.copy, times_for(settling, size), consume, true);
                    return {
                        reader.run(contender.copy, times_for(kTimedBytes, size), consume, false)};
                };
                ratios[consume].add(run.measure(job).front().routine().ratio.median);
            }
        }
    }
    std::printf("%s\n%s\n", mean_text("read", ratios[false]).c_str(),
                mean_text("read and used", ratios[true]).c_str());
    run.warn();
    return kDone;
}

} // namespace

Subcommand add_cache_command(CLI::App& app) {
    // the options must outlive this function, as the parser writes into them
    const auto options = std::make_shared<CacheOptions>();
    CLI::App& command = add_command(
        app, "cache",
        "sequential reads of a file through a file system client's buffer cache: blocks that a "
        "hash table finds, in shared memory larger than the last CPU cache, are copied into one "
        "buffer; 5 % are missing and are written into the cache first. 'read': the read alone; "
        "'and used': the application also sums the bytes");
    add_option(command, "--sizes", &options->sizes, "bytes a read, K, M, G for powers of 1024",
               "LIST", {.shows_default = true});
    add_option(command, "--blocks", &options->blocks, "bytes of a block of the cache", "LIST",
               {.shows_default = true});
    add_option(command, "--file", &options->file, "bytes of the file, and of the cache", "N",
               {.shows_default = true});
    add_options(command, options->routine);
    return {command, [options] {
                return in_child_process(options->routine, [&] { return run_cache(*options); });
            }};
}

} // namespace asterope
