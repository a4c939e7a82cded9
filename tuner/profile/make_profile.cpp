// Turns what a search found into the profile's winners, proofs and runners-up.
#include "profile/make_profile.hpp"

#include <algorithm>
#include <set>

#include "base/statistics.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "profile/provisional.hpp"
#include "search/aliased_search.hpp"

namespace asterope {

namespace {

/// How many of the others the profile keeps beside a winner: `check --measure` times the first, and
/// the log has them all.
constexpr std::size_t kRunnersUp = 2;

/// `size`: 0 of a mix of sizes, which has no GB/s.
void set_figures(Figures& figures, const Finalist& one, std::size_t size) {
    figures = {one.ratio, 0, one.workloads};
    for (const auto& [workload, measured] : one.workloads) {
        if (measured.ns <= 0) continue;
        figures.gb_per_s = std::max(figures.gb_per_s, static_cast<double>(size) / measured.ns);
    }
}

template <class Space> AnyCopy member(const Space& space, Entrant entrant) {
    return space[static_cast<std::size_t>(entrant)];
}

/// How a race ended: winner, proof, runners-up and noise floor. Only the winner has its
/// measurements.
template <class Space>
Choice choice_of(ChoiceKind kind, const SizeResult& result, const Space& space) {
    const Finalist& first = result.finalists.front();
    Choice choice;
    choice.kind = kind;
    choice.size = result.size;
    choice.copy = member(space, first.candidate);
    set_figures(choice, first, result.size);
    choice.tied = first.tied;
    choice.noise_floor = result.noise_floor;
    choice.undecided = result.undecided;
    choice.proof = Proof{result.samples, result.rounds, result.lead, {}};
    for (std::size_t i = 1; i < result.finalists.size(); ++i) {
        const Finalist& one = result.finalists[i];
        const AnyCopy copy = member(space, one.candidate);
        if (one.tied) choice.proof->ties.push_back(name_of(copy));
        if (i <= kRunnersUp) choice.runners_up.push_back({copy, one.ratio, one.tied});
    }
    return choice;
}

/// Of an intent the profile keeps the winners and their ratios, which are of its one workload: what
/// else was timed is no concern of its callers, and the log has it.
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
        Choice choice = choice_of(ChoiceKind::pipelines, result, space);
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

void add_small(std::vector<Choice>& choices, const SizeResult& result, const Spaces& spaces) {
    Choice choice = choice_of(ChoiceKind::small, result, spaces.small_space);
    choice.up_to = bound_of(choice.member());
    choices.push_back(std::move(choice));
}

/// As much as pipelines do: they forgive no overlap.
void add_overlapping(std::vector<Choice>& choices, const SizeResult& result, const Spaces& spaces,
                     std::size_t up_to) {
    Choice choice = choice_of(ChoiceKind::overlapping, result, spaces.overlapping_space);
    choice.up_to = up_to;
    choice.proof.reset();
    choices.push_back(std::move(choice));
}

/// Its ratio is that of the sizes that it is taken for: libc's time over the pipeline's, and that
/// over its own.
void add_aliased(std::vector<Choice>& choices, const std::vector<SizeResult>& sizes,
                 const Spaces& spaces) {
    const std::optional<AliasedChoice> chosen = choose_aliased(sizes);
    if (!chosen) return;
    const auto& [variant, above, up_to] = *chosen;
    Choice choice;
    choice.kind = ChoiceKind::aliased;
    choice.above = above;
    choice.up_to = up_to;
    choice.copy = spaces.aliased_space[variant];
    std::vector<double> ratios;
    for (const SizeResult& one : sizes) {
        if (above < one.size && one.size <= up_to) {
            ratios.push_back(aliased_ratio(one, variant + 1));
        }
    }
    choice.ratio = geometric_mean(ratios);
    choices.push_back(std::move(choice));
}

/// One a size: where several threads are not taken, one copies alone, and they are the runner-up.
/// What is taken at a size is taken from there on.
void add_threads(std::vector<Choice>& choices, const Findings& found) {
    std::size_t above = 0;
    for (std::size_t i = 0; i < found.shared.size(); ++i) {
        const SizeResult& one = found.shared[i];
        Choice choice;
        choice.kind = ChoiceKind::threads;
        choice.above = i ? above : one.size - 1;
        choice.size = choice.up_to = one.size;
        choice.noise_floor = one.noise_floor;
        choice.copy = member(found.shares, one.winner());
        if (choice.share().threads > 1) {
            set_figures(choice, one.finalists.front(), one.size);
        } else {
            const Finalist& next = one.finalists.at(1);
            choice.runners_up = {{member(found.shares, next.candidate), next.ratio, false}};
            const bool begins = i + 1 < found.shared.size() && found.shared[i + 1].winner() > 0;
            if (begins) choice.up_to = found.shared[i + 1].size - 1;
        }
        above = choice.up_to;
        choices.push_back(std::move(choice));
    }
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
    if (found.small) add_small(choices, *found.small, spaces);
    for (std::size_t i = 0; i < pipelines.intervals.size(); ++i) {
        const std::optional<Workload> told = find_workload(pipelines.objectives[i].name);
        const bool entry_point = told && facts_of(*told).entry_point;
        if (i == 0 || entry_point) add_pipelines(choices, i, pipelines, spaces.space);
    }
    if (found.overlapping) {
        const std::size_t up_to = pipelines.intervals.front().back().up_to;
        add_overlapping(choices, *found.overlapping, spaces, up_to);
    }
    add_aliased(choices, found.aliased, spaces);
    add_threads(choices, found);
    if (!found.shared.empty()) search.threads = found.shares.back().threads;
    for (Choice& one : choices) {
        one.operation = operation;
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
