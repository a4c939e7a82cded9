// The steps of a run that find out where a copy should sense where its data is, and by which probe.
#include <algorithm>
#include <limits>

#include "base/contains.hpp"
#include "base/size_text.hpp"
#include "base/statistics.hpp"
#include "run/search_steps.hpp"
#include "timing/cache_effect.hpp"
#include "timing/placement.hpp"

namespace asterope {

namespace {

/// At so many sizes, the smallest ones, it is measured what a probe takes: it takes as long
/// elsewhere, where that is harder to see.
constexpr std::size_t kSizesToCost = 4;

void append(std::vector<double>& readings, const std::vector<double>& more) {
    readings.insert(readings.end(), more.begin(), more.end());
}

} // namespace

/// First predicts from the contest what copies behind a probe would be worth, and lets rows be
/// chosen by that; then times the sensing copies of these rows, beside the rows' pipelines. Only
/// what was timed itself may be chosen afterwards.
void SearchSteps::time_sensing(LeftOut& left_out) {
    const std::vector<std::size_t> sizes = sizes_to_sense();
    if (spaces_.probes.empty() || sizes.empty()) return;
    show(Step::sensing);
    try {
        const std::vector<UsableProbe> probes = usable_probes(sizes);
        const std::optional<ProbeSeconds> seconds = cost_of_probe(probes, sizes);
        if (!seconds) return;
        std::vector<SizeScores> predicted = scores_;
        for (const std::size_t i : sizes) {
            predicted[i] = scores_of(contests_[i].results.front(), objectives_.front().weights,
                                     contestants_, seconds);
        }
        const std::vector<Row> rows = choose_rows(predicted, row_rules());
        add_sensing_copies(rows, probes);
        if (sensing_.empty()) return;
        for (const std::size_t i : sizes) time_sensing_at(i, pipelines_of(rows));
    } catch (const BudgetSpent&) {
        left_out.steps.insert(Step::sensing);
    }
    keep_best_probes();
}

/// Indices of the evaluated sizes at which a copy may sense. What both sides outgrow is cached
/// nowhere: there is nothing to tell apart.
std::vector<std::size_t> SearchSteps::sizes_to_sense() const {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < contests_.size(); ++i) {
        const std::size_t size = contests_[i].results.front().size;
        if (size >= kSensingMinimum && !outgrows(size, last_cache_bytes_)) indices.push_back(i);
    }
    return indices;
}

/// The contestant that is worth most at a size; of those alone that store past the caches, where
/// there are such and `non_temporal`.
Entrant SearchSteps::best_contestant(std::size_t index, bool non_temporal) const {
    std::size_t best = 0;
    bool found = false;
    for (std::size_t i = 0; i < contestants_.size(); ++i) {
        const bool wanted = !non_temporal || copy(contestants_[i]).cache_effect == kNonTemporal;
        if (!wanted || (found && scores_[index].plain[i] <= scores_[index].plain[best])) continue;
        best = i;
        found = true;
    }
    return contestants_[best];
}

/// The probes that have a threshold. Probes of one kind and different numbers of lines are all
/// tried: which is the best is for the timing to say.
std::vector<SearchSteps::UsableProbe>
SearchSteps::usable_probes(const std::vector<std::size_t>& sizes) {
    std::vector<std::vector<Readings>> readings(spaces_.probes.size());
    for (const std::size_t index : sizes) {
        const std::size_t size = contests_[index].results.front().size;
        label(format_size(size));
        enter(Step::sensing, size);
        for (std::size_t i = 0; i < spaces_.probes.size(); ++i) {
            readings[i].push_back(readings_at(index, *spaces_.probes[i]));
        }
    }
    std::vector<UsableProbe> usable;
    for (std::size_t i = 0; i < spaces_.probes.size(); ++i) {
        const auto common = common_threshold(readings[i]);
        if (!common) continue;
        UsableProbe one{spaces_.probes[i], common->threshold};
        for (std::size_t k = 0; k < sizes.size(); ++k) {
            if (common->holds[k]) one.indices.push_back(sizes[k]);
        }
        usable.push_back(std::move(one));
    }
    return usable;
}

