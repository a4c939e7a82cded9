// Turns what a search found into the profile's winners, proofs and runners-up.
#include "profile/make_profile.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "base/text.hpp"
#include "base/version.hpp"
#include "profile/provisional.hpp"

namespace asterope {

namespace {

/// How many of the others the profile keeps beside a winner: `check --measure` times the first, and
/// the log has them all.
constexpr std::size_t kRunnersUp = 2;

std::map<Workload, Measurement> measurements_of(const Finalist& finalist) {
    std::map<Workload, Measurement> workloads;
    for (const auto& [workload, measured] : finalist.workloads) {
        Measurement& one = workloads[workload];
        one.ns = measured.seconds * 1e9;
        one.libc_ns = measured.libc_seconds * 1e9;
        one.ratio = measured.ratio;
        if (measured.best_reference) {
            one.best_ratio = measured.best_reference->ratio;
            one.best_reference = measured.best_reference->name;
        }
    }
    return workloads;
}

/// The copy of a race's entrant, as the profile has it: a member of `space`.
const Candidate& member(const std::vector<Candidate>& space, Entrant entrant) {
    return space[static_cast<std::size_t>(entrant)];
}

const asterope_copy* member(const std::vector<const asterope_copy*>& space, Entrant entrant) {
    return space[static_cast<std::size_t>(entrant)];
}

Proof proof_of(const SizeResult& result, const std::function<std::string(Entrant)>& name) {
    Proof proof{result.samples, result.rounds, result.lead, {}};
    for (std::size_t i = 1; i < result.finalists.size(); ++i) {
        const Finalist& finalist = result.finalists[i];
        if (finalist.tied) proof.ties.push_back(name(finalist.candidate));
    }
    return proof;
}

/// Winner, runners-up and noise floor of one race. Only the winner has its measurements.
template <class Copy, class Space>
RaceOutcome<Copy> outcome_of(const SizeResult& result, const Space& space) {
    const auto entry = [&](const Finalist& one) -> Entry<Copy> {
        return {Copy{member(space, one.candidate)}, one.ratio, one.tied, {}};
    };
    RaceOutcome<Copy> outcome;
    const Finalist& first = result.finalists.front();
    outcome.winner = entry(first);
    outcome.winner.workloads = measurements_of(first);
    for (std::size_t i = 1; i < result.finalists.size() && i <= kRunnersUp; ++i) {
        outcome.runners_up.push_back(entry(result.finalists[i]));
    }
    outcome.noise_floor = result.noise_floor;
    outcome.undecided = result.undecided;
    return outcome;
}

Sensing sensing_of(const SensingResult& result) {
    const SensingCopy& copy = result.copy;
    return {{copy.probe},
            copy.threshold.ticks,
            copy.threshold.cached_ticks,
            copy.threshold.uncached_ticks,
            copy.hot,
            copy.cold,
            copy.fetch,
            result.finalist.ratio,
            measurements_of(result.finalist)};
}

/// Of an intent the profile keeps the winners and their ratios, which are of its one workload: what
/// else was timed is no concern of its callers, and the log has it.
void keep_winner(Interval& interval) {
    interval.winner.workloads.clear();
    interval.proof.reset();
    interval.noise_floor.clear();
    interval.runners_up.clear();
}

/// The intervals of one objective. Only the routine's own have sensing copies, proofs and
/// runners-up.
std::vector<Interval> intervals_of(std::size_t objective, const PipelineFacts& pipelines,
                                   const std::vector<Candidate>& space) {
    const auto name = [&](Entrant entrant) { return member(space, entrant).name(); };
    std::vector<Interval> intervals;
    for (const SizeInterval& one : pipelines.intervals[objective]) {
        const Found& found = pipelines.found[one.result];
        const SizeResult& result = found.results[objective];
        Interval interval{
            outcome_of<Candidate>(result, space), one.above, one.up_to, result.size, {}, {}};
        interval.proof = proof_of(result, name);
        if (objective > 0) {
            keep_winner(interval);
        } else if (const auto& sensing = pipelines.sensing[one.result]) {
            interval.sensing = sensing_of(*sensing);
        }
        intervals.push_back(std::move(interval));
    }
    return intervals;
}

/// What was explored beside the paper's axes.
std::vector<std::string> axes_of(const std::vector<Candidate>& space, bool extended, bool sensing) {
    std::set<std::string_view> explored;
    for (const Candidate& candidate : space) {
        if (extended) explored.insert(candidate.axis());
    }
    explored.erase("paper");
    explored.erase("several");
    std::vector<std::string> axes(explored.begin(), explored.end());
    if (sensing) axes.emplace_back("sensing");
    return axes;
}

template <class Copy> SmallOutcomeOf<Copy> small_outcome(const SmallFacts& small) {
    SmallOutcomeOf<Copy> outcome{outcome_of<Copy>(small.result, small.space),
                                 profile_name(small.distribution), small.objective};
    outcome.proof = proof_of(small.result, [&](Entrant entrant) {
        return std::string(member(small.space, entrant)->name);
    });
    return outcome;
}

AliasedOutcome outcome_of(const AliasedFacts& aliased) {
    AliasedOutcome outcome;
    if (const auto& choice = aliased.choice) {
        outcome.winner = {choice->above, choice->up_to, {aliased.space[choice->variant]}};
    }
    for (const AliasedSize& size : aliased.sizes) {
        outcome.sizes.push_back({size.size,
                                 size.pipeline,
                                 {aliased.space[size.variant]},
                                 size.best,
                                 {},
                                 size.undecided});
        for (std::size_t i = 0; i < size.gains.size(); ++i) {
            outcome.sizes.back().gains.push_back({{aliased.space[i]}, size.gains[i]});
        }
    }
    return outcome;
}

ThreadsOutcome outcome_of(const ThreadsFacts& threads) {
    ThreadsOutcome outcome{threads.most, threads.intervals, {}};
    for (const SharedSize& size : threads.sizes) {
        SharedOutcome one{size.size, size.best, size.taken, size.ratio, {}, size.noise_floor};
        for (const auto& [workload, measured] : size.workloads) {
            one.workloads[workload] = {measured.seconds * 1e9, measured.libc_seconds * 1e9,
                                       measured.ratio, static_cast<std::size_t>(size.rounds)};
        }
        outcome.results.push_back(std::move(one));
    }
    return outcome;
}

} // namespace

std::size_t small_bound(const std::optional<SmallFacts>& small) {
    if (!small) return 0;
    const auto winner = static_cast<std::size_t>(small->result.finalists.front().candidate);
    return bound_of(*small->space[winner]);
}

std::size_t PipelineFacts::result_for(std::size_t size) const {
    const std::vector<SizeInterval>& of_routine = intervals.front();
    const auto interval =
        std::find_if(of_routine.begin(), of_routine.end(),
                     [&](const SizeInterval& candidate) { return candidate.up_to >= size; });
    return interval == of_routine.end() ? of_routine.back().result : interval->result;
}

Entrant PipelineFacts::winner_for(std::size_t size) const {
    return found[result_for(size)].results.front().finalists.front().candidate;
}

void begin_sensing_at_minimum(PipelineFacts& pipelines) {
    std::vector<SizeInterval>& intervals = pipelines.intervals.front();
    for (std::size_t i = 0; i < intervals.size(); ++i) {
        const std::size_t result = intervals[i].result;
        if (!pipelines.sensing[result] || intervals[i].above + 1 >= kSensingMinimum) continue;
        if (i > 0 && pipelines.found[result].results.front().size >= kSensingMinimum) {
            intervals[i - 1].up_to = intervals[i].above = kSensingMinimum - 1;
        } else {
            pipelines.sensing[result].reset();
        }
    }
}

SetOutcome set_outcome(const SearchResults& results, const LeftOut& left_out,
                       const std::optional<ExamFacts>& exam, std::size_t candidates) {
    SetOutcome outcome;
    outcome.weights = counting(results.pipelines.objectives.front().weights);
    outcome.candidates = candidates;
    if (results.small) outcome.small = small_outcome<SmallSet>(*results.small);
    outcome.intervals = intervals_of(0, results.pipelines, results.space);
    outcome.exam = exam;
    outcome.left_out = left_out;
    return outcome;
}

void add_results(Profile& profile, const SearchResults& results) {
    const PipelineFacts& pipelines = results.pipelines;
    SearchFacts& search = profile.search;
    search.tool_version = kVersion;
    for (const Found& found : pipelines.found) {
        search.extended_candidates = std::max(search.extended_candidates, found.extended);
    }
    search.axes = axes_of(results.space, search.extended_candidates > 0, results.sensing);
    const Objective& objective = pipelines.objectives.front();
    search.workload = objective.name;
    search.weights = counting(objective.weights);
    search.source_map = profile_name(search.source_map);

    if (results.small) profile.small = small_outcome<SmallCopy>(*results.small);
    if (results.aliased) profile.aliased = outcome_of(*results.aliased);
    if (results.overlapping) {
        profile.overlapping =
            outcome_of<OverlappingCopy>(results.overlapping->result, results.overlapping->space);
    }
    if (results.threads) profile.threads = outcome_of(*results.threads);
    profile.intervals = intervals_of(0, pipelines, results.space);
    for (std::size_t i = 1; i < pipelines.objectives.size(); ++i) {
        const Objective& intent = pipelines.objectives[i];
        const std::optional<Workload> told = find_workload(intent.name);
        if (!told || !facts_of(*told).entry_point) continue;
        profile.intents[*told].intervals = intervals_of(i, pipelines, results.space);
    }
    profile.complete = profile.has_all();
    decide_whether_provisional(profile);
}

} // namespace asterope
