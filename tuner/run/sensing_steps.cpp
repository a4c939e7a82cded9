// The steps of a run that search the copies that sense where their data is.
#include <algorithm>

#include "run/search_steps.hpp"
#include "search/sensing_search.hpp"
#include "timing/placement.hpp"

namespace asterope {

namespace {

/// The winner of the objective that is this workload alone; none where there is no such objective.
std::optional<Entrant> winner_under(Workload workload, const std::vector<Objective>& objectives,
                                    const Found& found) {
    for (std::size_t i = 0; i < objectives.size(); ++i) {
        if (objectives[i].name == name_of(workload)) {
            return found.results[i].finalists.front().candidate;
        }
    }
    return std::nullopt;
}

void append(std::vector<double>& readings, const std::vector<double>& more) {
    readings.insert(readings.end(), more.begin(), more.end());
}

} // namespace

std::optional<SensingResult> SearchSteps::sensing(std::size_t size, const Found& found) {
    spent_.enter(Step::sensing);
    std::mt19937_64 random = enter(Step::sensing, size);
    const std::vector<SensingCopy> sensing = sensing_copies(size, found);
    std::vector<asterope_sensing> arguments;
    for (const SensingCopy& one : sensing) arguments.push_back(one.arguments());
    std::vector<TimedCopy> copies = {copy(found.results.front().finalists.front().candidate)};
    for (std::size_t i = 0; i < sensing.size(); ++i) {
        copies.push_back(sensing[i].timed(arguments[i]));
    }
    const std::optional<Finalist> winner =
        race_sensing(sensing.size(), size, objectives_.front().weights, plan_.rigor, random,
                     timed(copies, size));
    if (!winner) return std::nullopt;
    return SensingResult{sensing[static_cast<std::size_t>(winner->candidate) - 1], *winner,
                         plan_.rigor.rounds};
}

std::vector<SensingCopy> SearchSteps::sensing_copies(std::size_t size, const Found& found) {
    std::vector<SensingCopy> copies;
    const std::optional<Entrant> hot = winner_under(Workload::hot, objectives_, found);
    // What both sides outgrow is cached nowhere: there is nothing to tell apart.
    if (!hot || size < kSensingMinimum || outgrows(size, last_cache_bytes_)) return copies;
    // Whatever goes on where the data is uncached: the winners of the workloads where it is, and
    // what won over all.
    const Entrant over_all = found.results.front().finalists.front().candidate;
    std::vector<std::pair<Workload, Entrant>> winners;
    for (const Workload workload : {Workload::cold, Workload::consume, Workload::produce}) {
        const std::optional<Entrant> winner = winner_under(workload, objectives_, found);
        if (winner) winners.emplace_back(workload, *winner);
    }
    std::vector<Entrant> colds = {over_all};
    for (const auto& [workload, winner] : winners) colds.push_back(winner);
    std::sort(colds.begin(), colds.end());
    colds.erase(std::unique(colds.begin(), colds.end()), colds.end());
    std::erase(colds, *hot);
    if (winners.empty() || colds.empty()) return copies;
    // Whatever goes on where the source is cached: the winner of hot, or what won over all.
    std::vector<Entrant> hots = {*hot};
    if (over_all != *hot) hots.push_back(over_all);

    const Candidate fetch =
        candidate(winner_under(Workload::fetch, objectives_, found).value_or(over_all));

    for (const asterope_copy* probe : spaces_.probes) {
        Readings all;
        append(all.cached, read(*probe, *hot, size, Workload::hot).source);
        // Of new data in a destination that is used again: non-temporal stores would evict that
        // (reads of a cached file: 0.75 of libc's speed).
        const ProbeTicks fetched = read(*probe, *hot, size, Workload::fetch);
        append(all.cached, fetched.destination);
        append(all.uncached, fetched.source);
        for (const auto& [workload, winner] : winners) {
            const ProbeTicks ticks = read(*probe, winner, size, workload);
            append(all.uncached, ticks.source);
            if (workload != Workload::produce) append(all.uncached, ticks.destination);
        }
        for (const Entrant cold : colds) {
            // Cached is also a source that the cold pipeline has just copied by mistake. It must
            // read so, or one wrong guess in a loop would be repeated for ever.
            Readings readings = all;
            append(readings.cached, read(*probe, cold, size, Workload::hot).source);
            const std::optional<Threshold> threshold = find_threshold(readings);
            if (!threshold) continue;
            for (const Entrant one : hots) {
                if (one == cold) continue;
                copies.push_back({probe, candidate(one), candidate(cold), *threshold});
                if (looks_at_destination(*probe)) copies.back().fetch = fetch;
            }
        }
    }
    return copies;
}

ProbeTicks SearchSteps::read(const asterope_copy& probe, Entrant entrant, std::size_t size,
                             Workload workload) {
    return timings_.readings({probe, copy(entrant), size, workload, plan_.rigor.probe_readings});
}

} // namespace asterope
