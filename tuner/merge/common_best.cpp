// The common best: what serves several machines of one type best. Long, as each kind of copy has a
// search of its own, which is handed the machines' figures here.
#include "merge/common_best.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <set>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/size_text.hpp"
#include "base/text.hpp"
#include "merge/common_race.hpp"
#include "profile/make_profile.hpp"
#include "search/aliased_search.hpp"
#include "search/overlapping_search.hpp"
#include "search/sensing_search.hpp"
#include "search/small_search.hpp"
#include "search/step.hpp"
#include "search/threads_search.hpp"
#include "space/space.hpp"

namespace asterope {

namespace {

bool anything(std::string_view) {
    return true;
}

/// The pipelines that this version knows, in the order of simplicity, and their places by name.
struct Pipelines {
    explicit Pipelines(Operation operation)
        : space(paper_space(anything, *facts_of(operation).space)) {
        if (operation == Operation::copy) {
            const std::vector<Candidate> more = extension_space(anything);
            space.insert(space.end(), more.begin(), more.end());
        }
        for (std::size_t i = 0; i < space.size(); ++i) {
            places.emplace(space[i].name(), static_cast<Entrant>(i));
        }
    }
    std::vector<Candidate> space;
    std::map<std::string, Entrant> places;
};

std::string libc_is_reference(const std::string& name) {
    return name == "libc" ? kReference : name;
}

class Merger {
  public:
    Merger(std::vector<MergeSource> sources, Operation operation)
        : sources_(std::move(sources)), operation_(operation), pipelines_(operation) {
        std::sort(sources_.begin(), sources_.end(), [](const auto& a, const auto& b) {
            return std::pair(a.content(), a.path) < std::pair(b.content(), b.path);
        });
        if (sources_.size() < 2) {
            throw BadInput("there is nothing to merge with " + sources_.front().path +
                           ": give two logs at least");
        }
        require_alike(sources_);
        for (const MergeSource& source : sources_) {
            if (source.log) continue;
            throw BadInput("profile " + source.path +
                           ": holds a few copies a size: the "
                           "common best of several machines needs their logs (--log FILE)");
        }
        rigor_ = least_rigor();
        const Profile& first = sources_.front().profile;
        if (operation == Operation::set) {
            objectives_ = {{first.search.workload, first.memset->weights}};
        } else {
            objectives_ = with_intents({first.search.workload, first.search.weights}, {});
        }
        found_.operation = operation;
    }

    /// Into the profile that the copies' merge made.
    void merge_sets(CommonBest& common) {
        if (!find_pipelines()) {
            common.profile.left_out.steps.insert(Step::memset);
            return;
        }
        const std::optional<SmallFacts> small =
            small_copies([](const Profile& one) -> const auto& { return one.memset->small; });
        const LeftOut left_out = left_out_of(small.has_value());
        SetOutcome& sets = common.profile.memset.emplace(
            set_outcome({pipelines_.space, found_, small}, left_out, std::nullopt,
                        sources_.front().profile.memset->candidates));
        for (std::size_t i = 0; i < sets.intervals.size(); ++i) {
            sets.intervals[i].of_best = of_best_[i];
        }
        common.table += "\nmemset\n";
        append_table(common.table, sets.intervals);
    }

    CommonBest merge() {
        Profile& profile = result_.profile;
        profile.machine = sources_.front().profile.machine;
        profile.merged = merged_from(sources_);
        profile.search = merged_search(sources_);
        profile.search.rigor = rigor_.name;
        if (profile.search.space.empty()) profile.search.space = "extended"; // of some
        if (!find_pipelines()) {
            throw BadInput("no candidate was measured on all machines at any size: tune them with "
                           "more rigor");
        }
        const std::vector<std::string> axes = profile.search.axes;
        const auto small = [](const Profile& one) -> const auto& {
            return one.small;
        };
        SearchResults results{pipelines_.space, found_,          small_copies(small),
                              aliased_copies(), shared_copies(), overlapping_copies()};
        leave_out(results);
        add_results(profile, results);
        profile.search.axes = axes;
        for (std::size_t i = 0; i < profile.intervals.size(); ++i) {
            profile.intervals[i].of_best = of_best_[i];
        }
        append_table(result_.table, profile.intervals);
        for (const std::size_t size : unsensed_) {
            append(result_.table,
                   "%s: the machines take different sensing copies, or not all do: "
                   "none is taken\n",
                   format_size(size).c_str());
        }
        return std::move(result_);
    }

