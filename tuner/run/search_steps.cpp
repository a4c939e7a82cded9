// The searches of one run, step by step, on figures from wherever they come.
#include "run/search_steps.hpp"

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/size_text.hpp"
#include "run/machine_trials.hpp"
#include "search/boundaries.hpp"
#include "search/overlapping_search.hpp"
#include "search/sensing_search.hpp"
#include "search/size_order.hpp"
#include "timing/timed_copy.hpp"

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

double weight_of(const Weights& weights, Workload workload) {
    for (const auto& [one, weight] : weights) {
        if (one == workload) return weight;
    }
    return 0;
}

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

/// What of the time budget the sizes may take, and what all up to the boundaries: the steps behind
/// them are short, and each is worth more than the last size.
constexpr double kShareOfSizes = 0.9, kShareOfBoundaries = 0.97;

} // namespace

SearchSteps::SearchSteps(const Plan& plan, const Spaces& spaces, const Machine& machine,
                         std::uint64_t seed, bool quiet, TrialSource& figures, Budget& budget,
                         TimeSpent& spent)
    : plan_(plan), spaces_(spaces), libc_thresholds_(machine.libc_thresholds),
      last_cache_bytes_(last_cache_bytes(machine)), seed_(seed), objectives_(plan.objectives()),
      figures_(figures), budget_(budget), spent_(spent),
      progress_(calibrate(), quiet), context_{figures_, disturbed_rounds_, progress_, spent_} {}

Findings SearchSteps::run() {
    Findings findings;
    findings.pipelines.objectives = objectives_;
    budget_.allow(kShareOfSizes);
    search_sizes(findings);
    budget_.allow(kShareOfBoundaries);
    find_boundaries(findings);
    budget_.allow(1);
    aliased_copies(findings);
    shared_copies(findings);
    findings.noise = disturbed_rounds_;
    findings.trials = context_.trials;
    findings.recorded_seconds = context_.recorded_seconds;
    return findings;
}

std::mt19937_64 SearchSteps::enter(const std::string& step) {
    figures_.enter(step);
    disturbed_rounds_.enter_step();
    return named_random(seed_, step);
}

/// Indices into the plan's sizes: the one that small copies hand over to, where it is ours, then
/// coarse to fine; a border last, as all others matter more.
std::vector<std::size_t> SearchSteps::order_of_sizes() const {
    const std::size_t first_own = plan_.border ? 1 : 0;
    std::vector<std::size_t> order = coarse_to_fine(plan_.sizes.size() - first_own);
    for (std::size_t& index : order) index += first_own;
    const auto handover = std::find_if(order.begin(), order.end(), [&](std::size_t index) {
        return plan_.sizes[index] == plan_.handover_size();
    });
    if (handover != order.end()) std::rotate(order.begin(), handover, handover + 1);
    if (plan_.border) order.push_back(0);
    return order;
}

void SearchSteps::search_sizes(Findings& findings) {
    bool budget_left = true;
    for (const std::size_t index : order_of_sizes()) {
        const bool first = found_.empty();
        try {
            if (budget_left) found_.emplace(index, search_one_size(index));
        } catch (const BudgetSpent&) {
            budget_left = false;
            if (first) {
                throw Failure("the time budget ended before the first size was done");
            }
        }
        const std::size_t size = plan_.sizes[index];
        if (size != plan_.handover_size() || !plan_.owns(size)) continue;
        budget_.allow(1); // nothing is copied as often as what is small
        try {
            findings.small = small_copies(
                candidate(found_.at(index).found.results.front().finalists.front().candidate));
            if (figures_.has(kOverlappingStep)) findings.overlapping = overlapping_copies();
        } catch (const BudgetSpent&) { // there is none, then
        }
        budget_.allow(kShareOfSizes);
    }
    // What is another shard's is no less missing here.
    if (!findings.small) findings.left_out.steps.push_back("small copies");
    if (!findings.overlapping && figures_.has(kOverlappingStep)) {
        findings.left_out.steps.push_back(kOverlappingStep);
    }
    if (sensing_left_out_) findings.left_out.steps.push_back("sensing");
    findings.left_out.sizes = plan_.all_sizes;
    for (const auto& [index, one] : found_) {
        std::erase(findings.left_out.sizes, plan_.sizes[index]);
        findings.pipelines.found.push_back(one.found);
        findings.pipelines.sensing.push_back(one.sensing);
    }
}

