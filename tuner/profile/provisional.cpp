// Whether a profile is provisional, because of noise, and why in words.
#include "profile/provisional.hpp"

#include "profile/profile.hpp"

namespace asterope {

namespace {

/// A cell whose floor's interval reaches further than this from 1 tells no copy from another: the
/// gains that winners are chosen for are mostly smaller.
constexpr double kWideFloor = 1.25;

/// The share of such cells that a search may have. A row rests on several sizes under half a dozen
/// workloads, so that single cells decide little. The interval of a quick search is that of its
/// five rounds, so that one disturbed round makes it wide. Quick searches of a busy machine had a
/// fifth.
constexpr double kBearableShare = 0.25;

} // namespace

void decide_whether_provisional(Profile& profile) {
    if (!profile.search.noise) return;
    DisturbanceCounts& noise = *profile.search.noise;
    const auto add = [&](const std::string& reason) {
        noise.reason += (noise.reason.empty() ? "" : ", and ") + reason;
        noise.provisional = true;
    };
    std::size_t undecided = 0, cells = 0, wide = 0;
    for (const Choice& one : profile.choices) {
        if (one.kind != ChoiceKind::pipelines && one.kind != ChoiceKind::small) continue;
        undecided += one.undecided;
        cells += one.noise_floor.size();
        for (const auto& [workload, floor] : one.noise_floor) {
            wide += floor.high > kWideFloor || floor.low * kWideFloor < 1;
        }
    }
    if (undecided > 0) {
        add("noise hid the fastest copy of " + std::to_string(undecided) +
            (undecided == 1 ? " choice" : " choices"));
    }
    if (static_cast<double>(wide) > kBearableShare * static_cast<double>(cells)) {
        add("libc differed from itself by more than 25 % in " + std::to_string(wide) + " of " +
            std::to_string(cells) + " cells");
    }
}

std::string why_provisional(const Profile& profile) {
    const auto& noise = profile.search.noise;
    if (!noise || !noise->provisional) return "";
    return noise->reason.empty() ? kUntoldReason : noise->reason;
}

} // namespace asterope