  private:
    Rigor least_rigor() const {
        for (const char* rigor : kRigors) {
            for (const MergeSource& source : sources_) {
                if (source.profile.search.rigor == rigor) return parse_rigor(rigor);
            }
        }
        return parse_rigor(kRigors.back()); // no source says how it was found
    }

    /// A step of all machines' searches, with what `also` has of it; none where one lacks it.
    std::optional<CommonRace>
    race_of(LoggedStep step,
            const std::function<std::string(const std::string&)>& called = libc_is_reference,
            std::optional<LoggedStep> also = std::nullopt) const {
        step.operation = operation_;
        if (also) also->operation = operation_;
        std::vector<LoggedRace> machines;
        for (const MergeSource& source : sources_) {
            const auto& steps = source.log->steps;
            const auto found = steps.find(step.name());
            if (found == steps.end()) return std::nullopt;
            std::vector<Record> records = found->second;
            if (const auto more = also ? steps.find(also->name()) : steps.end();
                more != steps.end()) {
                records.insert(records.end(), more->second.begin(), more->second.end());
            }
            machines.emplace_back(records, called);
        }
        return CommonRace(std::move(machines));
    }

    /// What was timed at one size: when its own winner was searched, and when rows were chosen.
    std::optional<CommonRace> race_at(std::size_t size) const {
        return race_of({Step::pipelines, size}, libc_is_reference, LoggedStep{Step::rows, size});
    }

    const std::vector<Interval>& intervals_of(const Profile& profile) const {
        return operation_ == Operation::set ? profile.memset->intervals : profile.intervals;
    }

    /// The interval of that size on one machine; null where it has none.
    const Interval* own_interval(std::size_t machine, std::size_t objective,
                                 std::size_t size) const {
        const Profile& profile = sources_[machine].profile;
        const std::vector<Interval>* intervals = &intervals_of(profile);
        if (objective > 0) {
            const auto intent = profile.intents.find(*find_workload(objectives_[objective].name));
            if (intent == profile.intents.end()) return nullptr;
            intervals = &intent->second.intervals;
        }
        const auto found = std::find_if(intervals->begin(), intervals->end(),
                                        [&](const Interval& one) { return one.size == size; });
        return found == intervals->end() ? nullptr : &*found;
    }

    /// Whom all machines timed under these weights; of thousands that were timed once or twice some
    /// look best by luck alone, so not those. Only those that are worth about as much as the best.
    std::vector<Entrant> finalists(const CommonRace& race, const Weights& weights) const {
        constexpr std::size_t kLeastSamples = 3;
        constexpr double kNear = 0.02; ///< of the best worth: what the race's figures may decide
        const auto counted = std::find_if(weights.begin(), weights.end(),
                                          [](const auto& one) { return one.second > 0; });
        std::vector<std::pair<Entrant, double>> timed;
        double best = -INFINITY;
        // What was timed under one of the workloads was timed under each.
        for (const auto& [name, unused] : race.machines().front().samples.at(counted->first)) {
            const auto place = pipelines_.places.find(name);
            if (place == pipelines_.places.end()) continue;
            if (!race.timed(name, weights, kLeastSamples)) continue;
            timed.emplace_back(place->second, race.worth(name, weights));
            best = std::max(best, timed.back().second);
        }
        std::vector<Entrant> near;
        for (const auto& [entrant, worth] : timed) {
            if (worth >= best - kNear) near.push_back(entrant);
        }
        return near;
    }