SearchSteps::SizeFound SearchSteps::search_one_size(std::size_t index) {
    const std::size_t size = plan_.sizes[index];
    progress_.label(format_size(size));
    std::vector<std::vector<Entrant>> neighbours(objectives_.size());
    std::vector<bool> done(plan_.sizes.size(), false);
    for (const auto& [one, unused] : found_) done[one] = true;
    for (const std::size_t neighbour : nearest_done(done, index)) {
        for (std::size_t i = 0; i < neighbours.size(); ++i) {
            neighbours[i].push_back(
                found_.at(neighbour).found.results[i].finalists.front().candidate);
        }
    }
    std::mt19937_64 random = enter("pipelines " + std::to_string(size));
    SearchTimings timings(field([&](Entrant entrant) { return copy_of(candidate(entrant)); },
                                [&](Entrant entrant) { return candidate(entrant).name(); }),
                          context_, true);
    // Of a border only the winner is wanted, and that to be about right.
    Rigor rigor = plan_.owns(size) ? plan_.rigor : parse_rigor("quick");
    const std::vector<Entrant> heirs = inherited(index, rigor);
    if (!heirs.empty()) rigor.coarse = {}; // all of them are screened
    SizeFound one{search_size(spaces_.space, heirs.empty() ? spaces_.entrants : heirs,
                              plan_.extended && heirs.empty() ? &spaces_.extension : nullptr, size,
                              weights_of(objectives_), rigor, neighbours, random, timings),
                  std::nullopt};
    if (!plan_.owns(size)) return one;
    try {
        one.sensing = sensing(size, one.found);
    } catch (const BudgetSpent&) {
        sensing_left_out_ = true; // what was found before stays
    }
    return one;
}

/// The finalists that this size takes over, see Rigor::inherits; none: it is searched itself.
std::vector<Entrant> SearchSteps::inherited(std::size_t index, const Rigor& rigor) const {
    std::set<Entrant> finalists;
    const auto beyond = [&](std::size_t one) {
        return outgrows(plan_.sizes[one], last_cache_bytes_);
    };
    if (!rigor.inherits || !beyond(index)) return {};
    for (const auto& [other, one] : found_) {
        if (!beyond(other)) continue;
        for (const SizeResult& result : one.found.results) {
            for (const Finalist& finalist : result.finalists) finalists.insert(finalist.candidate);
        }
    }
    return {finalists.begin(), finalists.end()};
}

std::optional<SensingResult> SearchSteps::sensing(std::size_t size, const Found& found) {
    spent_.enter("sensing");
    std::mt19937_64 random = enter("sensing " + std::to_string(size));
    const std::vector<SensingCopy> copies = sensing_copies(size, found);
    const Candidate& fixed = candidate(found.results.front().finalists.front().candidate);
    std::vector<asterope_sensing> arguments;
    for (const SensingCopy& copy : copies) arguments.push_back(copy.arguments());
    const auto index = [](Entrant entrant) { return static_cast<std::size_t>(entrant) - 1; };
    SearchTimings timings(field(
                              [&](Entrant entrant) -> TimedCopy {
                                  if (entrant == 0) return copy_of(fixed);
                                  const SensingCopy& copy = copies[index(entrant)];
                                  // What it leaves in the caches where nothing is cached, its cold
                                  // pipeline does.
                                  return {copy.probe->copy,
                                          reinterpret_cast<std::size_t>(&arguments[index(entrant)]),
                                          copy_of(copy.cold).cache_effect};
                              },
                              [&](Entrant entrant) {
                                  return entrant ? copies[index(entrant)].name() : fixed.name();
                              }),
                          context_, false);
    const std::optional<Finalist> winner = race_sensing(
        copies.size(), size, objectives_.front().weights, plan_.rigor, random, timings);
    if (!winner) return std::nullopt;
    return SensingResult{copies[index(winner->candidate)], *winner, plan_.rigor.rounds};
}

