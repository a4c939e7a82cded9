// Winners are found by the profile's intervals. Winners that this CPU cannot run are listed.
#include "diagnose/winners.hpp"

#include "base/size_text.hpp"

namespace asterope::diagnosis {

Winners::Winners(const Profile& profile, const HasFeature& has) {
    for (const Choice* choice : profile.of(ChoiceKind::pipelines)) {
        const Candidate& winner = choice->pipeline();
        std::optional<TimedCopy>& here = by_end_[choice->up_to];
        if (has_all(winner.variant->needs, has)) {
            here = timed_copy(winner);
        } else {
            left_out_.push_back("this CPU cannot run the winner up to " +
                                format_size(choice->up_to) + ": " + winner.name());
        }
    }
}

const TimedCopy* Winners::at(std::size_t bytes) const {
    if (bytes < kMinimumBytes || by_end_.empty()) return nullptr;
    auto interval = by_end_.lower_bound(bytes);
    if (interval == by_end_.end()) --interval;
    return interval->second ? &*interval->second : nullptr;
}

} // namespace asterope::diagnosis
