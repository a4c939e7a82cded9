// A winner is behind where its whole interval lies below the tuned ratio, by more than the noise.
#include "check/rule.hpp"

#include <algorithm>
#include <cmath>

#include "timing/disturbed_rounds.hpp"

namespace asterope {

bool is_behind(const Estimate& now, double tuned, const Estimate& floor) {
    const double noise = std::exp(std::abs(std::log(floor.median)));
    const double least = std::min(1.0, tuned) / ((1 + kHoldBand) * noise);
    return now.high < least;
}

namespace {

/// Times all entrants in kHoldRounds further rounds of a race, libc under two names.
PresentResult time_again(Race& race, bool with_rival, const TunedResult& tuned) {
    race.run_off(all_entrants(with_rival ? 2 : 1), kHoldRounds, kHolder);
    PresentResult now{race.libc_over(kHolder), std::nullopt, race.libc_over(kLibcAgain)};
    if (with_rival) now.lead = race.lead(kHolder, kRival);
    now.rounds = race.libc_over_by_round(kHolder);
    if (is_behind(now.ratio, tuned.ratio, now.floor)) {
        now.verdict = Verdict::behind_libc;
    } else if (now.lead && is_behind(*now.lead, tuned.lead, now.floor)) {
        now.verdict = Verdict::behind_rival;
    }
    return now;
}

/// Why the timings give no verdict; empty where they give one.
std::string why_untold(const Retimed& retimed) {
    std::size_t timed = 0;
    bool few = false;
    for (const auto& [operation, count] : retimed.counts) {
        timed += count.timed;
        few = few || count.timed < std::min(count.fitting, kFewestTimed);
    }
    std::string why = retimed.disturbed;
    if (few) why += why.empty() ? "the time was up first" : ", and the time was up first";
    if (why.empty()) return "";
    return why + " (" + std::to_string(timed) + " of " + std::to_string(retimed.all) + " timed)";
}

} // namespace

PresentResult check_winner(std::size_t size, const Weights& weights, bool with_rival,
                           const TunedResult& tuned, const TimedCopies& timings) {
    Race race(size, weights, timings);
    const PresentResult first = time_again(race, with_rival, tuned);
    if (first.verdict == Verdict::holds) return first;
    PresentResult again = time_again(race, with_rival, tuned);
    if (again.verdict != first.verdict) again.verdict = Verdict::holds;
    return again;
}

Closing closing_of(const Retimed& retimed, bool differs) {
    if (const std::string why = why_untold(retimed); !why.empty()) {
        if (!differs) {
            return {"Cannot tell yet: " + why + "; " + kQuieter, false};
        }
        return {"The profile is stale for its differences, and timing cannot absolve it: " + why,
                true};
    }
    if (!retimed.fallen.empty()) return {"The profile no longer holds: " + retimed.fallen, true};
    return {"The profile still holds", false};
}

} // namespace asterope