Readings SearchSteps::readings_at(std::size_t index, const asterope_copy& probe) {
    const std::size_t size = contests_[index].results.front().size;
    const Entrant any = best_contestant(index, false), past = best_contestant(index, true);
    const auto read = [&](Entrant entrant, Workload workload) {
        return timings_.readings(
            {probe, copy(entrant), size, workload, plan_.rigor.probe_readings});
    };
    Readings readings;
    append(readings.cached, read(any, Workload::hot).source);
    // Cached is also a source that the cold pipeline has just copied by mistake. It must read so,
    // or one wrong guess in a loop would be repeated for ever.
    append(readings.cached, read(past, Workload::hot).source);
    const ProbeTicks fetched = read(any, Workload::fetch);
    append(readings.uncached, fetched.source);
    append(readings.cached, fetched.destination);
    // In every order in which programs go through memory: what a prefetcher learns of one of them
    // would show here.
    for (const auto& [workload, weight] : weights_at(size, objectives_.front().weights)) {
        if (locality_of(workload) != Locality::uncached || facts_of(workload).reads) continue;
        const ProbeTicks ticks = read(past, workload);
        append(readings.uncached, ticks.source);
        append(readings.uncached, ticks.destination);
    }
    return readings;
}

/// What the cheapest of the probes that look at both sides takes, and else of the others; none
/// where there is no probe. Measured by copies that go on with one pipeline wherever their data is.
std::optional<ProbeSeconds> SearchSteps::cost_of_probe(const std::vector<UsableProbe>& probes,
                                                       const std::vector<std::size_t>& sizes) {
    if (probes.empty()) return std::nullopt;
    std::vector<std::array<std::vector<double>, kLocalities>> costs(probes.size());
    for (std::size_t k = 0; k < std::min(kSizesToCost, sizes.size()); ++k) {
        const std::size_t size = contests_[sizes[k]].results.front().size;
        std::mt19937_64 random = enter(Step::sensing, size, "cost");
        const Candidate& one = candidate(best_contestant(sizes[k], false));
        std::deque<asterope_sensing> arguments;
        std::vector<TimedCopy> copies = {timed_copy(one)};
        for (const auto& [probe, threshold, indices] : probes) {
            SensingCopy sensing{probe, one, one, threshold};
            if (looks_at_destination(*probe)) sensing.fetch = one;
            arguments.push_back(sensing.arguments());
            copies.push_back(sensing.timed(arguments.back()));
        }
        Race race(size, objectives_.front().weights, random, timed(copies, size));
        const SizeResult result =
            race.run_off(all_entrants(copies.size()), plan_.rigor.contest_rounds, 0);
        const auto seconds = [&](Entrant entrant, Workload workload) {
            return std::find_if(result.finalists.begin(), result.finalists.end(),
                                [&](const Finalist& f) { return f.candidate == entrant; })
                ->workloads.at(workload)
                .seconds;
        };
        for (const auto& [workload, weight] : weights_at(size, objectives_.front().weights)) {
            if (weight == 0) continue;
            const auto locality = static_cast<std::size_t>(locality_of(workload));
            for (std::size_t i = 0; i < probes.size(); ++i) {
                costs[i][locality].push_back(seconds(static_cast<Entrant>(i) + 1, workload) -
                                             seconds(0, workload));
            }
        }
    }
    std::optional<ProbeSeconds> least;
    bool both = false;
    for (std::size_t i = 0; i < probes.size(); ++i) {
        ProbeSeconds own{};
        for (std::size_t locality = 0; locality < kLocalities; ++locality) {
            if (!costs[i][locality].empty()) {
                own[locality] = std::max(0.0, median(costs[i][locality]));
            }
        }
        const bool looks_at_both = looks_at_destination(*probes[i].probe);
        if (least && std::pair(!looks_at_both, own[0]) >= std::pair(!both, (*least)[0])) continue;
        least = own;
        both = looks_at_both;
    }
    return least;
}

