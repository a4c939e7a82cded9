// Each size and objective is a race of the copies that all machines timed.
#include "merge/common_pipelines.hpp"

#include <algorithm>
#include <cmath>

#include "base/contains.hpp"
#include "run/contests.hpp"
#include "search/boundaries.hpp"
#include "search/sensing_search.hpp"

namespace asterope {

namespace {

class CommonSearch {
  public:
    CommonSearch(OperationRun& run, const MergedTimings& timings,
                 const std::vector<MergeSource>& sources)
        : run_(run), timings_(timings), sources_(sources),
          objectives_(with_intents(run.plan.objective, {})) {
        objectives_.resize(run.objectives.size());
        for (const Candidate& one : run.spaces.space) {
            places_.emplace(one.name(), named_.size());
            named_.push_back({.name = one.name()});
        }
    }

    CommonPipelines find() {
        PipelineFacts& facts = common_.facts;
        facts.operation = run_.plan.operation;
        facts.objectives = objectives_;
        for (const std::size_t size : sources_.front().profile.sizes(facts.operation)) add(size);
        for (std::size_t i = 0; !facts.found.empty() && i < objectives_.size(); ++i) {
            std::vector<std::size_t> sizes;
            std::vector<Entrant> winners;
            for (const Found& one : facts.found) {
                sizes.push_back(one.results[i].size);
                winners.push_back(one.results[i].winner());
            }
            const auto holds = [&](Entrant lower, Entrant upper, std::size_t size) {
                return size <= boundary(i, lower, upper, size, sizes);
            };
            facts.intervals.push_back(
                find_intervals(sizes, winners, run_.plan.rigor.boundary_ratio, holds));
        }
        if (!facts.found.empty()) begin_sensing_at_minimum(facts);
        return std::move(common_);
    }

  private:
    /// The choice of that size on one machine; null where it has none.
    const Choice* own_choice(std::size_t machine, std::size_t objective, std::size_t size) const {
        std::optional<Workload> intent;
        if (objective > 0) intent = find_workload(objectives_[objective].name);
        const auto choices =
            sources_[machine].profile.of(ChoiceKind::pipelines, run_.plan.operation, intent);
        const auto* found = find_in(choices, size, &Choice::size);
        return found ? *found : nullptr;
    }

    /// Whether a pipeline copies any data, or only data that a probe has found.
    enum class Use { unprobed, probed };

    /// The machine on which the pipeline is slowest decides.
    bool may_take(const CommonRace& race, Entrant entrant, std::size_t size,
                  const Weights& weights) const {
        return may_take_unprobed(run_, entrant, size, weights, [&](Workload workload) {
            double least = INFINITY;
            for (std::size_t i = 0; i < sources_.size(); ++i) {
                least = std::min(least, race.score(i, name_of(entrant), {{workload, 1}}));
            }
            return std::exp(least);
        });
    }

    /// The copies that all machines timed under these weights, each above 0, and whose worth is
    /// near the best. Copies that were timed once or twice are left out: of thousands some look
    /// best by luck alone.
    std::vector<Entrant> finalists(const CommonRace& race, std::size_t size, const Weights& weights,
                                   Use use = Use::unprobed) const {
        constexpr std::size_t kLeastSamples = 3;
        constexpr double kNear = 0.02; ///< copies this near to the best worth are in the race
        std::vector<std::pair<Entrant, double>> timed;
        double best = -INFINITY;
        // A copy that was timed under one of the workloads was timed under each.
        const auto& samples = race.machines().front().samples;
        for (const auto& [name, unused] : value_in(samples, weights.front().first)) {
            const auto place = places_.find(name);
            if (place == places_.end()) continue;
            if (!race.timed(name, weights, kLeastSamples)) continue;
            if (use == Use::unprobed && !may_take(race, place->second, size, weights)) continue;
            timed.emplace_back(place->second, race.worth(name, weights));
            best = std::max(best, timed.back().second);
        }
        std::vector<Entrant> near;
        for (const auto& [entrant, worth] : timed) {
            if (worth >= best - kNear) near.push_back(entrant);
        }
        return near;
    }