std::vector<SensingCopy> SearchSteps::sensing_copies(std::size_t size, const Found& found) {
    std::vector<SensingCopy> copies;
    const std::optional<Entrant> hot = winner_under(Workload::hot, objectives_, found);
    // What both sides outgrow is cached nowhere: there is nothing to tell apart.
    if (!hot || size < kSensingMinimum || outgrows(size, last_cache_bytes_)) return copies;
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
    // Whatever goes on where a side is cached: the winner of hot, or what won over all, which does
    // better than that where it is the destination alone.
    std::vector<Entrant> hots = {*hot};
    const Entrant over_all = found.results.front().finalists.front().candidate;
    if (over_all != *hot) hots.push_back(over_all);

    for (const asterope_copy* probe : spaces_.probes) {
        const std::vector<double> cached = read(*probe, candidate(*hot), size, Workload::hot);
        const std::vector<double> fetched = read(*probe, candidate(*hot), size, Workload::fetch);
        std::vector<double> uncached;
        for (const auto& [workload, winner] : winners) {
            const std::vector<double> more = read(*probe, candidate(winner), size, workload);
            uncached.insert(uncached.end(), more.begin(), more.end());
        }
        for (const Entrant cold : colds) {
            // Cached is also a destination that is used again and again, whatever the source:
            // non-temporal stores would evict it (reads of a cached file: 0.75 of libc's speed).
            // And cached is what the cold pipeline has just copied by mistake. It must read so, or
            // one wrong guess in a loop would be repeated for ever: non-temporal stores evict the
            // destination, and a probe that looks there finds nothing cached again (256 KiB: half
            // of libc's speed in the runs that fell into it).
            Readings readings{cached, uncached};
            const std::vector<double> mistaken = read(*probe, candidate(cold), size, Workload::hot);
            readings.cached.insert(readings.cached.end(), mistaken.begin(), mistaken.end());
            readings.cached.insert(readings.cached.end(), fetched.begin(), fetched.end());
            const std::optional<Threshold> threshold = find_threshold(readings);
            if (!threshold) continue;
            for (const Entrant one : hots) {
                if (one == cold) continue;
                copies.push_back({probe, candidate(one), candidate(cold), *threshold});
            }
        }
    }
    return copies;
}

std::vector<double> SearchSteps::read(const asterope_copy& probe, const Candidate& copy,
                                      std::size_t size, Workload workload) {
    return figures_.readings(
        {size, workload, probe.name, copy.name()}, [&](Instruments& instruments) {
            ReadingCopy reading{&probe, copy, {}};
            std::vector<double> ticks;
            for (std::uint64_t round = 0; ticks.size() < plan_.rigor.probe_readings; ++round) {
                reading.ticks.clear();
                instruments.stopwatch.time({&ReadingCopy::run,
                                            reinterpret_cast<std::size_t>(&reading),
                                            copy_of(copy).cache_effect},
                                           workload, size, round);
                // The first trial finds the caches as somebody else left them.
                if (round > 0)
                    ticks.insert(ticks.end(), reading.ticks.begin(), reading.ticks.end());
            }
            return ticks;
        });
}

SizeResult SearchSteps::small_copies(const Candidate& large) {
    progress_.label("small copies");
    spent_.enter("small copies");
    std::mt19937_64 random = enter("small copies");
    const auto variant = [&](Entrant entrant) -> const asterope_copy& {
        return *spaces_.small_space[static_cast<std::size_t>(entrant)];
    };
    SearchTimings timings({[&](Instruments& instruments, std::size_t, Workload workload,
                               Entrant entrant, std::uint64_t round) {
                               const TimedCopy copy =
                                   entrant < 0 ? TimedCopy{libc_copy()}
                                               : small_copy(variant(entrant).small,
                                                            large.distance(), large.variant->copy);
                               return instruments.stopwatch.time(copy, workload, 0, round);
                           },
                           [&](Entrant entrant) { return std::string(variant(entrant).name); },
                           [](std::size_t, Workload workload) { return fixed_calls(workload); }},
                          context_, false);
    return search_small(suited(spaces_.small_entrants, spaces_.small_space, plan_.small_objective),
                        plain_small(spaces_.small_space), plan_.small_weights, plan_.rigor, random,
                        timings);
}