/// Each distinct way to sense of these rows, behind each probe that can do it.
void SearchSteps::add_sensing_copies(const std::vector<Row>& rows,
                                     const std::vector<UsableProbe>& probes) {
    std::vector<RowCopy> known;
    for (const Row& row : rows) {
        if (!row.copy.senses || contains(known, row.copy)) continue;
        known.push_back(row.copy);
        const auto pipeline = [&](Locality locality) {
            const std::size_t i = row.copy.pipelines[static_cast<std::size_t>(locality)];
            return candidate(contestants_[i]);
        };
        const bool both = row.copy.pipelines[1] != row.copy.pipelines[2];
        for (const auto& [probe, threshold, indices] : probes) {
            if (looks_at_destination(*probe) != both) continue;
            SensingCopy copy{probe, pipeline(Locality::cached), pipeline(Locality::uncached),
                             threshold};
            if (both) copy.fetch = pipeline(Locality::fetched);
            const std::vector<double> never(scores_.size(),
                                            -std::numeric_limits<double>::infinity());
            sensing_.push_back({copy, copy.arguments(), {row.copy, never}, indices});
        }
    }
}

void SearchSteps::time_sensing_at(std::size_t index, const std::vector<std::size_t>& pipelines) {
    const std::size_t size = contests_[index].results.front().size;
    label(format_size(size));
    SensingRace kept{std::make_unique<std::mt19937_64>(enter(Step::sensing, size, "rows")), {}, {}};
    std::vector<TimedCopy> copies;
    for (const std::size_t one : pipelines) {
        copies.push_back(copy(contestants_[one]));
        kept.entrants.emplace_back(RowCopy::plain(one), nullptr);
    }
    std::vector<TimedSensing*> sensing;
    for (TimedSensing& one : sensing_) {
        if (!contains(one.indices, index)) continue;
        sensing.push_back(&one);
        copies.push_back(one.copy.timed(one.arguments));
        kept.entrants.emplace_back(one.row.copy, one.copy.probe);
    }
    kept.race = std::make_unique<Race>(size, objectives_.front().weights, *kept.random,
                                       timed(copies, size));
    const SizeResult result =
        kept.race->run_off(all_entrants(copies.size()), plan_.rigor.contest_rounds, kLibc);
    sensing_races_.insert_or_assign(index, std::move(kept));
    for (const Finalist& finalist : result.finalists) {
        const auto place = static_cast<std::size_t>(finalist.candidate);
        if (place < pipelines.size()) {
            // Timed twice by now: both count, and what senses is compared with what ran beside it.
            double& score = scores_[index].plain[pipelines[place]];
            score = (score + finalist.score) / 2;
        } else {
            TimedSensing& one = *sensing[place - pipelines.size()];
            one.row.scores[index] = finalist.score;
            one.finalists.emplace(index, finalist);
        }
    }
}

/// Of sensing copies that differ in their probe alone keeps the best, and the simpler of two that
/// are about as good.
void SearchSteps::keep_best_probes() {
    constexpr double kAbout = 0.002; ///< of the mean score
    const auto mean = [](const TimedSensing& one) {
        double sum = 0;
        for (const auto& [index, finalist] : one.finalists) sum += finalist.score;
        return one.finalists.empty() ? -std::numeric_limits<double>::infinity()
                                     : sum / static_cast<double>(one.finalists.size());
    };
    std::deque<TimedSensing> kept;
    for (TimedSensing& one : sensing_) {
        const auto other = std::find_if(kept.begin(), kept.end(), [&](const TimedSensing& known) {
            return known.row.copy == one.row.copy;
        });
        if (other == kept.end()) {
            kept.push_back(one);
        } else if (one.finalists.size() >= other->finalists.size() &&
                   mean(one) > mean(*other) + kAbout) {
            *other = one;
        }
    }
    sensing_ = std::move(kept);
}

} // namespace asterope
