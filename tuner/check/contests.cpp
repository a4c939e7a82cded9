// What `check --measure` times again: the winners of a profile, each beside its runner-up.
#include "check/contests.hpp"

#include <algorithm>
#include <set>
#include <utility>

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
        return parse_objective(search.workload.empty() ? "balanced" : search.workload).weights;
    }
    const Weights weights = scaled(search.weights);
    if (weights.empty()) throw BadInput("its weights are all 0");
    return weights;
}

Weights weights_of(const SetOutcome& memset) {
    if (memset.weights.empty()) {
        return objective_of_sets(parse_objective("balanced")).weights;
    }
    const Weights weights = scaled(memset.weights);
    if (weights.empty()) throw BadInput("its weights of memset are all 0");
    return weights;
}

/// What a table calls a contest: those of copies by the size alone.
std::string label_of(Operation operation, const std::string& size) {
    return operation == Operation::copy ? size : std::string(name_of(operation)) + ' ' + size;
}

} // namespace

TimedCopy CheckContests::pipeline(const Candidate& copy, std::size_t size) const {
    if (!has_all(copy.variant->needs, has_)) {
        throw BadInput("its " + std::string(name_of(operation_of(*copy.variant))) + " of " +
                       format_size(size) + " is none that this CPU can run; tune again");
    }
    return timed_copy(copy);
}

TimedCopy CheckContests::sensing(const Sensing& sensing, std::size_t size) {
    for (const Candidate& copy :
         {sensing.hot, sensing.cold, sensing.fetch.value_or(sensing.cold)}) {
        pipeline(copy, size);
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
    TimedCopy winner = pipeline(interval.winner.copy, interval.size);
    HoldContest contest{interval.size,
                        label_of(winner.operation, format_size(interval.size)),
                        weights_at(interval.size, weights),
                        std::move(winner),
                        std::nullopt,
                        {interval.winner.ratio, 1}};
    if (interval.sensing && senses_ && interval.size >= kSensingMinimum) {
        contest.rival = contest.holder;
        contest.holder = sensing(*interval.sensing, interval.size);
        contest.tuned = {interval.sensing->ratio, interval.sensing->ratio / interval.winner.ratio};
    } else if (!interval.runners_up.empty()) {
        contest.rival = pipeline(interval.runners_up.front().copy, interval.size);
        if (interval.proof) contest.tuned.lead = interval.proof->lead.median;
    }
    return contest;
}

template <class Small>
std::optional<HoldContest> CheckContests::small_contest(const Small& small, Operation operation,
                                                        const Contests& pipelines) {
    const std::string what(facts_of(operation).small);
    if (small.distribution != "fleet") {
        small_left_out_ += (small_left_out_.empty() ? "the " : ", the ") + what +
                           " were tuned for calls of another distribution";
        return std::nullopt;
    }
    // What is too large for them goes on to the pipeline of the sizes above those that are drawn.
    const auto large =
        std::find_if(pipelines.begin(), pipelines.end(),
                     [](const HoldContest& contest) { return contest.size >= kLargestMixed; });
    const TimedCopy& beyond = (large == pipelines.end() ? pipelines.back() : *large).holder;
    const auto contestant = [&](const asterope_copy& copy) {
        if (!has_all(copy.needs, has_)) {
            throw BadInput("one of its " + what + " is none that this CPU can run; tune again");
        }
        return small_copy(copy.small, beyond.distance, beyond.function, copy.name, operation);
    };
    // What it was chosen by: profiles of before know fewer workloads.
    const std::string objective = small.objective.empty() ? "balanced" : small.objective;
    const Weights weights = timed_weights(small_weights(operation), [&](Workload workload) {
        return small.winner.workloads.count(workload);
    });
    HoldContest contest{0,
                        label_of(operation, "to " + format_size(bound_of(*small.winner.copy))),
                        scaled(weights),
                        contestant(*small.winner.copy),
                        std::nullopt,
                        {small.winner.ratio, small.proof ? small.proof->lead.median : 1}};
    if (!small.runners_up.empty()) contest.rival = contestant(*small.runners_up.front().copy);
    return contest;
}

template <class Small>
CheckContests::Contests
CheckContests::contests_of(Operation operation, const std::vector<Interval>& intervals,
                           const std::optional<Small>& small, const Weights& weights) {
    Contests pipelines, ordered;
    for (const Interval& interval : intervals) {
        pipelines.push_back(contest_of(interval, weights));
    }
    if (pipelines.empty()) return ordered; // its time was up: nothing for small ones to go on with
    std::optional<HoldContest> of_small;
    if (small) of_small = small_contest(*small, operation, pipelines);
    for (const std::size_t index : coarse_to_fine(pipelines.size())) {
        ordered.push_back(std::move(pipelines[index]));
    }
    if (of_small) {
        const auto place = std::min<std::ptrdiff_t>(2, std::ssize(ordered));
        ordered.insert(ordered.begin() + place, std::move(*of_small));
    }
    return ordered;
}

CheckContests::CheckContests(const Profile& profile, const HasFeature& has, bool senses)
    : has_(has), senses_(senses) {
    if (!profile.search.source_map.empty()) {
        throw BadInput("its sources were mapped from " + profile.search.source_map +
                       ": what they are now only a new search can tell");
    }
    Contests copies =
        contests_of(Operation::copy, profile.intervals, profile.small, weights_of(profile.search));
    Contests sets;
    if (const auto& memset = profile.memset) {
        sets = contests_of(Operation::set, memset->intervals, memset->small, weights_of(*memset));
    }
    for (std::size_t i = 0; i < std::max(copies.size(), sets.size()); ++i) {
        for (Contests* own : {&copies, &sets}) {
            if (i < own->size()) contests_.push_back(std::move((*own)[i]));
        }
    }
}

std::size_t CheckContests::operations() const {
    std::set<Operation> operations;
    for (const HoldContest& contest : contests_) operations.insert(contest.holder.operation);
    return operations.size();
}

} // namespace asterope