SizeResult SearchSteps::overlapping_copies() {
    progress_.label(kOverlappingStep);
    spent_.enter(kOverlappingStep);
    std::mt19937_64 random = enter(kOverlappingStep);
    const auto variant = [&](Entrant entrant) -> const asterope_copy& {
        return *spaces_.overlapping_space[static_cast<std::size_t>(entrant)];
    };
    SearchTimings timings({[&](Instruments& instruments, std::size_t, Workload, Entrant entrant,
                               std::uint64_t round) {
                               return instruments.stopwatch.time(
                                   {entrant < 0 ? libc_move() : variant(entrant).copy},
                                   Workload::overlapping, 0, round);
                           },
                           [&](Entrant entrant) { return std::string(variant(entrant).name); },
                           [](std::size_t, Workload workload) { return fixed_calls(workload); }},
                          context_, false);
    return search_overlapping(spaces_.overlapping_space.size(), plan_.rigor, random, timings);
}

void SearchSteps::find_boundaries(Findings& findings) {
    spent_.enter("boundaries");
    PipelineFacts& facts = findings.pipelines;
    SearchTimings timings(field([&](Entrant entrant) { return copy_of(candidate(entrant)); },
                                [&](Entrant entrant) { return candidate(entrant).name(); }),
                          context_, false);
    bool budget_left = true;
    for (std::size_t objective = 0; objective < objectives_.size(); ++objective) {
        std::vector<SizeResult> results;
        for (const Found& found : facts.found) results.push_back(found.results[objective]);
        // Where the budget has ended, the intervals end at the evaluated sizes, as the paper's do.
        const auto lower_holds = [&](Entrant lower, Entrant upper, std::size_t size) {
            if (!budget_left) return false;
            progress_.label(format_size(size));
            try {
                std::mt19937_64 random =
                    enter("boundary " + objectives_[objective].name + ' ' + std::to_string(size));
                calibrate(size);
                Race race(size, screening_weights(objectives_[objective].weights), random, timings);
                return race.run_off({lower, upper}, plan_.rigor.rounds, lower)
                           .finalists.front()
                           .candidate == lower;
            } catch (const BudgetSpent&) {
                budget_left = false;
                return false;
            }
        };
        facts.intervals.push_back(find_intervals(results, plan_.rigor.boundary_ratio, lower_holds));
    }
    if (!budget_left) findings.left_out.steps.push_back("boundaries");
    drop_sensing_below_minimum(facts);
}

/// A matter of cached buffers: where memory is waited for, or written past the caches, a load that
/// is held up costs nothing, and these would be the wrong copies.
void SearchSteps::aliased_copies(Findings& findings) {
    const Weights& weights = plan_.objective.weights;
    const bool hot_counts = std::any_of(weights.begin(), weights.end(), [](const auto& weighted) {
        return weighted.first == Workload::hot;
    });
    if (spaces_.aliased_space.empty() || !hot_counts) return;
    progress_.label("aliasing buffers");
    spent_.enter("aliasing buffers");
    const auto variant = [&](Entrant entrant) -> const asterope_copy& {
        return *spaces_.aliased_space[static_cast<std::size_t>(entrant) - 1];
    };
    for (const Found& found : findings.pipelines.found) {
        const std::size_t size = found.results.front().size;
        const Candidate& pipeline = candidate(findings.pipelines.winner_for(size));
        if (size < kAliasedMinimum || size > kAliasedMaximum || !plan_.owns(size)) continue;
        if (std::string_view(pipeline.variant->st) == "NT") continue;
        std::mt19937_64 random = enter("aliased " + std::to_string(size));
        SearchTimings timings(field(
                                  [&](Entrant entrant) {
                                      return entrant == 0 ? copy_of(pipeline)
                                                          : TimedCopy{variant(entrant).copy};
                                  },
                                  [&](Entrant entrant) {
                                      return entrant == 0 ? pipeline.name() : variant(entrant).name;
                                  }),
                              context_, false);
        try {
            findings.aliased.push_back(
                search_aliased(spaces_.aliased_space.size(), size, plan_.rigor, random, timings));
        } catch (const BudgetSpent&) {
            findings.left_out.steps.push_back("aliasing buffers");
            return;
        }
    }
}

void SearchSteps::shared_copies(Findings& findings) {
    if (plan_.threads < 2) return;
    progress_.label("threads");
    spent_.enter("threads");
    for (const Found& found : findings.pipelines.found) {
        const std::size_t size = found.results.front().size;
        if (size < kSharedMinimum || !plan_.owns(size)) continue;
        try {
            findings.shared.push_back(share(size, findings.pipelines));
        } catch (const BudgetSpent&) {
            findings.left_out.steps.push_back("threads");
            return;
        }
    }
}

