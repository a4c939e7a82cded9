// Walks over the findings of each kind, and appends a choice for each of them.
#include "profile/make_profile.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "base/version.hpp"
#include "profile/provisional.hpp"

namespace asterope {

namespace {

/// For an intent the profile keeps the winners and their ratios under its one workload. Its callers
/// do not need the other figures, and the log has them.
void keep_winner(Choice& choice) {
    choice.gb_per_s = choice.bandwidth(*choice.intent);
    choice.workloads.clear();
    choice.proof.reset();
    choice.noise_floor.clear();
    choice.runners_up.clear();
}

void sense(Choice& choice, const SensingResult& result) {
    choice.plain = choice;
    choice.sensing = result.copy;
    set_figures(choice, result.finalist, choice.size);
}

/// The pipelines of one objective. Only the routine's own have copies that sense, proofs and
/// runners-up.
void add_pipelines(std::vector<Choice>& choices, std::size_t objective,
                   const PipelineFacts& pipelines, const std::vector<Candidate>& space) {
    for (const SizeInterval& one : pipelines.intervals[objective]) {
        const SizeResult& result = pipelines.found[one.result].results[objective];
        Choice choice = choice_of(ChoiceKind::pipelines, result, among(space));
        choice.above = one.above;
        choice.up_to = one.up_to;
        if (objective > 0) {
            choice.intent = find_workload(pipelines.objectives[objective].name);
            keep_winner(choice);
        } else if (const auto& sensing = pipelines.sensing[one.result]) {
            sense(choice, *sensing);
        }
        choices.push_back(std::move(choice));
    }
}

/// The axes that were explored beside the paper's.
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

} // namespace

std::size_t PipelineFacts::result_for(std::size_t size) const {
    const std::vector<SizeInterval>& of_routine = intervals.front();
    const auto interval = std::ranges::find_if(
        of_routine, [&](const SizeInterval& candidate) { return candidate.up_to >= size; });
    return interval == of_routine.end() ? of_routine.back().result : interval->result;
}

Entrant PipelineFacts::winner_for(std::size_t size) const {
    return found[result_for(size)].results.front().winner();
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

void add_choices(Profile& profile, const Findings& found, const Spaces& spaces) {
    const PipelineFacts& pipelines = found.pipelines;
    const Operation operation = pipelines.operation;
    SearchFacts& search = profile.search;
    const Objective& objective = pipelines.objectives.front();
    search.weights[operation] = counting(objective.weights);
    profile.left_out[operation] = found.left_out;
    if (found.exam) profile.exam[operation] = *found.exam;
    std::vector<Choice> choices;
    const auto add_small = [&](const SizeResult& result) -> Choice& {
        Choice& small = choices.emplace_back(
            choice_of(ChoiceKind::small, result, among(spaces.members("small"))));
        small.up_to = bound_of(small.member());
        return small;
    };
    if (found.small) add_small(*found.small);
    for (const auto& [told, result] : found.small_by_intent) {
        Choice& own = add_small(result);
        own.intent = told;
        keep_winner(own);
    }
    for (std::size_t i = 0; i < pipelines.intervals.size(); ++i) {
        const std::optional<Workload> told = find_workload(pipelines.objectives[i].name);
        const bool entry_point = told && facts_of(*told).entry_point;
        if (i == 0 || entry_point) add_pipelines(choices, i, pipelines, spaces.space);
    }
    choices.insert(choices.end(), found.others.begin(), found.others.end());
    for (Choice& one : choices) {
        one.operation = operation;
        if (one.up_to == 0) one.up_to = pipelines.intervals.front().back().up_to;
        profile.choices.push_back(std::move(one));
    }
    if (operation != Operation::copy) return;
    search.tool_version = kVersion;
    for (const Found& one : pipelines.found) {
        search.extended_candidates = std::max(search.extended_candidates, one.extended);
    }
    if (!profile.merged) {
        search.axes = axes_of(spaces.space, search.extended_candidates > 0, spaces.senses);
    }
    search.workload = objective.name;
    search.source_map = profile_name(search.source_map);
}

void settle(Profile& profile) {
    std::erase_if(profile.left_out, [](const auto& part) { return part.second.empty(); });
    profile.complete = profile.left_out.empty();
    decide_whether_provisional(profile);
}

} // namespace asterope
