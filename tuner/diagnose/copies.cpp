// Winners are found by the profile's intervals. Winners that this CPU cannot run are listed.
#include "diagnose/copies.hpp"

#include <algorithm>

#include "base/size_text.hpp"

namespace asterope::diagnosis {

Copies::Copies(const Profile& profile, const HasFeature& has) {
    for (const Choice* choice : profile.of(ChoiceKind::pipelines)) {
        const Candidate& winner = choice->pipeline();
        std::optional<TimedCopy>& here = winners_[choice->up_to];
        if (has_all(winner.variant->needs, has)) {
            here = timed_copy(winner);
        } else {
            left_out_.push_back("this CPU cannot run the winner up to " +
                                format_size(choice->up_to) + ": " + winner.name());
        }
    }
}

const TimedCopy* Copies::winner(std::size_t bytes) const {
    if (bytes < kMinimumBytes || winners_.empty()) return nullptr;
    auto interval = winners_.lower_bound(bytes);
    if (interval == winners_.end()) --interval;
    return interval->second ? &*interval->second : nullptr;
}

bool Copies::empty() const {
    return std::ranges::none_of(winners_, [](const auto& each) { return each.second.has_value(); });
}

} // namespace asterope::diagnosis
