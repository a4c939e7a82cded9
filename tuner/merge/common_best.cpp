// Runs the ordinary search on the merged figures of the sources, one operation after the other.
#include "merge/common_best.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "base/error.hpp"
#include "base/size_text.hpp"
#include "base/text.hpp"
#include "merge/common_pipelines.hpp"
#include "run/result.hpp"
#include "run/steps.hpp"

namespace asterope {

namespace {

/// The operation's search on a machine of this type, by the first log and the least rigor. Copies
/// that were wrong on some machine were not timed there.
OperationSearch search_of(const std::vector<MergeSource>& sources, Operation operation) {
    const LogHeader& header = sources.front().log.header;
    const Machine machine = machine_of(header);
    Plan plan(operation, Plan(replayed_request(header), machine));
    for (const MergeSource& source : sources) {
        const auto& search = source.profile.search;
        const unsigned threads = search.threads.value_or(1);
        plan.threads = std::min(plan.threads, threads);
        const auto place = [](const std::string& rigor) {
            return std::ranges::find(kRigors, rigor);
        };
        if (place(search.rigor) < place(plan.rigor.name)) plan.rigor = parse_rigor(search.rigor);
    }
    return {plan,
            Spaces(granted_features(machine.cpu), facts_of(operation).has_entry_points, false,
                   operation, Spaces::Invalids()),
            {}};
}

/// Keeps the members of the other kinds that all machines timed, at all sizes at which any was
/// timed.
void keep_timed(const MergedTimings& timings, const OperationRun& run,
                const std::vector<Found>& found, Spaces& spaces) {
    for (auto& [kind, members] : spaces.kinds) {
        const Step step =
            std::ranges::find(kChoiceKinds, std::string_view(kind->name), &KindFacts::name)->step;
        std::vector<LoggedStep> steps = {run.logged(step)};
        for (const Found& at : found) steps.push_back(run.logged(step, at.results.front().size));
        std::erase_if(steps, [&](const LoggedStep& one) { return !timings.has(one); });
        std::erase_if(members, [&](const asterope_copy* copy) {
            return steps.empty() || !std::ranges::all_of(steps, [&](const LoggedStep& one) {
                       return timings.has(one, copy->name);
                   });
        });
    }
}

/// The parts that some machines have for the operation, and that the merged result lacks.
LeftOut left_out_of(const std::vector<MergeSource>& sources, Operation operation,
                    const Findings& found) {
    std::set<std::size_t> sizes;
    std::set<Step> steps;
    for (const MergeSource& source : sources) {
        const Profile& profile = source.profile;
        for (const std::size_t size : profile.sizes(operation)) sizes.insert(size);
        for (std::size_t i = 0; i < kChoiceKinds.size(); ++i) {
            const auto kind = static_cast<ChoiceKind>(i);
            const bool lost = profile.first(kind, operation) && !found.has(kind);
            if (lost && facts_of(kind).always) steps.insert(facts_of(kind).step);
        }
    }
    for (const Found& one : found.pipelines.found) sizes.erase(one.results.front().size);
    if (!found.small) steps.insert(Step::small);
    return {{sizes.begin(), sizes.end()}, steps};
}

/// Merges the searches of one operation. Runs the steps of a run, except that of the pipelines.
CommonPipelines search_together(OperationSearch& search, const std::vector<MergeSource>& sources) {
    std::vector<const LoggedSteps*> logs;
    for (const MergeSource& source : sources) logs.push_back(&source.log.steps);
    MergedTimings merged(logs);
    RunTimings timings(true);
    OperationRun run(search, machine_of(sources.front().log.header), 1, timings, merged);
    CommonPipelines common = find_common_pipelines(run, merged, sources);
    Findings& found = search.findings;
    found.pipelines = common.facts;
    if (found.pipelines.found.empty()) return common;
    keep_timed(merged, run, found.pipelines.found, search.spaces);
    const bool all_have_small = std::ranges::all_of(sources, [&](const MergeSource& source) {
        return source.profile.first(ChoiceKind::small, search.plan.operation) != nullptr;
    });
    if (!search.spaces.members("small").empty() && all_have_small) {
        found.small = find_small(run, search.spaces.space.front(), false).all;
    }
    if (!search.spaces.members("overlapping").empty()) find_overlapping(run, found);
    find_other_kinds(run, found);
    found.left_out = left_out_of(sources, search.plan.operation, found);
    return common;
}

void append_table(std::string& out, const std::vector<const Choice*>& choices,
                  const std::vector<std::size_t>& unsensed) {
    std::string parameters;
    for (const asterope_axis& axis : choices.front()->pipeline().axes()) {
        if (!axis.mark) parameters += std::string(axis.title) + ' ';
    }
    out += formatted("%-10s %-32s %6s %18s\n", "Size", (parameters + "...").c_str(), "x libc",
                     "of each best: mean, worst");
    for (const Choice* one : choices) {
        out += formatted("%-10s %-32s %6.2f %12.1f %% %7.1f %%\n", format_size(one->size).c_str(),
                         one->pipeline().name().c_str(), one->plain_ratio(),
                         100 * one->of_best->mean, 100 * one->of_best->worst);
    }
    for (const std::size_t size : unsensed) {
        out += formatted("%s: no sensing copy is taken, as not all machines take the same one\n",
                         format_size(size).c_str());
    }
}

/// Adds the findings to the profile, which has everything else.
void add_found(CommonBest& common, const OperationSearch& search,
               const CommonPipelines& pipelines) {
    Profile& profile = common.profile;
    const Operation operation = search.plan.operation;
    const std::size_t before = profile.choices.size();
    add_findings(profile, search);
    std::size_t i = 0;
    for (Choice& one : std::span(profile.choices).subspan(before)) {
        if (one.kind == ChoiceKind::pipelines && !one.intent) one.of_best = pipelines.of_best[i++];
    }
    if (operation == Operation::copy) {
        common.unmeasured = pipelines.unmeasured;
    } else {
        common.table += '\n' + name_of(operation) + '\n';
    }
    append_table(common.table, profile.of(ChoiceKind::pipelines, operation), pipelines.unsensed);
}

} // namespace

CommonBest common_best(std::vector<MergeSource> sources) {
    std::ranges::sort(sources, [](const auto& a, const auto& b) {
        return std::pair(a.content(), a.path) < std::pair(b.content(), b.path);
    });
    require_alike(sources);
    CommonBest common;
    Profile& profile = common.profile;
    profile.machine = sources.front().profile.machine;
    profile.merged = merged_from(sources);
    profile.search = merged_search(sources);
    if (profile.search.space.empty()) profile.search.space = "extended"; // of some
    for (const OperationFacts& facts : kOperations) {
        const Operation operation = facts.operation;
        const bool copies = operation == Operation::copy;
        const auto tuned = std::ranges::count_if(sources, [&](const MergeSource& one) {
            return one.profile.first(ChoiceKind::pipelines, operation) != nullptr;
        });
        if (!copies && tuned == 0) continue;
        std::optional<OperationSearch> search;
        CommonPipelines pipelines;
        if (copies || tuned == std::ssize(sources)) {
            search = search_of(sources, operation);
            pipelines = search_together(*search, sources);
        }
        if (pipelines.facts.found.empty()) {
            if (copies) {
                throw BadInput("no candidate was measured on all machines at any size: tune them "
                               "with more rigor");
            }
            profile.left_out[Operation::copy].steps.insert(Step::memset);
            continue;
        }
        if (copies) profile.search.rigor = search->plan.rigor.name;
        add_found(common, *search, pipelines);
    }
    settle(profile);
    return common;
}

} // namespace asterope
