// The step of a run that finds the sizes at which a copy should sense whether its data is cached,
// and the probe for it.
#include <algorithm>
#include <deque>

#include "base/contains.hpp"
#include "base/size_text.hpp"
#include "base/statistics.hpp"
#include "run/steps.hpp"
#include "timing/cache_effect.hpp"

namespace asterope {

namespace {

/// The time of a probe is measured at so many of the smallest sizes. At larger ones it is the same,
/// but harder to see.
constexpr std::size_t kSizesToCost = 4;

/// A probe that tells cached from uncached data here, and the evaluated sizes where it does.
struct UsableProbe {
    const asterope_copy* probe;
    SharedThreshold shared;
};

void append(std::vector<double>& readings, const std::vector<double>& more) {
    readings.insert(readings.end(), more.begin(), more.end());
}

/// Indices of the evaluated sizes at which a copy may sense. Sides that outgrow all caches count,
/// too: there a probe tells untouched pages, which the kernel clears in the cache, from used ones.
std::vector<std::size_t> sizes_to_sense(const Contests& contests) {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < contests.at_size.size(); ++i) {
        if (contests.size_at(i) >= kSensingMinimum) indices.push_back(i);
    }
    return indices;
}

/// The contestant that is worth most at a size. With `effect`, only contestants of that cache
/// effect compete; if all have another one, the first contestant is taken.
Entrant best_contestant(const OperationRun& run, const Contests& contests, std::size_t index,
                        std::optional<CacheEffect> effect = {}) {
    const std::vector<double>& worth = contests.scores[index].plain;
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < contests.contestants.size(); ++i) {
        const bool wanted = !effect || run.copy(contests.contestants[i]).cache_effect == *effect;
        if (wanted && (!best || worth[i] > worth[*best])) best = i;
    }
    return contests.contestants[best.value_or(0)];
}

Readings readings_at(const OperationRun& run, const Contests& contests, std::size_t index,
                     const asterope_copy& probe) {
    const std::size_t size = contests.size_at(index);
    const Entrant kept = best_contestant(run, contests, index, kTemporal),
                  past = best_contestant(run, contests, index, kNonTemporal);
    const auto read = [&](Entrant entrant, Workload workload) {
        return run.timings.readings(
            {probe, run.copy(entrant), size, workload, run.plan.rigor.probe_readings});
    };
    Readings readings;
    const bool both = pipelines_behind(probe) == 4; // its readings of sources are of both at once
    const bool is_set = !facts_of(run.plan.operation).reads; // its readings are of the destination
    const bool outgrows = run.outgrows_caches(size);
    if (!outgrows) {
        const ProbeTicks hot = read(kept, Workload::hot);
        append(readings.cached, hot.source);
        if (both) append(readings.cached, hot.destination);
        // A source that the cold pipeline has just copied by mistake is cached, too. Its readings
        // must say so. Otherwise a loop would repeat one wrong guess for ever.
        if (!both && !is_set) append(readings.cached, read(past, Workload::hot).source);
    }
    if (!outgrows && !is_set) {
        const ProbeTicks fetched = read(kept, Workload::fetch);
        append(readings.uncached, fetched.source);
        append(readings.cached, fetched.destination);
    }
    // The probe reads in every order in which programs go through memory. A prefetcher that learns
    // one of these orders would show here.
    for (const auto& [workload, weight] : weights_at(size, run.weights())) {
        const Locality locality = locality_of(workload);
        // A part of a large source that was just written may lie in a cache that is shared.
        const bool uncached =
            locality == Locality::uncached || (both && !outgrows && locality == Locality::produced);
        if (!uncached || facts_of(workload).reads) continue;
        const ProbeTicks ticks = read(past, workload);
        append(readings.uncached, ticks.source);
        append(readings.uncached, ticks.destination);
    }
    return readings;
}

/// The probes that have thresholds. Probes of one kind and different numbers of lines are all
/// tried: the timing chooses among them.
std::vector<UsableProbe> usable_probes(OperationRun& run, const Contests& contests,
                                       const std::vector<std::size_t>& sizes) {
    const auto& probes = run.spaces.members("probes");
    std::vector<std::vector<Readings>> readings(probes.size());
    for (const std::size_t index : sizes) {
        const std::size_t size = contests.size_at(index);
        run.progress.label(format_size(size));
        run.enter(Step::sensing, size);
        for (std::size_t i = 0; i < probes.size(); ++i) {
            readings[i].push_back(readings_at(run, contests, index, *probes[i]));
        }
    }
    std::vector<UsableProbe> usable;
    for (std::size_t i = 0; i < probes.size(); ++i) {
        auto shared = common_threshold(readings[i]);
        if (!shared) continue;
        for (std::size_t& index : shared->sizes) index = sizes[index];
        usable.push_back({probes[i], std::move(*shared)});
    }
    return usable;
}

