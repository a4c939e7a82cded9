// The copies that a diagnosis compares: libc's, and the profile's winner of each size.
#include "diagnose/copies.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/size_text.hpp"
#include "space/tuple_json.hpp"
#include "timing/timed_copy.hpp"

namespace asterope::diagnosis {

Copy libc() {
    return {libc_copy(), 0};
}

Copies::Copies(const nlohmann::json& profile, const std::function<bool(std::string_view)>& has) {
    for (const nlohmann::json& interval : profile.at("intervals")) {
        const std::size_t up_to = interval.at("up_to");
        const auto winner = interval.value("winner", nlohmann::json());
        const auto tuple =
            winner.is_object() ? winner.value("tuple", nlohmann::json()) : nlohmann::json();
        intervals_.push_back({up_to, find_candidate(tuple, has)});
        if (!intervals_.back().winner) {
            left_out_.push_back("the winner up to " + format_size(up_to) +
                                " is none that this program has and this CPU runs: " +
                                tuple.dump(-1, ' ', true).substr(0, 120));
        }
    }
}

const Candidate* Copies::winner(std::size_t bytes) const {
    if (bytes < kMinimumBytes || intervals_.empty()) return nullptr;
    auto interval = std::find_if(intervals_.begin(), intervals_.end(),
                                 [&](const Interval& each) { return bytes <= each.up_to; });
    if (interval == intervals_.end()) --interval;
    return interval->winner ? &*interval->winner : nullptr;
}

bool Copies::empty() const {
    return std::none_of(intervals_.begin(), intervals_.end(),
                        [](const Interval& each) { return each.winner.has_value(); });
}

} // namespace asterope::diagnosis
