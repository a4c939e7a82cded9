// A race over mixes of sizes, then one for each size again and again; both scores decide together.
#include "search/small_search.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/contains.hpp"
#include "base/error.hpp"
#include "search/favour.hpp"
#include "search/utility.hpp"
#include "timing/workloads/small_calls.hpp"

namespace asterope {

Weights small_weights(Operation operation) {
    // Page ends count a quarter of all. Few calls end at a page whose next page must not be
    // touched. But a program whose buffer lies there makes only such calls, and a masked move takes
    // hundreds of cycles for each. It had 0.18 of libc's speed there, 0.30 with a reader, and about
    // 1.4 elsewhere (mixes, a Xeon with AMX). With a weight of a seventh it would still win. With a
    // quarter no copy that falls so deep wins by its gains elsewhere. One that is 10 % slower
    // there, as it looks for the page's end, loses 2.5 % by it.
    //
    // A masked set has no source that a page's end could hold up, and had 0.97 to 1.17 there. Page
    // ends keep no set from winning, so for sets they are one mix of many.
    //
    // One size again and again counts half as much beside the mixes for sets as for copies. Where a
    // program sets one small size, that is a constant, and the compiler calls nothing.
    const bool sets = !facts_of(operation).reads;
    const double mix = 1.0 / 8, single = 1.0 / (sets ? 8 : 4), page_ends = 2.0 / (sets ? 16 : 3);
    // In the first cache, half counts for sizes that are all equally frequent. The fleet's mix
    // seldom mispredicted the branch of one class of sizes. The memset that it chose took 2.2 times
    // libc's time for 1 to 63 bytes.
    return {{Workload::mix_l1, mix / 2},
            {Workload::spread, mix / 2},
            {Workload::mix_l2, mix},
            {Workload::mix_l3, mix},
            {Workload::mix_memory, mix},
            {Workload::mix_l1_read, mix},
            {Workload::mix_l2_read, mix},
            {Workload::mix_l3_read, mix},
            {Workload::mix_memory_read, mix},
            {Workload::fixed, single},
            {Workload::fixed_read, single},
            {Workload::fixed_walk, single},
            {Workload::fixed_walk_read, single},
            {Workload::page_end, page_ends / 2},
            {Workload::page_end_read, page_ends / 2}};
}

std::vector<SmallCallers> small_callers() {
    // Page ends count less than for all callers: a program that uses an entry point chooses its
    // buffers, too.
    const double page_ends = 1.0 / 8;
    return {{Workload::hot,
             {{Workload::mix_l1, 1.0 / 4},
              {Workload::spread, 1.0 / 8},
              {Workload::mix_l2, 1.0 / 4},
              {Workload::fixed, 1.0 / 4},
              {Workload::page_end, page_ends}}},
            {Workload::cold,
             {{Workload::mix_memory, 1.0 / 2},
              {Workload::fixed_walk, 3.0 / 8},
              {Workload::page_end, page_ends}}},
            {Workload::consume,
             {{Workload::mix_memory_read, 1.0 / 2},
              {Workload::fixed_walk_read, 3.0 / 8},
              {Workload::page_end_read, page_ends}}}};
}

Entrant member_named(const std::vector<const asterope_copy*>& space, std::string_view name) {
    const auto found = std::ranges::find(space, name, &asterope_copy::name);
    return found == space.end() ? kLibc : Entrant(found - space.begin());
}

namespace {

/// A smaller lead does not justify an entry point's own copy. Two runs differ by as much.
constexpr double kLeastLead = 1.02;

/// The worth of each finalist under a workload of one size again and again. The worst single size
/// would be bad by chance, so three of them count. Placement does not count. The routine has
/// another placement, and placement would decide which sizes are worst.
std::map<Entrant, double> worth_by_size(const std::vector<Entrant>& finalists, Workload workload,
                                        int rounds, const TimedCopies& timings) {
    std::map<Entrant, std::vector<double>> by_size;
    for (const std::size_t size : fixed_sizes()) {
        Race race(size, {{workload, 1}}, timings);
        for (const Finalist& one : race.run_off(finalists, rounds, kLibc).finalists) {
            const Measured& found = one.workloads.at(workload);
            by_size[one.candidate].push_back(
                utility(beyond_placement(found.judged_ratio().median, found.ns), found.noise));
        }
    }
    const auto mean = [](const auto& from, std::ptrdiff_t count) {
        return std::accumulate(from, from + count, 0.0) / static_cast<double>(count);
    };
    std::map<Entrant, double> worth;
    for (auto& [entrant, values] : by_size) {
        std::ranges::sort(values);
        worth[entrant] = (mean(values.begin(), std::ssize(values)) + mean(values.begin(), 3)) / 2;
    }
    return worth;
}

} // namespace

SmallResults search_small(const std::vector<Entrant>& entrants, Entrant plain,
                          const Weights& weights, const Rigor& rigor, const std::mt19937_64& random,
                          const TimedCopies& timings, const ShapeOf& shape_of, Entrant standing,
                          const std::vector<SmallCallers>& callers) {
    if (entrants.empty()) throw Failure("no small copy copies right on this machine");
    std::vector<Weights> objectives = {weights};
    for (const SmallCallers& one : callers) objectives.push_back(one.weights);
    Race race(0, objectives, timings, random);
    race.sample(entrants, kSmallSamples);
    const std::vector<Entrant> alive = race.best(entrants, kSmallKept);
    race.sample(alive, kKeptSamples);
    auto finalists = race.best(alive, static_cast<std::size_t>(rigor.finalists));
    for (const Entrant one : {plain, standing}) {
        if (contains(entrants, one) && !contains(finalists, one)) finalists.push_back(one);
    }
    if (shape_of) {
        std::vector<Entrant> ranked = entrants;
        race.rank(ranked);
        std::set<std::string> shapes;
        for (const Entrant one : ranked) {
            const bool first = shapes.insert(shape_of(one)).second;
            if (first && !contains(finalists, one)) finalists.push_back(one);
        }
    }
    const std::vector<SizeResult> results =
        race.run_offs(finalists, kSmallRounds * rigor.rounds,
                      std::vector<std::vector<Entrant>>(objectives.size()), plain, kSmallTies);
    const SizeResult& result = results.front();
    const bool stands = contains(finalists, standing);
    const auto with_callers = [&](SizeResult all) {
        SmallResults found = {std::move(all), {}};
        for (std::size_t i = 0; i < callers.size(); ++i) {
            const Entrant own = results[i + 1].winner();
            const bool leads = race.lead(own, found.all.winner(), i + 1).low > kLeastLead;
            if (leads) found.by_intent.emplace(callers[i].told, results[i + 1]);
        }
        return found;
    };
    if ((!shape_of && !stands) || result.undecided) return with_callers(result);
    std::map<Entrant, double> scores;
    for (const Finalist& one : result.finalists) scores[one.candidate] = one.score;
    for (const auto& [workload, weight] : shape_of ? weights_at(0, weights) : Weights()) {
        const bool fixed = workload == Workload::fixed || workload == Workload::fixed_read;
        if (weight == 0 || !fixed) continue;
        const auto by_size = worth_by_size(finalists, workload, rigor.rounds, timings);
        for (const Finalist& one : result.finalists) {
            scores[one.candidate] +=
                weight * (by_size.at(one.candidate) - one.workloads.at(workload).worth);
        }
    }
    const Entrant chosen = result.winner();
    const auto best =
        std::ranges::max_element(scores, {}, [](const auto& one) { return one.second; });
    const bool holds = stands && best->second <= scores.at(standing) + doubt_of(result, weights);
    const bool ties = best->second <= scores.at(chosen) + kSmallTies.never;
    SizeResult won = race.won_by(holds ? standing : ties ? chosen : best->first);
    // The next in line takes over where an exam finds that the winner loses.
    auto& line = won.finalists;
    std::stable_sort(line.begin() + 1, line.end(), [&](const Finalist& a, const Finalist& b) {
        return scores.at(a.candidate) > scores.at(b.candidate);
    });
    if (line.size() > 1) won.lead = race.lead(won.winner(), line[1].candidate);
    return with_callers(std::move(won));
}

} // namespace asterope
