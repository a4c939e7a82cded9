// The step of a run that finds up to which size the small copies go: where pipelines begin, a small
// copy that loads all before it stores may still be the better one.
#include <algorithm>
#include <map>

#include "run/search_steps.hpp"

namespace asterope {

namespace {

/// What part of a choice is called in the log.
constexpr const char* kPart = "bound";

/// So many sizes count as much as all that the small copies are chosen by: those from 1 to 128
/// bytes, by doubling.
constexpr double kSizesBelow = 8;

/// Less than this is no reason to change, as a weighted mean of worths.
constexpr double kLeastGain = 0.003;

/// A small copy's place on the axes.
struct Axes {
    std::string shape, rt, order;
    std::size_t bound;
};

Axes axes_of(const asterope_copy& copy) {
    return {word_of(copy, "shape"), word_of(copy, "rt"), word_of(copy, "order"), bound_of(copy)};
}

} // namespace

/// What the small copies that differ from the winner in registers and bound alone gain over the
/// rows' pipelines, at the evaluated sizes up to their bounds, added up; by entrant.
std::map<Entrant, double> SearchSteps::gains_above_small(Entrant winner) {
    const auto& space = spaces_.small_space;
    const Axes own = axes_of(*space[static_cast<std::size_t>(winner)]);
    std::map<Entrant, Axes> variants;
    std::map<std::string, Entrant> largest; // by register type
    for (const Entrant entrant : spaces_.small_entrants) {
        const Axes axes = axes_of(*space[static_cast<std::size_t>(entrant)]);
        if (axes.shape != own.shape || axes.order != own.order) continue;
        variants.emplace(entrant, axes);
        const auto [known, added] = largest.emplace(axes.rt, entrant);
        if (!added && variants.at(known->second).bound < axes.bound) known->second = entrant;
    }
    std::map<Entrant, double> gains;
    for (const auto& [entrant, axes] : variants) gains[entrant] = 0;
    for (std::size_t i = 0; i < contests_.size(); ++i) {
        const std::size_t size = contests_[i].results.front().size;
        std::vector<TimedCopy> copies = {copy_of(row_at(i).copy)};
        std::vector<std::string> types;
        for (const auto& [rt, entrant] : largest) {
            const asterope_copy& one = *space[static_cast<std::size_t>(entrant)];
            if (size <= kMinimumBytes || size > variants.at(entrant).bound) continue;
            // Up to its bound a small copy asks for no more than any copy.
            copies.push_back(small_copy(one.small, 0, nullptr, one.name, plan_.operation));
            types.push_back(rt);
        }
        if (types.empty()) continue;
        std::mt19937_64 random = enter(Step::small, size, kPart);
        Race race(size, objectives_.front().weights, random, timed(copies, size));
        std::vector<double> scores(copies.size());
        for (const Finalist& finalist :
             race.run_off(all_entrants(copies.size()), plan_.rigor.contest_rounds, 0).finalists) {
            scores[static_cast<std::size_t>(finalist.candidate)] = finalist.score;
        }
        for (auto& [entrant, gain] : gains) {
            const Axes& axes = variants.at(entrant);
            const auto type = std::find(types.begin(), types.end(), axes.rt);
            if (size > axes.bound || type == types.end()) continue;
            gain += scores[static_cast<std::size_t>(type - types.begin()) + 1] - scores[0];
        }
    }
    return gains;
}

/// Lets the small copies go as far as they are worth more than the rows' pipelines.
void SearchSteps::find_bound(Findings& findings) {
    const std::string part = logged(Step::small, 0, kPart);
    if (!findings.small || rows_.empty() || !timings_.has(part)) return;
    show(Step::small);
    try {
        const Entrant winner = findings.small->finalists.front().candidate;
        const std::map<Entrant, double> gains = gains_above_small(winner);
        std::vector<Entrant> entrants = {winner};
        for (const auto& [entrant, gain] : gains) {
            const bool more = gain > gains.at(winner) + kLeastGain * kSizesBelow;
            if (entrant != winner && more) entrants.push_back(entrant);
        }
        std::mt19937_64 random = enter(Step::small, 0, kPart);
        std::size_t beyond = 0;
        while (beyond + 1 < contests_.size() &&
               contests_[beyond].results.front().size < plan_.handover_size()) {
            ++beyond;
        }
        const Candidate& large = candidate(contestants_[row_at(beyond).copy.pipelines.front()]);
        const std::vector<TimedCopy> copies = all_small_copies(large);
        Race race(0, plan_.small_weights, random, timed(copies, 0));
        const SizeResult result = race.run_off(entrants, 2 * plan_.rigor.rounds, winner);
        std::map<Entrant, double> worth;
        for (const Finalist& one : result.finalists) {
            worth[one.candidate] = one.score + gains.at(one.candidate) / kSizesBelow;
        }
        const auto best =
            std::max_element(worth.begin(), worth.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
        if (best->second < worth.at(winner) + kLeastGain) return;
        findings.small = race.won_by(best->first);
    } catch (const BudgetSpent&) { // the bound stays
    }
}

} // namespace asterope
