// Whether a profile is provisional, because of noise, and why in words.
#include "profile/provisional.hpp"

#include "profile/profile.hpp"

namespace asterope {

std::size_t count_undecided(const Profile& profile) {
    std::size_t count = profile.small && profile.small->undecided;
    for (const Interval& interval : profile.intervals) count += interval.undecided;
    for (const auto& [workload, intent] : profile.intents) {
        for (const Interval& interval : intent.intervals) count += interval.undecided;
    }
    if (const auto& sets = profile.memset) {
        count += sets->small && sets->small->undecided;
        for (const Interval& interval : sets->intervals) count += interval.undecided;
    }
    return count;
}

std::string why_provisional(const Profile& profile) {
    if (!profile.search.noise || !profile.search.noise->provisional) return "";
    std::string why = kept_in_words(*profile.search.noise);
    if (const std::size_t undecided = count_undecided(profile)) {
        why += (why.empty() ? "" : ", and ") + std::to_string(undecided) +
               (undecided == 1 ? " winner is the plain copy, as noise hid a better one"
                               : " winners are the plain copy, as noise hid better ones");
    }
    return why.empty() ? "too many rounds of its search stayed disturbed" : why; // made by hand
}

} // namespace asterope