/// The times of each probe, by Locality of the data. add_costs() adds those at one size, measured
/// by copies that always go on with one pipeline.
using Costs = std::vector<std::array<std::vector<double>, kLocalities>>;
void add_costs(OperationRun& run, const Candidate& pipeline, std::size_t size,
               const std::vector<UsableProbe>& probes, Costs& costs) {
    run.enter(Step::sensing, size, "cost");
    std::deque<asterope_sensing> arguments;
    std::vector<TimedCopy> copies = {timed_copy(pipeline)};
    for (const UsableProbe& one : probes) {
        // All pipelines are one here. So the threshold matters only to how many calls have a probe.
        SensingCopy sensing{one.probe, pipeline, pipeline, one.shared.threshold};
        if (pipelines_behind(*one.probe) > 2) sensing.fetch = pipeline;
        if (pipelines_behind(*one.probe) > 3) sensing.produce = pipeline;
        arguments.push_back(sensing.arguments());
        copies.push_back(sensing.timed(arguments.back()));
    }
    Race race(size, run.weights(), run.timed(copies, size));
    const SizeResult result =
        race.run_off(all_entrants(copies.size()), run.plan.rigor.contest_rounds, 0);
    for (const auto& [workload, weight] : counting(weights_at(size, run.weights()))) {
        const auto locality =
            static_cast<std::size_t>(locality_of(workload, run.outgrows_caches(size)));
        const double alone = result.of(0).workloads.at(workload).ns;
        for (std::size_t i = 0; i < probes.size(); ++i) {
            const Finalist& sensing = result.of(i + 1);
            costs[i][locality].push_back(sensing.workloads.at(workload).ns - alone);
        }
    }
}

/// The time of a probe: the cheapest of those with the most pipelines. Empty without a probe.
std::optional<ProbeNs> cost_of_probe(OperationRun& run, const Contests& contests,
                                     const std::vector<UsableProbe>& probes,
                                     const std::vector<std::size_t>& sizes) {
    if (probes.empty()) return std::nullopt;
    Costs costs(probes.size());
    for (std::size_t k = 0; k < std::min(kSizesToCost, sizes.size()); ++k) {
        add_costs(run, run.candidate(best_contestant(run, contests, sizes[k])),
                  contests.size_at(sizes[k]), probes, costs);
    }
    std::optional<ProbeNs> least;
    std::size_t most = 0;
    for (std::size_t i = 0; i < probes.size(); ++i) {
        ProbeNs own{};
        for (std::size_t locality = 0; locality < kLocalities; ++locality) {
            if (!costs[i][locality].empty()) {
                own[locality] = std::max(0.0, median(costs[i][locality]));
            }
        }
        const std::size_t pipelines = pipelines_behind(*probes[i].probe);
        if (pipelines < most || (pipelines == most && own[0] >= (*least)[0])) continue;
        least = own;
        most = pipelines;
    }
    return least;
}

/// Adds each distinct sensing copy of these rows, behind each probe of as many pipelines.
void add_sensing_copies(const OperationRun& run, const std::vector<Row>& rows,
                        const std::vector<UsableProbe>& probes, Contests& contests) {
    std::vector<RowCopy> known;
    for (const Row& row : rows) {
        if (!row.copy.senses || contains(known, row.copy)) continue;
        known.push_back(row.copy);
        const auto pipeline = [&](Locality locality) {
            return run.candidate(contests.contestants[row.copy.of(locality)]);
        };
        const std::size_t pipelines =
            contests.rules.one_sided                                            ? 2
            : row.copy.of(Locality::produced) != row.copy.of(Locality::cached)  ? 4
            : row.copy.of(Locality::fetched) != row.copy.of(Locality::uncached) ? 3
                                                                                : 2;
        for (const auto& [probe, shared] : probes) {
            if (pipelines_behind(*probe) != pipelines) continue;
            const std::vector<double> never(contests.scores.size(), kWorthOfUnusable);
            TimedSensing one{probe, {row.copy, never}, {}};
            SensingCopy copy{probe, pipeline(Locality::cached), pipeline(Locality::uncached),
                             shared.threshold};
            if (pipelines > 2) copy.fetch = pipeline(Locality::fetched);
            if (pipelines > 3) copy.produce = pipeline(Locality::produced);
            for (const std::size_t index : shared.sizes) {
                one.at.emplace(index, TimedSensing::AtSize{copy, copy.arguments()});
            }
            contests.sensing.push_back(std::move(one));
        }
    }
}

