// The limits on repeating: by round, by step and by time, so that noise cannot make a run endless.
#include "timing/disturbed_rounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace asterope {

namespace {

/// A round is repeated at most three times in a row. A fourth try counts, disturbed or not.
constexpr int kInARow = 3;

/// A step may repeat a quarter as many rounds as count in it. So it lasts about a quarter longer at
/// most on any machine. Some repeats are free, as the first rounds have not earned any yet.
constexpr std::size_t kEarnedBy = 4, kFree = 8;

/// The same limit in time, of which this much is free. Rounds of the largest sizes take a hundred
/// times as long as others, and are disturbed the more often. The quarter that many short rounds
/// earned would let a few sizes make the run several times as long.
constexpr double kFreeSeconds = 0.5;

/// The share of disturbed rounds among those that count. Medians and sign tests bear many times as
/// many outliers. But some disturbances are more than outliers of single samples: where they are
/// this frequent, the machine was busy with something else.
constexpr double kBearable = 0.05;

/// Returns "" unless so many rounds stayed disturbed that noise may explain the result. Otherwise
/// tells how many: "12 % of the rounds stayed disturbed, however often they were repeated (seen:
/// preempted 9)".
std::string too_many_kept(const DisturbanceCounts& noise) {
    const auto counted = static_cast<double>(noise.rounds - noise.repeated);
    const double share = static_cast<double>(noise.kept) / std::max(counted, 1.0);
    if (share <= kBearable) return "";
    std::string kinds;
    for (const Disturbance disturbance : kDisturbances) {
        const auto seen = noise.disturbed.find(name_of(disturbance));
        if (seen == noise.disturbed.end()) continue;
        kinds += (kinds.empty() ? "" : ", ") + seen->first + ' ' + std::to_string(seen->second);
    }
    return std::to_string(std::lround(100 * share)) +
           " % of the rounds stayed disturbed, however often they were repeated (seen: " + kinds +
           ')';
}

} // namespace

void DisturbedRounds::enter_step() {
    step_ = {};
    in_a_row_ = 0;
}

bool DisturbedRounds::round_ended(const std::vector<Disturbance>& hits, double seconds) {
    for (const Disturbance hit : hits) ++counts_.disturbed[name_of(hit)];
    ++counts_.rounds;
    const bool affordable =
        step_.repeated < kFree + step_.counted / kEarnedBy &&
        step_.repeated_seconds + seconds <=
            kFreeSeconds + step_.counted_seconds / static_cast<double>(kEarnedBy);
    if (!hits.empty() && in_a_row_ < kInARow && affordable) {
        ++in_a_row_;
        ++counts_.repeated;
        ++step_.repeated;
        step_.repeated_seconds += seconds;
        return true;
    }
    in_a_row_ = 0;
    ++step_.counted;
    step_.counted_seconds += seconds;
    if (!hits.empty()) ++counts_.kept;
    return false;
}

DisturbanceCounts DisturbedRounds::facts() const {
    DisturbanceCounts facts = counts_;
    facts.reason = too_many_kept(facts);
    facts.provisional = !facts.reason.empty();
    return facts;
}

std::string noise_warning(const std::string& reason, const std::string& result) {
    if (reason.empty()) return "";
    return "warning: " + reason + ": " + result + " provisional; " + kQuieter;
}

void DisturbedRounds::warn(const std::string& result) const {
    const std::string warning = noise_warning(facts().reason, result);
    if (!warning.empty()) std::fprintf(stderr, "%s\n", warning.c_str());
}

} // namespace asterope