    /// The weights of the objective. Workloads that wait for the run-off are left out if the
    /// machines' run-offs share the plain copy alone. It is in every run-off, however slow it is.
    Weights weights_for(const CommonRace& race, std::size_t size, const Weights& wanted) const {
        const Weights weights = counting(wanted);
        const std::vector<Entrant> common = finalists(race, size, weights);
        const bool plain_alone =
            common.size() == 1 && name_of(common[0]) == facts_of(run_.plan.operation).space->plain;
        return common.empty() || plain_alone ? screening_weights(weights) : weights;
    }

    /// The winner of one size and objective; empty where the machines timed no copy in common.
    std::optional<SizeResult> best_of(const CommonRace& race, std::size_t size,
                                      const Weights& weights, const std::vector<Entrant>& below,
                                      Use use = Use::unprobed) {
        const std::vector<Entrant> entrants = finalists(race, size, weights, use);
        if (entrants.empty()) return std::nullopt;
        run_.enter(Step::pipelines, size);
        Race common(size, weights, {run_.timings, named_, {.name = "libc"}});
        return common.run_offs(entrants, rigor_at(run_.plan.rigor, size).rounds, {below}).front();
    }

    /// Adds the findings at one size, for all objectives.
    void add(std::size_t size) {
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            if (!own_choice(i, 0, size)) return;
        }
        const CommonRace* race = timings_.race_of(run_.logged(Step::pipelines, size));
        if (!race) return;
        Found found;
        Weights first;
        for (std::size_t i = 0; i < objectives_.size(); ++i) {
            std::vector<Entrant> below;
            if (!common_.facts.found.empty()) {
                below = {common_.facts.found.back().results[i].winner()};
            }
            const Weights weights =
                weights_for(*race, size, weights_at(size, objectives_[i].weights));
            if (i == 0) first = weights;
            const auto result = best_of(*race, size, weights, below);
            if (!result) {
                common_.unmeasured.push_back(size);
                return;
            }
            found.results.push_back(*result);
        }
        const std::string winner = name_of(found.results.front().winner());
        common_.of_best.push_back(of_best(*race, size, winner, first));
        common_.facts.sensing.push_back(common_sensing(*race, size, found));
        common_.facts.found.push_back(std::move(found));
    }

    /// The size up to which `lower` holds against `upper`, between the two of the `sizes` around
    /// `size`. They may change places between other sizes, too.
    std::size_t boundary(std::size_t objective, Entrant lower, Entrant upper, std::size_t size,
                         const std::vector<std::size_t>& sizes) const {
        const auto next = std::ranges::upper_bound(sizes, size);
        std::vector<std::size_t> found;
        for (std::size_t machine = 0; machine < sources_.size(); ++machine) {
            const Choice* below = own_choice(machine, objective, *(next - 1));
            const Choice* above = own_choice(machine, objective, *next);
            if (below && above && below->up_to == above->above &&
                below->pipeline().name() == name_of(lower) &&
                above->pipeline().name() == name_of(upper)) {
                found.push_back(below->up_to);
            }
        }
        std::ranges::sort(found);
        return found.empty() ? 0 : found[(found.size() - 1) / 2];
    }

    /// The common winner's worth as a share of that of each machine's own.
    OfBest of_best(const CommonRace& race, std::size_t size, const std::string& winner,
                   const Weights& weights) const {
        double sum = 0, worst = 0;
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            const std::string own = own_choice(i, 0, size)->pipeline().name();
            const double share =
                std::min(0.0, race.score(i, winner, weights) - race.score(i, own, weights));
            sum += share;
            worst = std::min(worst, share);
        }
        return {std::exp(sum / static_cast<double>(sources_.size())), std::exp(worst)};
    }

