// What `check --measure` times again: the winners of a profile, each beside its runner-up.
#include "check/contests.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/size_text.hpp"
#include "search/sensing_search.hpp"
#include "search/size_order.hpp"
#include "search/small_search.hpp"
#include "timing/cache_effect.hpp"

namespace asterope {

namespace {

/// Those above 0, scaled to add up to 1.
Weights scaled(Weights weights) {
    std::erase_if(weights, [](const auto& weighted) { return weighted.second == 0; });
    double sum = 0;
    for (const auto& [workload, weight] : weights) sum += weight;
    for (auto& [workload, weight] : weights) weight /= sum;
    return weights;
}

/// What the winners were chosen by. Profiles of before there were weights name a workload, or
/// nothing: then it is the default.
Weights weights_of(const SearchFacts& search) {
    if (search.weights.empty()) {
        return parse_objective(search.workload.empty() ? "balanced" : search.workload, "").weights;
    }
    const Weights weights = scaled(search.weights);
    if (weights.empty()) throw BadInput("its weights are all 0");
    return weights;
}

/// Up to how many bytes a small copy copies: the last word of its name.
std::size_t bound_of(const asterope_copy& small) {
    const std::string name = small.name;
    return parse_size(name.substr(name.rfind(' ') + 1));
}

} // namespace

TimedCopy CheckContests::pipeline(const Candidate& copy, const std::string& where) const {
    if (!has_all(copy.variant->needs, has_)) {
        throw BadInput("its copy of " + where + " is none that this CPU can run; tune again");
    }
    return timed_copy(copy);
}

TimedCopy CheckContests::sensing(const Sensing& sensing, const std::string& where) {
    for (const Candidate& copy :
         {sensing.hot, sensing.cold, sensing.fetch.value_or(sensing.cold)}) {
        pipeline(copy, where);
    }
    const SensingCopy copy{sensing.probe.copy,
                           sensing.hot,
                           sensing.cold,
                           {sensing.threshold, sensing.cached_ticks, sensing.uncached_ticks},
                           sensing.fetch};
    arguments_.push_back(copy.arguments());
    return copy.timed(arguments_.back());
}

HoldContest CheckContests::contest_of(const Interval& interval, const Weights& weights) {
    const std::string label = format_size(interval.size);
    HoldContest contest{interval.size,
                        label,
                        weights_at(interval.size, weights),
                        pipeline(interval.winner.copy, label),
                        std::nullopt,
                        {interval.winner.ratio, 1}};
    if (interval.sensing && senses_ && interval.size >= kSensingMinimum) {
        contest.rival = contest.holder;
        contest.holder = sensing(*interval.sensing, label);
        contest.tuned = {interval.sensing->ratio, interval.sensing->ratio / interval.winner.ratio};
    } else if (!interval.runners_up.empty()) {
        contest.rival = pipeline(interval.runners_up.front().copy, label);
        if (interval.proof) contest.tuned.lead = interval.proof->lead.median;
    }
    return contest;
}

std::optional<HoldContest> CheckContests::small_contest(const SmallOutcome& small) {
    if (small.distribution != "fleet") {
        small_left_out_ = "the small copies were tuned for calls of another distribution";
        return std::nullopt;
    }
    // What is too large for them goes on to the pipeline of the sizes above those that are drawn.
    const auto large =
        std::find_if(contests_.begin(), contests_.end(),
                     [](const HoldContest& contest) { return contest.size >= kLargestMixed; });
    const TimedCopy& beyond = (large == contests_.end() ? contests_.back() : *large).holder;
    const auto contestant = [&](const asterope_copy& copy) {
        if (!has_all(copy.needs, has_)) {
            throw BadInput("its small copy is none that this CPU can run; tune again");
        }
        return small_copy(copy.small, beyond.distance, beyond.function, copy.name);
    };
    // What it was chosen by: profiles of before know fewer workloads.
    const Weights weights =
        timed_weights(parse_small_weights(small.objective.empty() ? "balanced" : small.objective),
                      [&](Workload workload) { return small.winner.workloads.count(workload); });
    HoldContest contest{0,
                        "to " + format_size(bound_of(*small.winner.copy)),
                        scaled(weights),
                        contestant(*small.winner.copy),
                        std::nullopt,
                        {small.winner.ratio, small.proof ? small.proof->lead.median : 1}};
    if (!small.runners_up.empty()) contest.rival = contestant(*small.runners_up.front().copy);
    return contest;
}

CheckContests::CheckContests(const Profile& profile, const HasFeature& has, bool senses)
    : has_(has), senses_(senses) {
    if (!profile.search.source_map.empty()) {
        throw BadInput("its sources were mapped from " + profile.search.source_map +
                       ": what they are now only a new search can tell");
    }
    const Weights weights = weights_of(profile.search);
    for (const Interval& interval : profile.intervals) {
        contests_.push_back(contest_of(interval, weights));
    }
    std::optional<HoldContest> small;
    if (profile.small) small = small_contest(*profile.small);
    std::vector<HoldContest> ordered;
    for (const std::size_t index : coarse_to_fine(contests_.size())) {
        ordered.push_back(std::move(contests_[index]));
    }
    if (small) {
        const auto place = std::min<std::ptrdiff_t>(2, std::ssize(ordered));
        ordered.insert(ordered.begin() + place, std::move(*small));
    }
    contests_ = std::move(ordered);
}

} // namespace asterope