/// A chunk takes the copy that the routine takes for the whole.
SharedSize SearchSteps::share(std::size_t size, const PipelineFacts& pipelines) {
    std::mt19937_64 random = enter("threads " + std::to_string(size));
    const Candidate& fixed = candidate(pipelines.winner_for(size));
    const auto& sensing = pipelines.sensing[pipelines.result_for(size)];
    TimedCopy alone = copy_of(fixed);
    asterope_sensing arguments;
    if (sensing) {
        arguments = sensing->copy.arguments();
        alone = {sensing->copy.probe->copy, reinterpret_cast<std::size_t>(&arguments),
                 copy_of(sensing->copy.cold).cache_effect};
    }
    const std::vector<ThreadShare> shares = shares_for(size, plan_.threads);
    std::vector<asterope_share> how;
    for (const auto& [threads, chunk] : shares) {
        how.push_back({threads, chunk, alone.function, alone.distance});
    }
    const auto index = [](Entrant entrant) { return static_cast<std::size_t>(entrant) - 1; };
    SearchTimings timings(field(
                              [&](Entrant entrant) -> TimedCopy {
                                  if (entrant == 0) return alone;
                                  return {&asterope_copy_over_threads,
                                          reinterpret_cast<std::size_t>(&how[index(entrant)]),
                                          alone.cache_effect};
                              },
                              [&](Entrant entrant) {
                                  if (entrant > 0) return share_name(shares[index(entrant)]);
                                  return sensing ? sensing->copy.name() : fixed.name();
                              }),
                          context_, false);
    return search_shares(shares, size, shared_weights(objectives_.front().weights), plan_.rigor,
                         random, timings);
}

/// Fixes the calls of each trial. Returns the seconds that the pipelines' search may take.
double SearchSteps::calibrate() {
    spent_.enter("calibrating");
    figures_.enter("calibration");
    double seconds = 0;
    std::vector<Candidate> paper;
    for (const Entrant entrant : spaces_.entrants) paper.push_back(candidate(entrant));
    for (const std::size_t size : plan_.sizes) {
        calibrate(size);
        const Weights early = screening_weights(objectives_.front().weights);
        for (const auto& [workload, weight] : objectives_.front().weights) {
            const Calibration& calibration = calibrations_.at({size, workload});
            const Timed timed = weight == 0                  ? Timed::for_the_record
                                : weight_of(early, workload) ? Timed::early
                                                             : Timed::late;
            seconds +=
                static_cast<double>(planned_trials(plan_.rigor, paper, timed, plan_.extended) *
                                    calibration.calls) *
                calibration.seconds;
        }
    }
    return seconds;
}

void SearchSteps::calibrate(std::size_t size) {
    for (const auto& [workload, weight] : objectives_.front().weights) {
        calibrations_[{size, workload}] = figures_.calibration(size, workload);
    }
}

std::size_t SearchSteps::calls(std::size_t size, Workload workload) const {
    // Aliasing buffers have the hot ones' calls, see Stopwatch.
    return calibrations_.at({size, workload == Workload::aliased ? Workload::hot : workload}).calls;
}

const Candidate& SearchSteps::candidate(Entrant entrant) const {
    return spaces_.space[static_cast<std::size_t>(entrant)];
}

TimedCopy SearchSteps::copy_of(const Candidate& candidate) {
    return {candidate.variant->copy, candidate.distance(), cache_effect_of(candidate)};
}

TimedCopy SearchSteps::libc(std::size_t size) const {
    return {libc_copy(), 0, cache_effect_of_libc(size, libc_thresholds_)};
}

/// The pipelines' field: `copy_of` each entrant, and libc beside them.
Entrants SearchSteps::field(CopyOf copy_of, Name name) const {
    const auto copy = [this, copy_of](std::size_t size, Entrant entrant) {
        return entrant < 0 ? libc(size) : copy_of(entrant);
    };
    return {[copy](Instruments& instruments, std::size_t size, Workload workload, Entrant entrant,
                   std::uint64_t round) {
                return instruments.stopwatch.time(copy(size, entrant), workload, size, round);
            },
            std::move(name),
            [this](std::size_t size, Workload workload) { return calls(size, workload); },
            [copy](std::size_t size, Entrant entrant) { return copy(size, entrant).cache_effect; }};
}

} // namespace asterope