    /// Those of the objective, and without what waits for the run-off where the machines' run-offs
    /// have nobody but the plain copy in common, which is in every one, however slow it is.
    Weights weights_for(const CommonRace& race, const Weights& wanted) const {
        Weights weights = wanted;
        std::erase_if(weights, [](const auto& weighted) { return weighted.second == 0; });
        const std::vector<Entrant> common = finalists(race, weights);
        const bool plain_alone =
            common.size() == 1 && name_of(common[0]) == facts_of(operation_).space->plain;
        return common.empty() || plain_alone ? screening_weights(weights) : weights;
    }

    /// The winner of one size and objective; none where all machines timed nobody.
    std::optional<SizeResult> best_of(const CommonRace& race, std::size_t size,
                                      const Weights& weights, const std::vector<Entrant>& below) {
        for (const auto& [workload, weight] : weights) {
            if (!race.timed(workload)) return std::nullopt;
        }
        const std::vector<Entrant> entrants = finalists(race, weights);
        if (entrants.empty()) return std::nullopt;
        std::mt19937_64 random = named_random(1, "pipelines " + std::to_string(size));
        CommonTimings timings(race, [&](Entrant entrant) { return name_of(entrant); });
        Race common(size, weights, random, timings);
        return common.run_offs(entrants, rigor_.rounds, {below}).front();
    }

    /// False: there is no size at which all machines timed one of them.
    bool find_pipelines() {
        found_.objectives = objectives_;
        for (const Interval& interval : intervals_of(sources_.front().profile)) add(interval.size);
        if (found_.found.empty()) return false;
        for (std::size_t objective = 0; objective < objectives_.size(); ++objective) {
            std::vector<SizeResult> results;
            for (const Found& one : found_.found) results.push_back(one.results[objective]);
            const auto holds = [&](Entrant lower, Entrant upper, std::size_t size) {
                return size <= boundary(objective, lower, upper, results);
            };
            found_.intervals.push_back(find_intervals(results, rigor_.boundary_ratio, holds));
        }
        begin_sensing_at_minimum(found_);
        return true;
    }

    /// What was found at one size, for all objectives.
    void add(std::size_t size) {
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            if (!own_interval(i, 0, size)) return;
        }
        const auto race = race_at(size);
        if (!race) return;
        Found found;
        Weights first;
        for (std::size_t i = 0; i < objectives_.size(); ++i) {
            std::vector<Entrant> below;
            if (!found_.found.empty()) {
                below = {found_.found.back().results[i].finalists.front().candidate};
            }
            const Weights weights = weights_for(*race, weights_at(size, objectives_[i].weights));
            if (i == 0) first = weights;
            const auto result = best_of(*race, size, weights, below);
            if (!result) {
                result_.unmeasured.push_back(size);
                return;
            }
            found.results.push_back(*result);
        }
        const std::string winner = name_of(found.results.front().finalists.front().candidate);
        of_best_.push_back(of_best(*race, size, winner, first));
        found_.sensing.push_back(common_sensing(*race, size, found));
        found_.found.push_back(std::move(found));
    }

    /// Up to which size `lower` holds against `upper`.
    std::size_t boundary(std::size_t objective, Entrant lower, Entrant upper,
                         const std::vector<SizeResult>& results) const {
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i + 1 < results.size(); ++i) {
            if (results[i].finalists.front().candidate != lower ||
                results[i + 1].finalists.front().candidate != upper) {
                continue;
            }
            for (std::size_t machine = 0; machine < sources_.size(); ++machine) {
                const Interval* below = own_interval(machine, objective, results[i].size);
                const Interval* above = own_interval(machine, objective, results[i + 1].size);
                if (below && above && below->up_to == above->above &&
                    below->winner.copy.name() == name_of(lower) &&
                    above->winner.copy.name() == name_of(upper)) {
                    found.push_back(below->up_to);
                }
            }
        }
        std::sort(found.begin(), found.end());
        return found.empty() ? 0 : found[(found.size() - 1) / 2];
    }