void time_sensing_at(OperationRun& run, std::size_t index,
                     const std::vector<std::size_t>& pipelines, Contests& contests) {
    const std::size_t size = contests.size_at(index);
    run.progress.label(format_size(size));
    run.enter(Step::sensing, size, "rows");
    decltype(SensingRace::entrants) entrants;
    std::vector<TimedCopy> copies;
    for (const std::size_t one : pipelines) {
        copies.push_back(run.copy(contests.contestants[one]));
        entrants.emplace_back(RowCopy::plain(one), nullptr);
    }
    std::vector<TimedSensing*> sensing;
    for (TimedSensing& one : contests.sensing) {
        const auto here = one.at.find(index);
        if (here == one.at.end()) continue;
        sensing.push_back(&one);
        copies.push_back(here->second.timed());
        entrants.emplace_back(one.row.copy, one.probe);
    }
    SensingRace kept{Race(size, run.weights(), run.timed(copies, size)), std::move(entrants)};
    const SizeResult result = kept.race.run_off(
        all_entrants(copies.size()), rigor_at(run.plan.rigor, size).contest_rounds, kLibc);
    const Race& race =
        contests.sensing_races.insert_or_assign(index, std::move(kept)).first->second.race;
    // Where all is cached, copies that differ in their probe alone do the same. If one of them
    // loses there and another does not, it has lost by chance.
    std::vector<RowCopy> hold;
    for (std::size_t i = 0; i < sensing.size(); ++i) {
        const Entrant entrant = pipelines.size() + i;
        if (loses_where_cached(race, entrant, size, run.weights())) continue;
        hold.push_back(sensing[i]->row.copy);
    }
    // Two races find caches and buffers in other states. At 512 KiB hot, one copy had 1.03 of libc
    // in one race and 1.9 in the other (a Zen 4). So a sensing copy has the worth of its usual
    // pipeline in the contest, and its lead over that one in this race. That is the pipeline for
    // cached data, or for uncached data where both sides outgrow the caches.
    for (std::size_t i = 0; i < sensing.size(); ++i) {
        const Finalist& finalist = result.of(pipelines.size() + i);
        TimedSensing& one = *sensing[i];
        const std::size_t usual =
            one.row.copy.of(run.outgrows_caches(size) ? Locality::uncached : Locality::cached);
        const auto place = std::ranges::find(pipelines, usual) - pipelines.begin();
        const double ahead = finalist.score - result.of(place).score;
        one.row.scores[index] = contains(hold, one.row.copy)
                                    ? contests.scores[index].plain[usual] + ahead
                                    : kWorthOfUnusable;
        one.at.at(index).finalist = finalist;
    }
}

/// Keeps the best of sensing copies that differ in their probe alone, and the simpler of two that
/// are about as good.
void keep_best_probes(std::vector<TimedSensing>& sensing) {
    constexpr double kAbout = 0.002; ///< of the mean score
    const auto timed = [](const TimedSensing& one) {
        return std::ranges::count_if(one.at,
                                     [](const auto& at) { return at.second.finalist.has_value(); });
    };
    const auto mean = [timed](const TimedSensing& one) {
        double sum = 0;
        for (const auto& [index, here] : one.at) sum += here.finalist ? here.finalist->score : 0;
        return timed(one) == 0 ? kWorthOfUnusable : sum / static_cast<double>(timed(one));
    };
    std::vector<TimedSensing> kept;
    for (TimedSensing& one : sensing) {
        const auto other = std::ranges::find_if(
            kept, [&](const TimedSensing& known) { return known.row.copy == one.row.copy; });
        if (other == kept.end()) {
            kept.push_back(one);
        } else if (timed(one) >= timed(*other) && mean(one) > mean(*other) + kAbout) {
            *other = one;
        }
    }
    sensing = std::move(kept);
}

} // namespace

/// First predicts from the contests the worth of copies behind a probe, and lets rows be chosen by
/// that. Then times the sensing copies of these rows, beside the rows' pipelines. Afterwards only
/// copies that were timed themselves may be chosen.
void time_sensing(OperationRun& run, Contests& contests, LeftOut& left_out) {
    const std::vector<std::size_t> sizes = sizes_to_sense(contests);
    if (run.spaces.members("probes").empty() || sizes.empty()) return;
    run.show(Step::sensing);
    OperationRun::within_budget(left_out, Step::sensing, [&] {
        const std::vector<UsableProbe> probes = usable_probes(run, contests, sizes);
        const auto cost = cost_of_probe(run, contests, probes, sizes);
        if (!cost) return;
        std::vector<bool> temporal;
        for (const Entrant one : contests.contestants) {
            temporal.push_back(run.copy(one).cache_effect == kTemporal);
        }
        std::vector<SizeScores> predicted = contests.scores;
        for (const std::size_t i : sizes) {
            const std::size_t size = contests.size_at(i);
            const bool heeds = std::ranges::any_of(
                probes, [size](const UsableProbe& one) { return heeds_sites(*one.probe, size); });
            predicted[i] =
                scores_of(contests.at_size[i].results.front(), run.weights(), contests.contestants,
                          cost, run.outgrows_caches(size), heeds ? temporal : std::vector<bool>(),
                          contests.rules.one_sided);
        }
        contests.forbid_unprobed(run, 0, predicted);
        std::vector<Row> rows = choose_rows(predicted, contests.rules);
        for (const std::size_t i : sizes) {
            if (contests.standing[i]) rows.push_back({i, i, *contests.standing[i]});
        }
        add_sensing_copies(run, rows, probes, contests);
        if (contests.sensing.empty()) return;
        for (const std::size_t i : sizes) time_sensing_at(run, i, pipelines_of(rows), contests);
    });
    keep_best_probes(contests.sensing);
}

} // namespace asterope
