// "Faster at what?": sizes by workloads in one table.
#include "bench_workloads.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "libc_copy.hpp"
#include "objective.hpp"
#include "size_text.hpp"

namespace asterope {

namespace {

/// What became of one column so far.
struct Column {
    double logs = 0, least = std::numeric_limits<double>::infinity();
};

/// What each workload is, in two lines: those that find the data cached, and those that do not.
void print_legend() {
    std::string cached, uncached;
    for (const Workload workload : kMeasured) {
        const bool hot = workload == Workload::hot || workload == Workload::hot_read;
        std::string& line = hot ? cached : uncached;
        if (!line.empty()) line += "; ";
        line += std::string(name_of(workload)) + ": " + std::string(description_of(workload));
    }
    std::printf("\n%s;\n%s.\n", cached.c_str(), uncached.c_str());
}

void print_line(const std::string& label, const std::array<std::string, kMeasured.size()>& cells) {
    std::printf("%-9s", label.c_str());
    for (const std::string& cell : cells) std::printf("  %18s", cell.c_str());
    std::printf("\n");
    std::fflush(stdout);
}

} // namespace

void run_workloads(const std::vector<std::size_t>& sizes, const Arena& arena,
                   const Machine& machine, CopyFunction routine, Report& report) {
    report.suite("workloads");
    print_legend();
    std::array<std::string, kMeasured.size()> cells;
    for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = name_of(kMeasured[i]);
    print_line("x libc", cells);
    std::array<Column, kMeasured.size()> columns;
    Stopwatch stopwatch(arena, sizes.back(), last_cache_bytes(machine));
    for (const std::size_t size : sizes) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            stopwatch.calibrate(size, kMeasured[i], trial_seconds(kMeasured[i]));
            const Comparison comparison = report.compare(
                size, kMeasured[i], [&](int copy, Workload workload, std::uint64_t round) {
                    return stopwatch.time(copy == kRoutine ? routine : libc_copy(), 0, size,
                                          workload, round, company_of(copy));
                });
            const double ratio = comparison.ratio.median;
            char text[64];
            std::snprintf(text, sizeof text, "%.2f (%.2f..%.2f)", ratio, comparison.floor.low,
                          comparison.floor.high);
            cells[i] = text;
            columns[i].logs += std::log(ratio);
            columns[i].least = std::min(columns[i].least, ratio);
        }
        print_line(format_size(size), cells);
    }
    for (std::size_t i = 0; i < cells.size(); ++i) {
        char text[64];
        std::snprintf(text, sizeof text, "%.2f, least %.2f",
                      std::exp(columns[i].logs / static_cast<double>(sizes.size())),
                      columns[i].least);
        cells[i] = text;
    }
    print_line("all", cells);
}

} // namespace asterope
