// The step of a run that searches the pipelines of each size, from coarse to fine.
#include <algorithm>
#include <set>

#include "base/size_text.hpp"
#include "run/steps.hpp"
#include "search/size_order.hpp"

namespace asterope {

namespace {

using FoundSizes = std::map<std::size_t, Found>; ///< by index into the plan's sizes

/// Indices into the plan's sizes: first the one that small copies hand over to, then coarse to
/// fine. Large sizes keep their places as a group, but are searched in ascending order: the
/// smallest is searched fastest, and larger ones may inherit its finalists, see inherited().
std::vector<std::size_t> order_of_sizes(const Plan& plan) {
    std::vector<std::size_t> order = coarse_to_fine(plan.sizes.size());
    const auto handover = std::ranges::find_if(
        order, [&](std::size_t index) { return plan.sizes[index] == plan.handover_size(); });
    std::rotate(order.begin(), handover, handover + 1);
    auto large = std::ranges::lower_bound(plan.sizes, kLargeCopy) - plan.sizes.begin();
    for (std::size_t& index : order) {
        if (plan.sizes[index] >= kLargeCopy) index = static_cast<std::size_t>(large++);
    }
    return order;
}

/// The winners of the nearest sizes that are done, by objective, the smaller size first. They are
/// likely to be good here, too.
std::vector<std::vector<Entrant>> winners_around(const OperationRun& run, const FoundSizes& found,
                                                 std::size_t index) {
    std::vector<std::vector<Entrant>> winners(run.objectives.size());
    const auto add = [&](const Found& neighbour) {
        for (std::size_t i = 0; i < winners.size(); ++i) {
            const Entrant one = neighbour.results[i].winner();
            if (run.may_take(one, run.plan.sizes[index])) winners[i].push_back(one);
        }
    };
    const auto above = found.upper_bound(index);
    if (above != found.begin()) add(std::prev(above)->second);
    if (above != found.end()) add(above->second);
    return winners;
}

/// The finalists that this size takes over under Rigor::inherits; empty: it is searched itself.
std::vector<Entrant> inherited(const OperationRun& run, const FoundSizes& found, std::size_t size) {
    std::set<Entrant> finalists;
    const bool outgrows = run.outgrows_caches(size);
    if (!outgrows && size < kLargeCopy) return {};
    for (const auto& [index, one] : found) {
        const std::size_t other = run.plan.sizes[index];
        if (run.outgrows_caches(other) != outgrows || (!outgrows && other < kLargeCopy)) continue;
        for (const SizeResult& result : one.results) {
            for (const Finalist& finalist : result.finalists) finalists.insert(finalist.candidate);
        }
    }
    return {finalists.begin(), finalists.end()};
}

/// The search of a size, as the sizes before it leave it to do.
SizeSearch search_of(const OperationRun& run, const FoundSizes& found, std::size_t index) {
    const std::size_t size = run.plan.sizes[index];
    Rigor rigor = rigor_at(run.plan.rigor, size);
    std::vector<Entrant> entrants =
        rigor.inherits ? inherited(run, found, size) : std::vector<Entrant>();
    const bool inherits = !entrants.empty();
    if (inherits) {
        rigor.coarse = {};                                           // all of them are screened
        rigor.rounds = std::min(rigor.rounds, rigor.contest_rounds); // the contest chooses
    } else {
        entrants = run.spaces.entrants;
    }
    std::erase_if(entrants, [&](Entrant entrant) { return !run.may_take(entrant, size); });
    return {.size = size,
            .space = run.spaces.space,
            .entrants = std::move(entrants),
            .extension = run.plan.extended && !inherits ? &run.spaces.extension : nullptr,
            .objectives = weights_of(run.objectives),
            .rigor = std::move(rigor),
            .neighbours = winners_around(run, found, index),
            .random = run.random(Step::pipelines, size)};
}

/// Searches the small copies, which go on to the pipeline of this size, and moves, which are mostly
/// small.
void search_what_hands_over(OperationRun& run, const Found& found, Findings& findings) {
    try {
        SmallResults small = find_small(run, run.candidate(found.results.front().winner()));
        findings.small = std::move(small.all);
        findings.small_by_intent = std::move(small.by_intent);
        if (run.has("overlapping")) find_overlapping(run, findings);
    } catch (const BudgetSpent&) { // left out
    }
}

} // namespace

void search_sizes(OperationRun& run, Findings& findings) {
    const std::vector<std::size_t>& sizes = run.plan.sizes;
    FoundSizes found;
    bool budget_left = true;
    for (const std::size_t index : order_of_sizes(run.plan)) {
        try {
            if (budget_left) {
                run.progress.label(format_size(sizes[index]));
                run.enter(Step::pipelines, sizes[index]);
                found.emplace(index, search_size(search_of(run, found, index),
                                                 run.timed(run.copies, sizes[index])));
            }
        } catch (const BudgetSpent&) {
            if (found.empty()) throw;
            budget_left = false;
        }
        if (sizes[index] != run.plan.handover_size()) continue;
        run.allow(1); // small sizes are copied the most often
        search_what_hands_over(run, found.at(index), findings);
        run.allow(kShareOfSizes);
    }
    LeftOut& left_out = findings.left_out;
    if (!findings.small) left_out.steps.insert(Step::small);
    if (run.has("overlapping") && !findings.has(ChoiceKind::overlapping)) {
        left_out.steps.insert(Step::overlapping);
    }
    left_out.sizes = sizes;
    for (auto& [index, one] : found) {
        std::erase(left_out.sizes, sizes[index]);
        findings.pipelines.found.push_back(std::move(one));
        findings.pipelines.sensing.emplace_back();
    }
}

} // namespace asterope