    /// What the common winner is worth of each machine's own, as shares of their speeds.
    OfBest of_best(const CommonRace& race, std::size_t size, const std::string& winner,
                   const Weights& weights) const {
        double sum = 0, worst = 0;
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            const std::string own = own_interval(i, 0, size)->winner.copy.name();
            const double share =
                std::min(0.0, race.score(i, winner, weights) - race.score(i, own, weights));
            sum += share;
            worst = std::min(worst, share);
        }
        return {std::exp(sum / static_cast<double>(sources_.size())), std::exp(worst)};
    }

    /// A copy that senses was timed on its own machine only, but its halves were on all. (Rejected:
    /// to take none. Without sensing, a megabyte takes a fifth longer.)
    std::optional<SensingResult> common_sensing(const CommonRace& race, std::size_t size,
                                                const Found& found) {
        std::vector<const Sensing*> all;
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            const Interval* own = own_interval(i, 0, size);
            if (own->sensing) all.push_back(&*own->sensing);
        }
        if (all.empty()) return std::nullopt;
        const auto sensing = all.size() == sources_.size() ? joined(all, race, size) : std::nullopt;
        const double fixed = found.results.front().finalists.front().ratio;
        if (sensing && sensing->finalist.ratio > fixed) return sensing;
        unsensed_.push_back(size);
        return std::nullopt;
    }

    std::optional<SensingResult> joined(const std::vector<const Sensing*>& all,
                                        const CommonRace& race, std::size_t size) {
        Weights uncached = screening_weights(weights_at(size, objectives_.front().weights));
        std::erase_if(uncached, [](const auto& one) { return one.first == Workload::hot; });
        if (uncached.empty()) return std::nullopt;
        const auto hot = best_of(race, size, {{Workload::hot, 1}}, {});
        const auto cold = best_of(race, size, uncached, {});
        if (!hot || !cold) return std::nullopt;
        SensingCopy copy{all.front()->probe.copy, candidate(*hot), candidate(*cold), {}};
        if (looks_at_destination(*copy.probe)) {
            const auto fetch = best_of(race, size, {{Workload::fetch, 1}}, {});
            if (!fetch) return std::nullopt;
            copy.fetch = candidate(*fetch);
        }
        double cached = 0, none_cached = INFINITY, log_ratio = 0;
        Finalist means{0, {}, 0, false};
        const auto count = static_cast<double>(all.size());
        for (const Sensing* one : all) {
            // Whether it leaves its destination in the caches decides what the next probe reads.
            if (one->probe.copy != copy.probe ||
                std::string_view(one->cold.variant->st) != copy.cold.variant->st) {
                return std::nullopt;
            }
            cached = std::max(cached, one->cached_ticks);
            none_cached = std::min(none_cached, one->uncached_ticks);
            log_ratio += std::log(one->ratio) / count;
        }
        for (const auto& [workload, first] : all.front()->workloads) {
            Measured mean{1e-9, 1e-9, {1, INFINITY, 0}};
            for (const Sensing* one : all) {
                const auto found = one->workloads.find(workload);
                if (found == one->workloads.end()) return std::nullopt;
                const Measurement& measured = found->second;
                mean.seconds *= std::pow(measured.ns, 1 / count);
                mean.libc_seconds *= std::pow(measured.libc_ns, 1 / count);
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
        return SensingResult{copy, means, rigor_.rounds};
    }

    /// The copies of a kind that all machines timed under `weights`.
    static std::vector<const asterope_copy*> timed(const asterope_kind& kind,
                                                   const CommonRace& race, const Weights& weights) {
        std::vector<const asterope_copy*> space = copies_of(kind, anything);
        std::erase_if(space, [&](const auto* one) { return !race.timed(one->name, weights); });
        return space;
    }

    /// `small(profile)`: what a machine's profile has of them.
    template <class Small> std::optional<SmallFacts> small_copies(const Small& small) const {
        const auto race = race_of({Step::small});
        for (const MergeSource& source : sources_) {
            if (!race || !small(source.profile)) return std::nullopt;
        }
        const auto& own = *small(sources_.front().profile);
        const Weights weights =
            timed_weights(parse_small_weights(own.objective, operation_),
                          [&](Workload workload) { return race->timed(workload); });
        SmallFacts facts{own.distribution,
                         own.objective,
                         timed(*facts_of(operation_).space->small, *race, weights),
                         {}};
        std::vector<Entrant> entrants;
        for (std::size_t i = 0; i < facts.space.size(); ++i) {
            entrants.push_back(static_cast<Entrant>(i));
        }
        entrants = suited(entrants, facts.space, own.objective);
        if (entrants.empty()) return std::nullopt;
        CommonTimings timings(*race, names_of(facts.space));
        std::mt19937_64 random = named_random(1, "small copies");
        facts.result = search_small(entrants, plain_small(facts.space, operation_), weights, rigor_,
                                    random, timings);
        return facts;
    }

    std::optional<OverlappingFacts> overlapping_copies() const {
        const auto race = race_of({Step::overlapping});
        if (!race) return std::nullopt;
        OverlappingFacts facts{
            timed(asterope_overlapping_copies, *race, {{Workload::overlapping, 1}}), {}};
        if (facts.space.empty()) return std::nullopt;
        CommonTimings timings(*race, names_of(facts.space));
        std::mt19937_64 random = named_random(1, title_of(Step::overlapping));
        facts.result = search_overlapping(facts.space.size(), rigor_, random, timings);
        return facts;
    }

    AliasedFacts aliased_copies() const {
        const std::string pipeline = "the size's pipeline"; // another on each machine
        AliasedFacts facts{copies_of(asterope_aliased_copies, anything), {}, {}};
        std::set<std::string> names;
        for (const asterope_copy* copy : facts.space) names.insert(copy->name);
        const auto called = [&](const std::string& name) {
            return names.count(name) ? name : name == "libc" ? kReference : pipeline;
        };
        std::map<std::size_t, CommonRace> races;
        for (const Found& one : found_.found) {
            const std::size_t size = one.results.front().size;
            if (const auto race = race_of({Step::aliased, size}, called)) {
                races.emplace(size, *race);
                facts.space = keep_timed(facts.space, *race);
            }
        }
        if (facts.space.empty()) return facts;
        for (const auto& [size, race] : races) {
            const auto name = names_of(facts.space);
            CommonTimings timings(
                race, [&](Entrant entrant) { return entrant == 0 ? pipeline : name(entrant - 1); });
            std::mt19937_64 random = named_random(1, "aliased " + std::to_string(size));
            facts.sizes.push_back(
                search_aliased(facts.space.size(), size, rigor_, random, timings));
        }
        facts.choice = choose_aliased(facts.sizes);
        return facts;
    }

    static std::vector<const asterope_copy*> keep_timed(std::vector<const asterope_copy*> space,
                                                        const CommonRace& race) {
        std::erase_if(space, [&](const asterope_copy* one) {
            return !race.timed(one->name, {{Workload::aliased, 1}});
        });
        return space;
    }

    std::optional<ThreadsFacts> shared_copies() const {
        ThreadsFacts facts{ASTEROPE_MOST_THREADS, {}, {}};
        for (const MergeSource& source : sources_) {
            if (!source.profile.threads) return std::nullopt;
            facts.most = std::min(facts.most, source.profile.threads->most);
        }
        const auto called = [](const std::string& name) {
            return name.rfind("threads ", 0) == 0 ? name : kReference;
        };
        for (const Found& one : found_.found) {
            const std::size_t size = one.results.front().size;
            const Weights weights =
                screening_weights(weights_at(size, objectives_.front().weights));
            const auto race = race_of({Step::threads, size}, called);
            if (!race) continue;
            std::vector<ThreadShare> shares = shares_for(size, facts.most);
            std::erase_if(shares, [&](const ThreadShare& share) {
                return !race->timed(share_name(share), weights);
            });
            if (shares.empty()) continue;
            CommonTimings timings(*race, [&](Entrant entrant) -> std::string {
                if (entrant == 0) return kReference;
                return share_name(shares[static_cast<std::size_t>(entrant) - 1]);
            });
            std::mt19937_64 random = named_random(1, "threads " + std::to_string(size));
            facts.sizes.push_back(search_shares(shares, size, weights, rigor_, random, timings));
        }
        if (facts.sizes.empty()) return std::nullopt;
        facts.intervals = share_intervals(facts.sizes);
        return facts;
    }

    /// What of sets some of the machines know, and the merged profile does not.
    LeftOut left_out_of(bool small) const {
        std::set<std::size_t> sizes;
        std::set<Step> steps;
        for (const MergeSource& source : sources_) {
            const SetOutcome& own = *source.profile.memset;
            for (const Interval& one : own.intervals) sizes.insert(one.size);
            sizes.insert(own.left_out.sizes.begin(), own.left_out.sizes.end());
            steps.insert(own.left_out.steps.begin(), own.left_out.steps.end());
        }
        for (const Found& one : found_.found) sizes.erase(one.results.front().size);
        if (!small) steps.insert(Step::small);
        return {{sizes.begin(), sizes.end()}, steps};
    }

    /// What some of the machines know, and the merged profile does not.
    void leave_out(const SearchResults& results) {
        std::set<std::size_t> sizes;
        std::set<Step> steps = left_out_steps(sources_);
        for (const MergeSource& source : sources_) {
            for (const std::size_t size : source.profile.sizes()) sizes.insert(size);
            sizes.insert(source.profile.left_out.sizes.begin(),
                         source.profile.left_out.sizes.end());
            if (source.profile.threads && !results.threads) steps.insert(Step::threads);
            if (source.profile.overlapping && !results.overlapping) steps.insert(Step::overlapping);
        }
        for (const Found& one : found_.found) sizes.erase(one.results.front().size);
        if (!results.small) steps.insert(Step::small);
        result_.profile.left_out = {{sizes.begin(), sizes.end()}, steps};
    }

    static void append_table(std::string& out, const std::vector<Interval>& intervals) {
        std::string parameters;
        for (const asterope_axis& axis : intervals.front().winner.copy.axes()) {
            if (!axis.mark) parameters += std::string(axis.title) + ' ';
        }
        append(out, "%-10s %-32s %6s %18s\n", "Size", (parameters + "...").c_str(), "x libc",
               "of each best: mean, worst");
        for (const Interval& one : intervals) {
            append(out, "%-10s %-32s %6.2f %12.1f %% %7.1f %%\n", format_size(one.size).c_str(),
                   one.winner.copy.name().c_str(), one.winner.ratio, 100 * one.of_best->mean,
                   100 * one.of_best->worst);
        }
    }

    std::string name_of(Entrant entrant) const {
        return pipelines_.space[static_cast<std::size_t>(entrant)].name();
    }
    const Candidate& candidate(const SizeResult& result) const {
        return pipelines_.space[static_cast<std::size_t>(result.finalists.front().candidate)];
    }
    static std::function<std::string(Entrant)>
    names_of(const std::vector<const asterope_copy*>& space) {
        return [space](Entrant entrant) {
            return std::string(space[static_cast<std::size_t>(entrant)]->name);
        };
    }

    std::vector<MergeSource> sources_;
    const Operation operation_;
    const Pipelines pipelines_;
    Rigor rigor_;
    std::vector<Objective> objectives_;
    PipelineFacts found_;
    std::vector<OfBest> of_best_;       ///< by size, as found_
    std::vector<std::size_t> unsensed_; ///< sizes at which some machine senses, but not all alike
    CommonBest result_;
};

} // namespace

CommonBest common_best(std::vector<MergeSource> sources) {
    CommonBest common = Merger(sources, Operation::copy).merge();
    std::size_t sets = 0;
    for (const MergeSource& source : sources) sets += source.profile.memset.has_value();
    if (sets == sources.size()) {
        Merger(std::move(sources), Operation::set).merge_sets(common);
    } else if (sets > 0) {
        common.profile.left_out.steps.insert(Step::memset);
    }
    common.profile.complete = common.profile.has_all();
    return common;
}

} // namespace asterope
