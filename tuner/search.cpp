// Finds the winner of one transfer size: drops the hopeless, then re-times the rest in a run-off.
#include "search.hpp"

#include <algorithm>
#include <tuple>

#include "error.hpp"

namespace asterope {

namespace {

bool contains(const std::vector<int>& values, int value) {
    return std::find(values.begin(), values.end(), value) != values.end();
}

} // namespace

Rigor parse_rigor(std::string_view text) {
    if (text == "quick") {
        return {"quick", {2, 8}, {0, 8, 20}, 4, 1, {{40, 2}, {12, 4}}, 5, 9};
    }
    if (text == "standard") {
        return {"standard", {2, 6, 12}, {0, 4, 12, 24}, 10, 1, {{120, 2}, {40, 4}}, 8, 15};
    }
    if (text == "exhaustive") return {"exhaustive", {}, {}, 0, 2, {{400, 2}, {80, 4}}, 10, 21};
    throw BadInput("rigor '" + std::string(text.substr(0, 40)) +
                   "' is unknown: choose quick, standard or exhaustive");
}

namespace {

using Family = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;

Family family_of(const Candidate& candidate) {
    const asterope_variant& v = *candidate.variant;
    return {v.rt, v.lt, v.st, v.pt};
}

bool is_coarse(const Rigor& rigor, const Candidate& candidate) {
    return rigor.coarse_ps.empty() || !candidate.prefetches() ||
           (contains(rigor.coarse_ps, candidate.variant->ps) &&
            contains(rigor.coarse_pd, candidate.pd));
}

} // namespace

std::size_t planned_trials(const Rigor& rigor, const std::vector<Candidate>& space) {
    const auto coarse = static_cast<std::size_t>(std::count_if(
        space.begin(), space.end(), [&](const Candidate& c) { return is_coarse(rigor, c); }));
    std::size_t trials = coarse * static_cast<std::size_t>(rigor.screening_samples);
    trials += static_cast<std::size_t>(rigor.families) * 7 * asterope_distance_count;
    for (const Rigor::Cut& cut : rigor.cuts) {
        trials += std::min(space.size(), static_cast<std::size_t>(cut.keep)) *
                  static_cast<std::size_t>(cut.samples);
    }
    return trials + static_cast<std::size_t>((rigor.finalists + 3) * rigor.rounds);
}

SizeResult search_size(const std::vector<Candidate>& space, const std::vector<Entrant>& entrants,
                       std::size_t size, const std::vector<Workload>& workloads, const Rigor& rigor,
                       Entrant neighbour, std::mt19937_64& random, Timings& timings) {
    if (entrants.empty()) throw Failure("no candidate copies right on this machine");
    Race race(size, equal_weights(workloads), random, timings);

    std::vector<Entrant> alive, rest;
    for (const Entrant entrant : entrants) {
        const bool coarse = is_coarse(rigor, space[static_cast<std::size_t>(entrant)]);
        (coarse ? alive : rest).push_back(entrant);
    }
    if (alive.empty()) std::swap(alive, rest);
    race.sample(alive, rigor.screening_samples);

    // The families with the best coarse member are searched whole.
    if (!rest.empty()) {
        std::vector<Entrant> ranked = race.best(alive, alive.size());
        race.rank(ranked);
        std::vector<Family> families;
        const auto admit = [&](bool only_acceptable, int places) {
            for (const Entrant entrant : ranked) {
                if (places == 0) break;
                const Candidate& candidate = space[static_cast<std::size_t>(entrant)];
                const Family family = family_of(candidate);
                if (only_acceptable && !race.acceptable(entrant)) continue;
                if (std::find(families.begin(), families.end(), family) != families.end()) continue;
                families.push_back(family);
                if (candidate.prefetches()) --places;
            }
        };
        admit(true, rigor.families / 2);
        admit(false, rigor.families - rigor.families / 2);
        std::vector<Entrant> expanded;
        for (const Entrant entrant : rest) {
            const Family family = family_of(space[static_cast<std::size_t>(entrant)]);
            if (std::find(families.begin(), families.end(), family) != families.end()) {
                expanded.push_back(entrant);
            }
        }
        race.sample(expanded, rigor.screening_samples);
        alive.insert(alive.end(), expanded.begin(), expanded.end());
    }

    for (const Rigor::Cut& cut : rigor.cuts) {
        alive = race.best(alive, static_cast<std::size_t>(cut.keep));
        race.sample(alive, cut.samples);
    }
    std::vector<Entrant> finalists = race.best(alive, static_cast<std::size_t>(rigor.finalists));
    // What may win a tie must run: the neighbour's winner, and the leaders without their prefetch.
    // Where a copy is too short to prefetch, hundreds of candidates are one and the same.
    std::vector<Entrant> plain;
    for (std::size_t i = 0; i < finalists.size() && i < 2; ++i) {
        const asterope_variant& leader = *space[static_cast<std::size_t>(finalists[i])].variant;
        for (const Entrant entrant : entrants) {
            const asterope_variant& v = *space[static_cast<std::size_t>(entrant)].variant;
            if (v.ps == 0 && std::string_view(v.rt) == leader.rt &&
                std::string_view(v.lt) == leader.lt && std::string_view(v.st) == leader.st) {
                plain.push_back(entrant);
            }
        }
    }
    if (neighbour != kLibc) plain.push_back(neighbour);
    for (const Entrant entrant : plain) {
        if (!contains(finalists, entrant)) finalists.push_back(entrant);
    }
    return race.run_off(finalists, rigor.rounds, neighbour);
}

} // namespace asterope
