// The copies that a diagnosis compares: libc's, and the profile's winner of each size.
#include "diagnose/copies.hpp"

#include <algorithm>

#include "base/size_text.hpp"

namespace asterope::diagnosis {

Copy libc() {
    return {libc_copy(), 0};
}

Copies::Copies(const Profile& profile, const HasFeature& has) {
    for (const Choice* choice : profile.of(ChoiceKind::pipelines)) {
        const Candidate& winner = choice->pipeline();
        intervals_.push_back({choice->up_to, std::nullopt});
        if (has_all(winner.variant->needs, has)) {
            intervals_.back().winner = winner;
        } else {
            left_out_.push_back("the winner up to " + format_size(choice->up_to) +
                                " is none that this CPU runs: " + winner.name());
        }
    }
}

const Candidate* Copies::winner(std::size_t bytes) const {
    if (bytes < kMinimumBytes || intervals_.empty()) return nullptr;
    auto interval =
        std::ranges::find_if(intervals_, [&](const Interval& each) { return bytes <= each.up_to; });
    if (interval == intervals_.end()) --interval;
    return interval->winner ? &*interval->winner : nullptr;
}

bool Copies::empty() const {
    return std::ranges::none_of(intervals_,
                                [](const Interval& each) { return each.winner.has_value(); });
}

} // namespace asterope::diagnosis
