// Times a profile's copies again, says of each size whether it holds, and ends in time.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "check/profile_winners.hpp"
#include "machine/affinity.hpp"
#include "run/machine_timings.hpp"
#include "run/run_timings.hpp"
#include "timing/arena.hpp"
#include "timing/clock.hpp"

namespace asterope {

namespace {

using Clock = std::chrono::steady_clock;

/// Winners are begun within so many seconds of the 20 that the user was promised. The rest is for
/// the last one, which may be disturbed and repeated.
constexpr double kSeconds = 16;

/// How much longer a winner takes than its timed calls: warming up, settling caches, rounds that
/// are timed again.
constexpr double kOverhead = 2;

/// The largest of the winners' sizes whose buffers fit in the memory; 0 if all are too large.
std::size_t largest_that_fits(const ProfileWinners& winners, const Machine& machine) {
    std::size_t largest = 0;
    for (const ProfileWinner& winner : winners.all) {
        if (winner.size <= largest) continue;
        try {
            arena_bytes(winner.size, machine);
            largest = winner.size;
        } catch (const Failure&) { // too large
        }
    }
    return largest;
}

/// Fixes the calls of each sample of a winner. Returns an estimate of its seconds.
double begin(RunTimings& timings, const ProfileWinner& winner) {
    timings.enter(LoggedStep{Step::pipelines, winner.size, {}, winner.holder.operation});
    double seconds = 0;
    for (const auto& [workload, weight] : winner.weights) {
        const Calibration calibration = timings.calibration(winner.size, workload);
        const double sample = static_cast<double>(calibration.calls) * calibration.seconds;
        seconds += kOverhead * kHoldRounds * (winner.rival ? 4 : 3) * sample;
    }
    return seconds;
}

void tell(int label, const ProfileWinner& winner, const PresentResult& now, Retimed& retimed) {
    constexpr const char* kVerdicts[] = {"holds", "behind libc", "behind runner-up"};
    const char* const verdict = kVerdicts[static_cast<int>(now.verdict)];
    std::printf("%-*s  %4.2f  %-18s  %4.2f  %-18s  %.3f  %-16s  %s\n", label, winner.label.c_str(),
                winner.tuned.ratio, ratio_text(now.ratio).c_str(), winner.tuned.lead,
                now.lead ? ratio_text(*now.lead).c_str() : "none", now.floor.median, verdict,
                winner.holder.name.c_str());
    std::fflush(stdout);
    retimed.rows.push_back({{"of", winner.label},
                            {"copy", winner.holder.name},
                            {"ratio", estimate_json(now.ratio)},
                            {"noise_floor", estimate_json(now.floor)},
                            {"rounds", now.rounds},
                            {"verdict", verdict}});
    if (now.lead) retimed.rows.back()["lead"] = estimate_json(*now.lead);
    ++retimed.counts[winner.holder.operation].timed;
    if (now.verdict == Verdict::holds) return;
    retimed.fallen += (retimed.fallen.empty() ? "" : ", ") + winner.label;
}

} // namespace

Retimed time_winners_again(const ProfileWinners& winners, const Machine& machine, int wanted_cpu) {
    const Clock::time_point start = Clock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(Clock::now() - start).count();
    };
    const int cpu = pin_to_cpu(wanted_cpu);
    catch_interrupts();
    for (const std::string& warning : measurement_warnings(machine)) {
        std::fprintf(stderr, "warning: %s\n", warning.c_str());
    }
    if (!winners.small_left_out.empty()) {
        std::fprintf(stderr, "warning: left out: %s\n", winners.small_left_out.c_str());
    }
    const std::size_t largest = largest_that_fits(winners, machine);
    if (largest == 0) throw Failure("no memory for the buffers of any of its sizes: free some");
    start_clock(machine.cpu.invariant_tsc);
    RunTimings timings(true);
    MachineTimings figures(largest, machine, cpu, timings.budget);
    timings.go_on_with(figures);
    int label = 9; // the width of its column
    for (const ProfileWinner& winner : winners.all) {
        label = std::max(label, static_cast<int>(winner.label.size()));
    }

    std::printf("\nTimed again on CPU %d, %d paired rounds each; medians with intervals of 95 %%.\n"
                "x libc: libc's time over the winner's; x runner-up: the runner-up's over the "
                "winner's; floor: libc's over libc's.\n\n"
                "%-*s  %-24s  %s\n%-*s  %4s  %-18s  %4s  %-18s  floor\n",
                cpu, kHoldRounds, label, "Size", "x libc", "x runner-up", label, "", "then", "now",
                "then", "now");
    Retimed retimed{.all = winners.all.size()};
    for (const ProfileWinner& winner : winners.all) {
        retimed.counts[winner.holder.operation].fitting += winner.size <= largest;
    }
    for (const ProfileWinner& winner : winners.all) {
        if (winner.size > largest) continue;
        const bool first = retimed.rows.empty();
        if (!first && elapsed() >= kSeconds) break;
        if (elapsed() + begin(timings, winner) > kSeconds && !first) continue;
        std::vector<TimedCopy> copies = {winner.holder};
        if (winner.rival) copies.push_back(*winner.rival);
        const TimedCopy libc =
            libc_at(winner.size, machine.libc_thresholds, winner.holder.operation);
        tell(label, winner,
             check_winner(winner.size, winner.weights, winner.rival.has_value(), winner.tuned,
                          {timings, copies, libc}),
             retimed);
    }
    std::printf(
        "\n%zu of %zu were timed, in %.0f s. A size is stale if its winner lost to libc, or "
        "to its runner-up,\nin both of two runs: by more than %.0f %% beyond libc's distance from "
        "itself. A winner that was slower already when it\nwas chosen is stale only if it has lost "
        "that much more since.\n",
        retimed.rows.size(), winners.all.size(), elapsed(), 100 * kHoldBand);
    retimed.disturbed = timings.disturbed_rounds().facts().reason;
    return retimed;
}

} // namespace asterope
