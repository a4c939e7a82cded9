// The steps of a run that find the small copy, and its bound: the size up to which it copies. Where
// pipelines begin, a small copy that loads all before it stores may still be the better one.
#include "search/small_search.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/contains.hpp"
#include "run/steps.hpp"
#include "search/favour.hpp"

namespace asterope {

namespace {

/// The log's name of this part of a choice.
constexpr const char* kPart = "bound";

/// A small copy's score counts as much as its gains at this many sizes. So many sizes lie from 1 to
/// 128 bytes, by doubling.
constexpr double kSizesBelow = 8;

/// A smaller gain does not justify a change, as a weighted mean of worths.
constexpr double kLeastGain = 0.003;

/// The whole space of small copies, which go on to `large`.
std::vector<TimedCopy> all_small_copies(const OperationRun& run, const Candidate& large) {
    std::vector<TimedCopy> copies;
    for (const asterope_copy* one : run.spaces.members("small")) {
        copies.push_back(small_copy(one->small, large.distance(), large.variant->copy, one->name,
                                    run.plan.operation));
    }
    return copies;
}

/// The small copy of the profile that stands; kLibc where the profile lacks one.
Entrant standing_small(const OperationRun& run) {
    return member_named(run.spaces.members("small"), run.plan.standing().small);
}

/// The small copies that differ from this one in registers and bound alone.
std::vector<Entrant> variants_of(const OperationRun& run, Entrant winner) {
    std::vector<Entrant> variants;
    for (const Entrant entrant : all_entrants(run.spaces.members("small").size())) {
        const auto alike = [&](const char* field) {
            return word_of(small_at(run, entrant), field) == word_of(small_at(run, winner), field);
        };
        if (alike("shape") && alike("order")) variants.push_back(entrant);
    }
    return variants;
}

/// An evaluated size, and before it the geometric middle to the size below, where one lies between;
/// both only above the sizes that every small copy takes. At 512 bytes a small copy was as fast as
/// the row's pipeline. At 320 it took 1.35 times as long.
std::vector<std::size_t> sizes_of_bound(const Contests& contests, std::size_t index) {
    const std::size_t size = contests.size_at(index),
                      below = index ? contests.size_at(index - 1) : kMinimumBytes,
                      middle = static_cast<std::size_t>(
                          std::sqrt(static_cast<double>(below) * static_cast<double>(size)));
    std::vector<std::size_t> sizes;
    if (middle > below) sizes.push_back(middle);
    if (size > kMinimumBytes) sizes.push_back(size);
    return sizes;
}

/// The gains of these small copies over the rows' pipelines up to their bounds, added up over the
/// evaluated sizes. Up to its bound a small copy executes the same as one that goes farther. So
/// among those of one register type the one that goes farthest is timed for all.
std::map<Entrant, double> gains_above_small(OperationRun& run, const Contests& contests,
                                            const std::vector<Row>& rows,
                                            const std::vector<Entrant>& variants) {
    std::map<std::string, const asterope_copy*> farthest; // by register type
    std::map<Entrant, double> gains;
    std::size_t most = 0;
    for (const Entrant entrant : variants) {
        gains[entrant] = 0;
        const asterope_copy& one = small_at(run, entrant);
        most = std::max(most, bound_of(one));
        const auto [known, added] = farthest.emplace(word_of(one, "rt"), &one);
        if (!added && bound_of(*known->second) < bound_of(one)) known->second = &one;
    }
    for (std::size_t i = 0; i < contests.at_size.size() && contests.size_at(i) <= most; ++i) {
        std::vector<TimedCopy> copies = {contests.copy_of(run, row_at(rows, i).copy, i)};
        std::map<std::string, Entrant> places; // by register type
        for (const auto& [rt, one] : farthest) {
            if (contests.size_at(i) > bound_of(*one)) continue;
            places.emplace(rt, copies.size());
            copies.push_back(small_copy(one->small, 0, nullptr, one->name, run.plan.operation));
        }
        const std::vector<std::size_t> sizes = sizes_of_bound(contests, i);
        for (const std::size_t size : sizes) {
            run.enter(Step::small, size, kPart);
            run.calibrate(size);
            const SizeResult result =
                Race(size, run.weights(), run.timed(copies, size))
                    .run_off(all_entrants(copies.size()), run.plan.rigor.contest_rounds, 0);
            for (auto& [entrant, gain] : gains) {
                const asterope_copy& one = small_at(run, entrant);
                const auto place = places.find(word_of(one, "rt"));
                if (contests.size_at(i) > bound_of(one) || place == places.end()) continue;
                gain += (result.of(place->second).score - result.of(0).score) /
                        static_cast<double>(sizes.size());
            }
        }
    }
    return gains;
}

/// The pipeline for the sizes beyond every small copy.
const Candidate& pipeline_beyond(const OperationRun& run, const Contests& contests,
                                 const std::vector<Row>& rows) {
    std::size_t beyond = 0;
    while (beyond + 1 < contests.at_size.size() &&
           contests.size_at(beyond) < run.plan.handover_size()) {
        ++beyond;
    }
    return run.candidate(contests.contestants[row_at(rows, beyond).copy.pipelines.front()]);
}

} // namespace

const asterope_copy& small_at(const OperationRun& run, Entrant entrant) {
    return *run.spaces.members("small")[entrant.index()];
}

SmallResults find_small(OperationRun& run, const Candidate& large, bool by_shape) {
    run.show(Step::small);
    run.enter(Step::small);
    const auto& space = run.spaces.members("small");
    const std::vector<TimedCopy> copies = all_small_copies(run, large);
    const ShapeOf shape_of = [&](Entrant entrant) {
        const asterope_copy& one = small_at(run, entrant);
        return word_of(one, "shape") + ' ' + word_of(one, "rt");
    };
    std::vector<SmallCallers> callers = small_callers();
    const std::span entry_points(run.objectives.begin() + 1, run.objectives.end());
    std::erase_if(callers, [&](const SmallCallers& one) {
        return !by_shape || !contains(entry_points, name_of(one.told), &Objective::name);
    });
    return search_small(all_entrants(space.size()),
                        member_named(space, facts_of(run.plan.operation).space->plain_small),
                        run.plan.small_weights, run.plan.rigor, run.random(Step::small),
                        run.timed(copies, 0), by_shape ? shape_of : ShapeOf(), standing_small(run),
                        callers);
}

void find_bound(OperationRun& run, const Contests& contests, Findings& findings) {
    if (!findings.small || findings.rows.empty()) return;
    run.show(Step::small);
    OperationRun::within_budget(findings.left_out, Step::boundaries, [&] {
        const Entrant winner = findings.small->finalists.front().candidate;
        const auto gains =
            gains_above_small(run, contests, findings.rows, variants_of(run, winner));
        const auto bound_at = [&](Entrant one) { return bound_of(small_at(run, one)); };
        std::vector<Entrant> entrants;
        for (const auto& [entrant, gain] : gains) {
            const bool alike =
                word_of(small_at(run, entrant), "rt") == word_of(small_at(run, winner), "rt");
            const bool more = gain > gains.at(winner) + kLeastGain * kSizesBelow;
            if (alike || more) entrants.push_back(entrant);
        }
        run.enter(Step::small, 0, kPart);
        const std::vector<TimedCopy> copies =
            all_small_copies(run, pipeline_beyond(run, contests, findings.rows));
        Race race(0, run.plan.small_weights, run.timed(copies, 0));
        std::map<Entrant, double> worth;
        const SizeResult result =
            race.run_off(entrants, kSmallRounds * run.plan.rigor.rounds, winner, kLibc, kSmallTies);
        double most = kWorthOfUnusable;
        for (const Finalist& one : result.finalists) {
            worth[one.candidate] = one.score + gains.at(one.candidate) / kSizesBelow;
            most = std::max(most, worth[one.candidate]);
        }
        const bool stands = winner == standing_small(run);
        const double least = stands ? doubt_of(result, run.plan.small_weights) : kLeastGain;
        // Among copies about as good, the one that goes farthest wins: it calls a pipeline the
        // least often. Otherwise the bound would be that of the winner of another race, by chance.
        Entrant best = winner;
        for (const auto& [entrant, value] : worth) {
            const bool good = value >= most - least, farther = bound_at(entrant) > bound_at(best);
            if (good && (worth.at(best) < most - least || (farther && !stands))) best = entrant;
        }
        if (best == winner) return;
        const std::vector<Finalist> before = findings.small->finalists;
        findings.small = race.won_by(best);
        auto& line = findings.small->finalists;
        for (const Finalist& one : before) { // an exam may still ask for another shape
            if (!contains(line, one.candidate, &Finalist::candidate)) line.push_back(one);
        }
    });
}

} // namespace asterope
