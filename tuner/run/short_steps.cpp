// The steps of a run that are short beside the pipelines': small copies, moves, boundaries,
// aliasing buffers, and copies over threads.
#include <algorithm>

#include "base/size_text.hpp"
#include "run/search_steps.hpp"
#include "search/boundaries.hpp"
#include "search/overlapping_search.hpp"
#include "search/sensing_search.hpp"
#include "search/small_search.hpp"

namespace asterope {

namespace {

/// What copies over threads are timed under: what counts early, and whatever counts, cached and
/// uncached.
Weights shared_weights(const Weights& weights) {
    Weights shared = screening_weights(weights);
    for (const auto& weighted : weights) {
        const bool either = weighted.first == Workload::hot || weighted.first == Workload::cold;
        if (either && weight_of(shared, weighted.first) == 0) shared.push_back(weighted);
    }
    return shared;
}

} // namespace

/// The whole space of small copies, which go on to `large`.
std::vector<TimedCopy> SearchSteps::all_small_copies(const Candidate& large) const {
    std::vector<TimedCopy> copies;
    for (const asterope_copy* one : spaces_.small_space) {
        copies.push_back(small_copy(one->small, large.distance(), large.variant->copy, one->name,
                                    plan_.operation));
    }
    return copies;
}

SizeResult SearchSteps::small_copies(const Candidate& large) {
    show(Step::small);
    std::mt19937_64 random = enter(Step::small);
    const std::vector<TimedCopy> copies = all_small_copies(large);
    return search_small(suited(spaces_.small_entrants, spaces_.small_space, plan_.small_objective),
                        plain_small(spaces_.small_space, plan_.operation), plan_.small_weights,
                        plan_.rigor, random, timed(copies, 0), [&](Entrant entrant) {
                            const std::string name = copies[static_cast<std::size_t>(entrant)].name;
                            return name.substr(0, name.find(' ', name.find(' ') + 1));
                        });
}

SizeResult SearchSteps::overlapping_copies() {
    show(Step::overlapping);
    std::mt19937_64 random = enter(Step::overlapping);
    const TimedCopy libc{.function = libc_move(), .name = "libc"};
    std::vector<TimedCopy> copies;
    for (const asterope_copy* one : spaces_.overlapping_space) {
        copies.push_back({.function = one->copy, .name = one->name});
    }
    return search_overlapping(copies.size(), plan_.rigor, random, {timings_, copies, libc});
}

void SearchSteps::find_boundaries(Findings& findings) {
    show(Step::boundaries);
    PipelineFacts& facts = findings.pipelines;
    bool budget_left = true;
    for (std::size_t objective = 0; objective < objectives_.size(); ++objective) {
        // What copies each evaluated size, by number.
        std::vector<std::size_t> sizes;
        std::vector<Entrant> taken;
        std::vector<TimedCopy> copies;
        for (std::size_t i = 0; i < facts.found.size(); ++i) {
            const SizeResult& result = facts.found[i].results[objective];
            sizes.push_back(result.size);
            TimedCopy one = objective == 0 && facts.sensing[i]
                                ? copy_of(row_at(i).copy)
                                : copy(result.finalists.front().candidate);
            auto place = std::find_if(copies.begin(), copies.end(),
                                      [&](const auto& other) { return other.name == one.name; });
            if (place == copies.end()) place = copies.insert(place, std::move(one));
            taken.push_back(static_cast<Entrant>(place - copies.begin()));
        }
        const auto senses = [&](Entrant one) {
            const auto at = std::find(taken.begin(), taken.end(), one) - taken.begin();
            return objective == 0 && facts.sensing[static_cast<std::size_t>(at)].has_value();
        };
        // Where the budget has ended, the intervals end at the evaluated sizes, as the paper's do.
        const auto lower_holds = [&](Entrant lower, Entrant upper, std::size_t size) {
            if (!budget_left) return false;
            if (size < kSensingMinimum && senses(upper)) return true;
            label(format_size(size));
            try {
                std::mt19937_64 random = enter(Step::boundaries, size, objectives_[objective].name);
                calibrate(size);
                Race race(size, screening_weights(objectives_[objective].weights), random,
                          timed(copies, size));
                return race.run_off({lower, upper}, plan_.rigor.rounds, lower)
                           .finalists.front()
                           .candidate == lower;
            } catch (const BudgetSpent&) {
                budget_left = false;
                return false;
            }
        };
        facts.intervals.push_back(
            find_intervals(sizes, taken, plan_.rigor.boundary_ratio, lower_holds));
    }
    if (!budget_left) findings.left_out.steps.insert(Step::boundaries);
    begin_sensing_at_minimum(facts);
}

/// A matter of cached buffers: where memory is waited for, or written past the caches, a load that
/// is held up costs nothing, and these would be the wrong copies.
void SearchSteps::aliased_copies(Findings& findings) {
    const Weights& weights = plan_.objective.weights;
    const bool hot_counts = std::any_of(weights.begin(), weights.end(), [](const auto& weighted) {
        return weighted.first == Workload::hot;
    });
    if (spaces_.aliased_space.empty() || !hot_counts) return;
    show(Step::aliased);
    for (const Found& found : findings.pipelines.found) {
        const std::size_t size = found.results.front().size;
        const TimedCopy& pipeline = copy(findings.pipelines.winner_for(size));
        if (size < kAliasedMinimum || size > kAliasedMaximum) continue;
        if (pipeline.cache_effect == kNonTemporal) continue;
        std::mt19937_64 random = enter(Step::aliased, size);
        std::vector<TimedCopy> copies = {pipeline};
        for (const asterope_copy* one : spaces_.aliased_space) {
            copies.push_back({.function = one->copy, .name = one->name});
        }
        try {
            findings.aliased.push_back(search_aliased(spaces_.aliased_space.size(), size,
                                                      plan_.rigor, random, timed(copies, size)));
        } catch (const BudgetSpent&) {
            findings.left_out.steps.insert(Step::aliased);
            return;
        }
    }
}

void SearchSteps::shared_copies(Findings& findings) {
    if (plan_.threads < 2) return;
    show(Step::threads);
    for (const Found& found : findings.pipelines.found) {
        const std::size_t size = found.results.front().size;
        if (size < kSharedMinimum) continue;
        try {
            findings.shared.push_back(share(size, findings.pipelines));
        } catch (const BudgetSpent&) {
            findings.left_out.steps.insert(Step::threads);
            return;
        }
    }
}

/// A chunk takes the copy that the routine takes for the whole.
SharedSize SearchSteps::share(std::size_t size, const PipelineFacts& pipelines) {
    std::mt19937_64 random = enter(Step::threads, size);
    const auto& sensing = pipelines.sensing[pipelines.result_for(size)];
    TimedCopy alone = copy(pipelines.winner_for(size));
    asterope_sensing arguments;
    if (sensing) {
        arguments = sensing->copy.arguments();
        alone = sensing->copy.timed(arguments);
    }
    const std::vector<ThreadShare> shares = shares_for(size, plan_.threads);
    std::vector<asterope_share> how;
    for (const auto& [threads, chunk] : shares) {
        how.push_back({threads, chunk, alone.function, alone.distance});
    }
    std::vector<TimedCopy> copies = {alone};
    for (std::size_t i = 0; i < shares.size(); ++i) {
        copies.push_back({&asterope_copy_over_threads, reinterpret_cast<std::size_t>(&how[i]),
                          alone.cache_effect, nullptr, share_name(shares[i])});
    }
    return search_shares(shares, size, shared_weights(objectives_.front().weights), plan_.rigor,
                         random, timed(copies, size));
}

} // namespace asterope
