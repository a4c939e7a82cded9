// What the applications of asterope-bench have in common: the paired comparison of their steps, its
// table, and options.
#include "bench/apps/steps.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/text.hpp"

namespace asterope {

std::vector<Paired> pair_steps(const std::vector<int>& entrants, int rounds, const StepTrial& trial,
                               MonitoredRounds* watched) {
    std::map<std::pair<int, std::uint64_t>, std::vector<double>> trials;
    std::vector<Paired> steps;
    if (watched) watched->enter_step();
    // The first step's comparison runs the trials, the others read their record.
    for (std::size_t step = 0; step == 0 || step < trials.begin()->second.size(); ++step) {
        const bool watch = watched && step == 0;
        steps.emplace_back(
            entrants, std::vector{kAnyWorkload}, rounds, 0,
            [&](int entrant, Workload, std::uint64_t round) {
                const auto timed = [&] { return trial(entrant, round); };
                if (step == 0) trials[{entrant, round}] = watch ? watched->time(timed) : timed();
                return trials.at({entrant, round}).at(step);
            },
            nullptr, [&] { return watch && watched->disturbed(); });
    }
    return steps;
}

std::vector<Step> compare_steps(int rounds, const StepTrial& trial, MonitoredRounds* watched) {
    std::vector<Step> steps;
    for (const Paired& paired :
         pair_steps({kAppLibc, kAppRoutine, kAppLibcAgain}, rounds, trial, watched)) {
        steps.push_back({paired.seconds(kAppLibc, kAnyWorkload),
                         paired.seconds(kAppRoutine, kAnyWorkload),
                         paired.ratio(kAppLibc, kAppRoutine, kAnyWorkload),
                         paired.ratio(kAppLibc, kAppLibcAgain, kAnyWorkload)});
    }
    return steps;
}

std::string step_header(std::string label) {
    append(label, " %9s %9s %10s %7s  %s\n", "libc us", "ours us", "ours GB/s", "x libc",
           "(low..high)   floor");
    return label;
}

std::string step_row(std::string label, const Step& step, std::size_t bytes) {
    append(label, " %9.1f %9.1f %10.2f %7.2f  (%.2f..%.2f)  (%.2f..%.2f)\n", step.libc * 1e6,
           step.ours * 1e6, static_cast<double>(bytes) / step.ours / 1e9, step.ratio.median,
           step.ratio.low, step.ratio.high, step.floor.low, step.floor.high);
    return label;
}

std::string ratio_summary(const std::string& what, const std::vector<double>& ratios) {
    double logs = 0;
    for (const double ratio : ratios) logs += std::log(ratio);
    std::string text = what;
    append(text, ": %.2f geometric mean, least %.2f",
           std::exp(logs / static_cast<double>(ratios.size())),
           *std::min_element(ratios.begin(), ratios.end()));
    return text;
}

unsigned times_for(std::size_t bytes, std::size_t each) {
    return static_cast<unsigned>(std::max<std::size_t>(4, bytes / each));
}

std::size_t settling_bytes_of(const Machine& machine) {
    return std::min<std::size_t>(last_cache_bytes(machine), std::size_t{64} << 20);
}

std::size_t usable_bytes(const Machine& machine) {
    return machine.usable_bytes ? machine.usable_bytes : machine.memory_bytes / 2;
}

BadInput too_large(const std::string& needs, const Machine& machine) {
    return BadInput(needs + " more than the " + std::to_string(usable_bytes(machine) >> 20) +
                    " MiB that may be taken: make it smaller");
}

void add_past_page(CLI::App& command, std::size_t& past_page, const std::string& whose) {
    const auto whole_words = [](const std::string& text) -> std::string {
        return std::stoul(text) % sizeof(std::uint64_t) ? "must be a multiple of 8" : "";
    };
    command
        .add_option("--past-page", past_page,
                    "bytes past a page at which " + whose +
                        "; 16 is what malloc does, and brings 4K aliasing")
        ->type_name("N")
        ->check(CLI::Range(0, 4088))
        ->check(whole_words)
        ->capture_default_str();
}

} // namespace asterope