    /// A copy that senses was timed on its own machine only, if it did not lose on cached data (see
    /// loses_where_cached). But its halves were timed on all. (Rejected: to take none. Without
    /// sensing, a megabyte takes a fifth longer.)
    std::optional<SensingResult> common_sensing(const CommonRace& race, std::size_t size,
                                                const Found& found) {
        std::vector<const Choice*> all;
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            const Choice* own = own_choice(i, 0, size);
            if (own->sensing) all.push_back(own);
        }
        if (all.empty()) return std::nullopt;
        const auto sensing = all.size() == sources_.size() ? joined(all, race, size) : std::nullopt;
        const double fixed = found.results.front().finalists.front().ratio;
        if (sensing && sensing->finalist.ratio > fixed) return sensing;
        common_.unsensed.push_back(size);
        return std::nullopt;
    }

    std::optional<SensingResult> joined(const std::vector<const Choice*>& all,
                                        const CommonRace& race, std::size_t size) {
        Weights uncached = screening_weights(weights_at(size, objectives_.front().weights));
        // For a reader's sake, call sites go on with another pipeline than this.
        const bool heeds = heeds_sites(*all.front()->sensing->probe, size);
        std::erase_if(uncached, [&](const auto& one) {
            return one.first == Workload::hot || (heeds && facts_of(one.first).reads);
        });
        if (uncached.empty()) return std::nullopt;
        const auto hot = best_of(race, size, {{Workload::hot, 1}}, {}, Use::probed);
        const auto cold = best_of(race, size, uncached, {}, Use::probed);
        if (!hot || !cold) return std::nullopt;
        SensingCopy copy{all.front()->sensing->probe, candidate(*hot), candidate(*cold), {}};
        const auto best_under = [&](Workload workload) -> std::optional<Candidate> {
            const auto best = best_of(race, size, {{workload, 1}}, {}, Use::probed);
            return best ? std::optional(candidate(*best)) : std::nullopt;
        };
        const std::size_t pipelines = pipelines_behind(*copy.probe);
        if (pipelines > 2 && !(copy.fetch = best_under(Workload::fetch))) return std::nullopt;
        if (pipelines > 3 && !(copy.produce = best_under(Workload::produce))) return std::nullopt;
        double cached = 0, none_cached = INFINITY, log_ratio = 0;
        Finalist means{0, {}, 0, false};
        const auto count = static_cast<double>(all.size());
        for (const Choice* one : all) {
            // The next probe reads a side that depends on whether this copy leaves its destination
            // in the caches.
            if (one->sensing->probe != copy.probe ||
                std::string_view(one->sensing->cold.variant->st) != copy.cold.variant->st) {
                return std::nullopt;
            }
            cached = std::max(cached, one->sensing->threshold.cached_ticks);
            none_cached = std::min(none_cached, one->sensing->threshold.uncached_ticks);
            log_ratio += std::log(one->ratio) / count;
        }
        for (const auto& [workload, first] : all.front()->workloads) {
            Measured mean{1, 1, {1, INFINITY, 0}};
            for (const Choice* one : all) {
                const auto found = one->workloads.find(workload);
                if (found == one->workloads.end()) return std::nullopt;
                const Measured& measured = found->second;
                mean.ns *= std::pow(measured.ns, 1 / count);
                mean.libc_ns *= std::pow(measured.libc_ns, 1 / count);
                mean.ratio.median *= std::pow(measured.ratio.median, 1 / count);
                mean.ratio.low = std::min(mean.ratio.low, measured.ratio.low);
                mean.ratio.high = std::max(mean.ratio.high, measured.ratio.high);
            }
            means.workloads[workload] = mean;
        }
        const auto threshold = threshold_between(cached, none_cached);
        if (!threshold) return std::nullopt;
        copy.threshold = *threshold;
        means.ratio = std::exp(log_ratio);
        return SensingResult{copy, means};
    }

    std::string name_of(Entrant entrant) const { return run_.candidate(entrant).name(); }
    const Candidate& candidate(const SizeResult& result) const {
        return run_.candidate(result.winner());
    }

    OperationRun& run_;
    const MergedTimings& timings_;
    const std::vector<MergeSource>& sources_;
    std::vector<Objective> objectives_;
    std::vector<TimedCopy> named_;          ///< the space, by name alone: no copy is called
    std::map<std::string, Entrant> places_; ///< in the space
    CommonPipelines common_;
};

} // namespace

CommonPipelines find_common_pipelines(OperationRun& run, const MergedTimings& timings,
                                      const std::vector<MergeSource>& sources) {
    return CommonSearch(run, timings, sources).find();
}

} // namespace asterope
