// Times a profile's copies again, says of each size whether it holds, and ends in time.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/modes.hpp"
#include "base/text.hpp"
#include "check/contests.hpp"
#include "machine/affinity.hpp"
#include "run/machine_timings.hpp"
#include "run/run_timings.hpp"
#include "timing/arena.hpp"
#include "timing/clock.hpp"

namespace asterope {

namespace {

using Clock = std::chrono::steady_clock;

/// Contests begin within so many seconds of the 20 that the user was promised. The rest is for the
/// last contest, which may be disturbed and repeated.
constexpr double kSeconds = 16;

/// How much longer a contest takes than its timed calls: warming up, settling caches, rounds that
/// are timed again.
constexpr double kOverhead = 2;

/// The largest of the contests' sizes whose buffers fit in the memory; 0 if all are too large.
std::size_t largest_that_fits(const std::vector<HoldContest>& contests, const Machine& machine) {
    std::size_t largest = 0;
    for (const HoldContest& contest : contests) {
        if (contest.size <= largest) continue;
        try {
            arena_bytes(contest.size, machine);
            largest = contest.size;
        } catch (const Failure&) { // too large
        }
    }
    return largest;
}

/// Fixes the calls of each sample of a contest. Returns an estimate of its seconds.
double begin(RunTimings& timings, const HoldContest& contest) {
    timings.enter(LoggedStep{Step::pipelines, contest.size, {}, contest.holder.operation}.name());
    double seconds = 0;
    for (const auto& [workload, weight] : contest.weights) {
        const Calibration calibration = timings.calibration(contest.size, workload);
        const double sample = static_cast<double>(calibration.calls) * calibration.seconds;
        seconds += kOverhead * kHoldRounds * (contest.rival ? 4 : 3) * sample;
    }
    return seconds;
}

/// How wide the column of labels is.
int label_width(const std::vector<HoldContest>& contests) {
    std::size_t width = 9;
    for (const HoldContest& contest : contests) width = std::max(width, contest.label.size());
    return static_cast<int>(width);
}

void tell(int label, const HoldContest& contest, const Outcome& outcome, Retimed& retimed) {
    const PresentResult& now = outcome.now;
    constexpr const char* kWords[] = {"holds", "behind libc", "behind runner-up"};
    std::printf("%-*s  %4.2f  %-18s  %4.2f  %-18s  %.3f  %-16s  %s\n", label, contest.label.c_str(),
                contest.tuned.ratio, ratio_text(now.ratio).c_str(), contest.tuned.lead,
                now.lead ? ratio_text(*now.lead).c_str() : "none", now.floor.median,
                kWords[static_cast<int>(outcome.verdict)], contest.holder.name.c_str());
    const ToldModes modes = modes_told(contest.label, now.rounds, "x libc",
                                       [](double ratio) { return formatted("%.2f", ratio); });
    for (const std::string& line : modes.lines) std::printf("  %s\n", line.c_str());
    std::fflush(stdout);
    if (!modes.json.is_null()) retimed.modes.push_back(modes.json);
    retimed.rows.push_back({{"of", contest.label},
                            {"copy", contest.holder.name},
                            {"ratio", estimate_json(now.ratio)},
                            {"noise_floor", estimate_json(now.floor)},
                            {"rounds", now.rounds},
                            {"verdict", kWords[static_cast<int>(outcome.verdict)]}});
    if (now.lead) retimed.rows.back()["lead"] = estimate_json(*now.lead);
}

} // namespace

Retimed time_winners_again(const CheckContests& contests, const Machine& machine, int wanted_cpu) {
    const Clock::time_point start = Clock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(Clock::now() - start).count();
    };
    const int cpu = pin_to_cpu(wanted_cpu);
    catch_interrupts();
    for (const std::string& warning : measurement_warnings(machine)) {
        std::fprintf(stderr, "warning: %s\n", warning.c_str());
    }
    if (!contests.small_left_out().empty()) {
        std::fprintf(stderr, "warning: left out: %s\n", contests.small_left_out().c_str());
    }
    const std::size_t largest = largest_that_fits(contests.all(), machine);
    if (largest == 0) throw Failure("no memory for the buffers of any of its sizes: free some");
    start_clock(machine.cpu.invariant_tsc);
    RunTimings timings(true);
    MachineTimings figures(largest, machine, cpu, timings.budget);
    timings.go_on_with(figures);
    const int label = label_width(contests.all());

    std::printf("\nTimed again on CPU %d, %d paired rounds each; medians with intervals of 95 %%.\n"
                "x libc: libc's time over the winner's; x runner-up: the runner-up's over the "
                "winner's; floor: libc's over libc's.\n\n"
                "%-*s  %-24s  %s\n%-*s  %4s  %-18s  %4s  %-18s  floor\n",
                cpu, kHoldRounds, label, "Size", "x libc", "x runner-up", label, "", "then", "now",
                "then", "now");
    Retimed retimed{.all = contests.all().size(), .operations = contests.operations()};
    std::size_t& timed = retimed.timed;
    std::string& fallen = retimed.fallen;
    for (const HoldContest& contest : contests.all()) retimed.fitting += contest.size <= largest;
    for (const HoldContest& contest : contests.all()) {
        if (contest.size > largest) continue;
        if (timed > 0 && elapsed() >= kSeconds) break;
        if (elapsed() + begin(timings, contest) > kSeconds && timed > 0) continue;
        std::vector<TimedCopy> copies = {contest.holder};
        if (contest.rival) copies.push_back(*contest.rival);
        const TimedCopy libc =
            libc_at(contest.size, machine.libc_thresholds, contest.holder.operation);
        const Outcome outcome =
            hold_contest(contest.size, contest.weights, contest.rival.has_value(), contest.tuned,
                         {timings, copies, libc});
        ++timed;
        tell(label, contest, outcome, retimed);
        if (outcome.verdict != Verdict::holds) {
            fallen += (fallen.empty() ? "" : ", ") + contest.label;
        }
    }
    std::printf(
        "\n%zu of %zu were timed, in %.0f s. A size is stale if its winner lost to libc, or "
        "to its runner-up,\nin both of two runs: by more than %.0f %% beyond libc's distance from "
        "itself. A winner that was slower already when it\nwas chosen is stale only if it has lost "
        "that much more since.\n",
        timed, contests.all().size(), elapsed(), 100 * kHoldBand);
    retimed.disturbed = timings.disturbed_rounds().facts().reason;
    return retimed;
}

} // namespace asterope
