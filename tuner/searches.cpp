// The searches of one run: on one arena, with one stopwatch, one progress line and one log.
#include "searches.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "boundaries.hpp"
#include "interrupt.hpp"
#include "libc_copy.hpp"
#include "sensing_search.hpp"
#include "size_text.hpp"

namespace asterope {

namespace {

/// The objectives' weights alone, as a race wants them.
std::vector<Weights> weights_of(const std::vector<Objective>& objectives) {
    std::vector<Weights> weights;
    for (const Objective& objective : objectives) weights.push_back(objective.weights);
    return weights;
}

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

/// Those that count.
Weights weighted_only(Weights weights) {
    std::erase_if(weights, [](const auto& weighted) { return weighted.second == 0; });
    return weights;
}

/// Bytes a side for small copies where the sources of the others are mapped: they are drawn from
/// working sets of caches, which a device's memory does not get into.
constexpr std::size_t kSmallArena = std::size_t{64} << 20;

/// The size from which on libc's memcpy stores past the caches, as far as it says.
std::size_t non_temporal_from(const Machine& machine) {
    const auto found = machine.libc_thresholds.find("x86_non_temporal_threshold");
    return found == machine.libc_thresholds.end() ? ~std::size_t{0} : found->second;
}

/// What a probe is read for at least so often: a percentile of fewer would be an extreme.
constexpr std::size_t kReadings = 30;

} // namespace

Searches::Searches(const Plan& plan, const Spaces& spaces, const Machine& machine,
                   std::uint64_t seed, bool quiet)
    : plan_(plan), spaces_(spaces), libc_non_temporal_from_(non_temporal_from(machine)),
      objectives_(plan.objectives()),
      arena_(arena_bytes(plan.sizes.back(), machine), plan.source_map),
      stopwatch_(arena_, plan.sizes.back(), last_cache_bytes(machine)),
      mix_(plan.source_map ? small_arena_.emplace(kSmallArena) : arena_, machine, plan.statistics,
           kLargestMixed, seed),
      random_(seed), progress_(calibrate(), quiet) {}

void Searches::log_to(const std::string& path, const nlohmann::json& header) {
    log_ = std::make_unique<TrialLog>(path, header);
}

PipelineFacts Searches::pipelines() {
    PipelineFacts facts;
    facts.objectives = objectives_;
    LiveTimings timings =
        this->timings([&](Entrant entrant) { return copy_of(candidate(entrant)); },
                      [&](Entrant entrant) { return candidate(entrant).name(); });
    const Extension* extension = plan_.extended ? &spaces_.extension : nullptr;
    std::vector<Entrant> neighbours(objectives_.size(), kLibc);
    for (const std::size_t size : plan_.sizes) {
        progress_.label(format_size(size));
        facts.found.push_back(search_size(spaces_.space, spaces_.entrants, extension, size,
                                          weights_of(objectives_), plan_.rigor, neighbours, random_,
                                          timings));
        for (std::size_t i = 0; i < neighbours.size(); ++i) {
            neighbours[i] = facts.found.back().results[i].finalists.front().candidate;
        }
        facts.sensing.push_back(sensing(size, facts.found.back()));
    }
    for (std::size_t objective = 0; objective < objectives_.size(); ++objective) {
        std::vector<SizeResult> results;
        for (const Found& found : facts.found) results.push_back(found.results[objective]);
        facts.intervals.push_back(
            find_intervals(results, [&](Entrant lower, Entrant upper, std::size_t size) {
                progress_.label(format_size(size));
                calibrate(size);
                Race race(size, weighted_only(objectives_[objective].weights), random_, timings);
                return race.run_off({lower, upper}, plan_.rigor.rounds, lower)
                           .finalists.front()
                           .candidate == lower;
            }));
    }
    trials_ += timings.trials();
    return facts;
}

std::optional<SensingResult> Searches::sensing(std::size_t size, const Found& found) {
    const std::vector<SensingCopy> copies = sensing_copies(size, found);
    const Candidate& fixed = candidate(found.results.front().finalists.front().candidate);
    std::vector<asterope_sensing> arguments;
    for (const SensingCopy& copy : copies) arguments.push_back(copy.arguments());
    const auto index = [](Entrant entrant) { return static_cast<std::size_t>(entrant) - 1; };
    LiveTimings timings = this->timings(
        [&](Entrant entrant) -> Copy {
            if (entrant == 0) return copy_of(fixed);
            const SensingCopy& copy = copies[index(entrant)];
            // What it leaves in the caches where nothing is cached, its cold pipeline does.
            return {copy.probe->sense, reinterpret_cast<std::size_t>(&arguments[index(entrant)]),
                    copy_of(copy.cold).company};
        },
        [&](Entrant entrant) { return entrant ? copies[index(entrant)].name() : fixed.name(); });
    const std::optional<Finalist> winner = race_sensing(
        copies.size(), size, objectives_.front().weights, plan_.rigor, random_, timings);
    trials_ += timings.trials();
    if (!winner) return std::nullopt;
    return SensingResult{copies[index(winner->candidate)], *winner, plan_.rigor.rounds};
}

std::vector<SensingCopy> Searches::sensing_copies(std::size_t size, const Found& found) {
    std::vector<SensingCopy> copies;
    const std::optional<Entrant> hot = winner_under(Workload::hot, objectives_, found);
    if (!hot || size < kSensingMinimum) return copies;
    // Whatever goes on where the data is uncached: the winners of the workloads where it is, and
    // what won over all.
    std::vector<std::pair<Workload, Entrant>> winners;
    for (const Workload workload : {Workload::cold, Workload::consume, Workload::produce}) {
        const std::optional<Entrant> winner = winner_under(workload, objectives_, found);
        if (winner) winners.emplace_back(workload, *winner);
    }
    std::vector<Entrant> colds;
    for (const auto& [workload, winner] : winners) colds.push_back(winner);
    colds.push_back(found.results.front().finalists.front().candidate);
    std::sort(colds.begin(), colds.end());
    colds.erase(std::unique(colds.begin(), colds.end()), colds.end());
    std::erase(colds, *hot);
    if (winners.empty() || colds.empty()) return copies;

    for (const asterope_probe* probe : spaces_.probes) {
        const std::vector<double> cached = read(*probe, candidate(*hot), size, Workload::hot);
        std::vector<double> uncached;
        for (const auto& [workload, winner] : winners) {
            const std::vector<double> more = read(*probe, candidate(winner), size, workload);
            uncached.insert(uncached.end(), more.begin(), more.end());
        }
        for (const Entrant cold : colds) {
            // Cached is also what the cold pipeline has just copied by mistake. It must read so, or
            // one wrong guess in a loop would be repeated for ever: non-temporal stores evict the
            // destination, and a probe that looks there finds nothing cached again (256 KiB: half
            // of libc's speed in the runs that fell into it).
            Readings readings{cached, uncached};
            const std::vector<double> mistaken = read(*probe, candidate(cold), size, Workload::hot);
            readings.cached.insert(readings.cached.end(), mistaken.begin(), mistaken.end());
            const std::optional<Threshold> threshold = find_threshold(readings);
            if (threshold) copies.push_back({probe, candidate(*hot), candidate(cold), *threshold});
        }
    }
    return copies;
}

std::vector<double> Searches::read(const asterope_probe& probe, const Candidate& copy,
                                   std::size_t size, Workload workload) {
    ReadingCopy reading{&probe, copy, {}};
    std::vector<double> ticks;
    for (std::uint64_t round = 0; ticks.size() < kReadings; ++round) {
        throw_if_interrupted();
        reading.ticks.clear();
        stopwatch_.time(&ReadingCopy::run, reinterpret_cast<std::size_t>(&reading), size, workload,
                        round, copy_of(copy).company);
        // The first trial finds the caches as somebody else left them.
        if (round > 0) ticks.insert(ticks.end(), reading.ticks.begin(), reading.ticks.end());
    }
    return ticks;
}

SizeResult Searches::small_copies(const PipelineFacts& pipelines) {
    progress_.label("small copies");
    const Candidate& large = candidate(pipelines.winner_for(kLargestMixed));
    const auto variant = [&](Entrant entrant) -> const asterope_small_variant& {
        return *spaces_.small_space[static_cast<std::size_t>(entrant)];
    };
    LiveTimings timings(
        {[&](std::size_t, Workload workload, Entrant entrant, std::uint64_t round) {
             if (entrant < 0) return mix_.time(libc_mix_copy(), workload, round);
             return mix_.time({variant(entrant).copy, large.distance(), large.variant->copy},
                              workload, round);
         },
         [&](Entrant entrant) { return small_name(variant(entrant)); },
         [](std::size_t, Workload workload) { return MixStopwatch::calls(workload); }},
        progress_, log_.get());
    SizeResult result =
        search_small(suited(spaces_.small_entrants, spaces_.small_space, plan_.small_objective),
                     plan_.small_weights, plan_.rigor, random_, timings);
    trials_ += timings.trials();
    return result;
}

std::vector<AliasedSize> Searches::aliased_copies(const PipelineFacts& pipelines) {
    std::vector<AliasedSize> found;
    const Weights& weights = plan_.objective.weights;
    const bool hot_counts = std::any_of(weights.begin(), weights.end(), [](const auto& weighted) {
        return weighted.first == Workload::hot;
    });
    if (spaces_.aliased_space.empty() || !hot_counts) return found;
    progress_.label("aliasing buffers");
    for (const std::size_t size : plan_.sizes) {
        const Candidate& pipeline = candidate(pipelines.winner_for(size));
        if (size < kAliasedMinimum || size > kAliasedMaximum) continue;
        if (std::string_view(pipeline.variant->st) == "NT") continue;
        const auto variant = [&](Entrant entrant) -> const asterope_aliased_variant& {
            return *spaces_.aliased_space[static_cast<std::size_t>(entrant) - 1];
        };
        LiveTimings timings = this->timings(
            [&](Entrant entrant) {
                return entrant == 0 ? copy_of(pipeline) : Copy{variant(entrant).copy, 0};
            },
            [&](Entrant entrant) {
                return entrant == 0 ? pipeline.name() : aliased_name(variant(entrant));
            });
        found.push_back(
            search_aliased(spaces_.aliased_space.size(), size, plan_.rigor, random_, timings));
        trials_ += timings.trials();
    }
    return found;
}

/// Fixes the calls of each trial. Returns the seconds that the pipelines' search may take.
double Searches::calibrate() {
    double seconds = 0;
    std::vector<Candidate> paper;
    for (const Entrant entrant : spaces_.entrants) paper.push_back(candidate(entrant));
    for (const std::size_t size : plan_.sizes) {
        calibrate(size);
        for (const auto& [workload, weight] : objectives_.front().weights) {
            seconds += static_cast<double>(
                           planned_trials(plan_.rigor, paper, weight > 0, plan_.extended)) *
                       stopwatch_.trial_seconds(size, workload);
        }
    }
    return seconds;
}

void Searches::calibrate(std::size_t size) {
    for (const auto& [workload, weight] : objectives_.front().weights) {
        throw_if_interrupted();
        stopwatch_.calibrate(size, workload, trial_seconds(workload));
    }
}

const Candidate& Searches::candidate(Entrant entrant) const {
    return spaces_.space[static_cast<std::size_t>(entrant)];
}

Searches::Copy Searches::copy_of(const Candidate& candidate) {
    const bool temporal = candidate.variant->st == std::string_view("T");
    return {candidate.variant->copy, candidate.distance(), temporal ? kTemporal : kNonTemporal};
}

Searches::Copy Searches::libc(std::size_t size) const {
    return {libc_copy(), 0, size < libc_non_temporal_from_ ? kTemporal : kNonTemporal};
}

/// Timings of `copy`, and of libc beside it.
LiveTimings Searches::timings(CopyOf copy_of, Name name) {
    const auto copy = [this, copy_of](std::size_t size, Entrant entrant) {
        return entrant < 0 ? libc(size) : copy_of(entrant);
    };
    return LiveTimings(
        {[this, copy](std::size_t size, Workload workload, Entrant entrant, std::uint64_t round) {
             const Copy one = copy(size, entrant);
             return stopwatch_.time(one.function, one.distance, size, workload, round, one.company);
         },
         std::move(name),
         [this](std::size_t size, Workload workload) { return stopwatch_.calls(size, workload); },
         [copy](std::size_t size, Entrant entrant) { return copy(size, entrant).company; }},
        progress_, log_.get());
}

} // namespace asterope
