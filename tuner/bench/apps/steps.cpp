// Paired comparison of an application's steps: libc's copy, the routine, and libc's copy again.
#include "bench/apps/steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "timing/paired.hpp"

namespace asterope {

std::vector<Step> compare_steps(int rounds, const StepTrial& trial, MonitoredRounds* watched) {
    const std::vector<int> copies = {kAppLibc, kAppRoutine, kAppLibcAgain};
    constexpr Workload kAny = Workload::hot; // Paired asks for one; here there is but one
    std::map<std::pair<int, std::uint64_t>, std::vector<double>> trials;
    std::vector<Step> steps;
    if (watched) watched->enter_step();
    // The first step's comparison runs the trials, the others read their record.
    for (std::size_t step = 0; step == 0 || step < trials.begin()->second.size(); ++step) {
        const bool watch = watched && step == 0;
        const Paired paired(
            copies, {kAny}, rounds, 0,
            [&](int copy, Workload, std::uint64_t round) {
                const auto timed = [&] { return trial(copy, round); };
                if (step == 0) trials[{copy, round}] = watch ? watched->time(timed) : timed();
                return trials.at({copy, round}).at(step);
            },
            nullptr, [&] { return watch && watched->disturbed(); });
        steps.push_back({paired.seconds(kAppLibc, kAny), paired.seconds(kAppRoutine, kAny),
                         paired.ratio(kAppLibc, kAppRoutine, kAny),
                         paired.ratio(kAppLibc, kAppLibcAgain, kAny)});
    }
    return steps;
}

std::string ratio_columns(const Step& step) {
    char text[80];
    std::snprintf(text, sizeof text, " %7.2f  (%.2f..%.2f)  (%.2f..%.2f)", step.ratio.median,
                  step.ratio.low, step.ratio.high, step.floor.low, step.floor.high);
    return text;
}

std::string ratio_summary(const std::string& what, const std::vector<double>& ratios) {
    double logs = 0;
    for (const double ratio : ratios) logs += std::log(ratio);
    char text[80];
    std::snprintf(text, sizeof text, ": %.2f geometric mean, least %.2f",
                  std::exp(logs / static_cast<double>(ratios.size())),
                  *std::min_element(ratios.begin(), ratios.end()));
    return what + text;
}

} // namespace asterope
