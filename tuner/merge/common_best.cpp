// The common best: what serves several machines of one type best.
#include "merge/common_best.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/rounded.hpp"
#include "base/size_text.hpp"
#include "base/text.hpp"
#include "merge/ranking.hpp"
#include "merge/source_results.hpp"
#include "search/aliased_search.hpp"
#include "search/overlapping_search.hpp"
#include "search/sensing_search.hpp"
#include "search/small_search.hpp"
#include "search/step.hpp"
#include "search/threads_search.hpp"
#include "space/space.hpp"
#include "space/tuple_json.hpp"

namespace asterope {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

bool anything(std::string_view) {
    return true;
}

/// The pipelines that this version knows, by name and by place in the order of simplicity.
struct Pipelines {
    Pipelines() {
        for (const auto& space : {paper_space(anything), extension_space(anything)}) {
            for (const Candidate& one : space) {
                place.emplace(one.name(), place.size());
                candidates.emplace(one.name(), one);
            }
        }
    }
    std::map<std::string, std::size_t> place;
    std::map<std::string, Candidate> candidates;

    static const Pipelines& all() { // once: there are tens of thousands
        static const Pipelines pipelines;
        return pipelines;
    }
};

double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

/// A mean log ratio and its error as a ratio with a 95 % interval.
ordered_json ratio_json(double log_ratio, double error) {
    return {{"median", rounded(std::exp(log_ratio))},
            {"low", rounded(std::exp(log_ratio - 2 * error))},
            {"high", rounded(std::exp(log_ratio + 2 * error))}};
}

/// Several machines' estimates of one noise: their mean, and the ends that are farthest out.
ordered_json noise_json(const std::vector<ordered_json>& ratios) {
    std::vector<double> logs, lows, highs;
    for (const ordered_json& ratio : ratios) {
        logs.push_back(std::log(ratio.at("median").get<double>()));
        lows.push_back(ratio.at("low"));
        highs.push_back(ratio.at("high"));
    }
    return {{"median", rounded(std::exp(mean(logs)))},
            {"low", *std::min_element(lows.begin(), lows.end())},
            {"high", *std::max_element(highs.begin(), highs.end())}};
}

/// `floors`: one object of ratios by workload for each machine. What all of them have.
ordered_json noise_floor(const std::vector<ordered_json>& floors) {
    ordered_json common = ordered_json::object();
    for (const auto& [workload, unused] : floors.front().items()) {
        std::vector<ordered_json> ratios;
        for (const ordered_json& floor : floors) {
            if (floor.contains(workload)) ratios.push_back(floor.at(workload));
        }
        if (ratios.size() == floors.size()) common[workload] = noise_json(ratios);
    }
    return common;
}

class Merger {
  public:
    explicit Merger(std::vector<MergeSource> sources) {
        std::sort(sources.begin(), sources.end(), [](const auto& a, const auto& b) {
            return std::pair(a.content(), a.path) < std::pair(b.content(), b.path);
        });
        for (const MergeSource& source : sources) {
            if (!source.is_shard()) continue;
            throw BadInput(source.path +
                           ": is one shard of a search: merge its shards alone first");
        }
        if (sources.size() < 2) {
            throw BadInput("there is nothing to merge with " + sources.front().path +
                           ": give two profiles or logs at least, or all shards of a search");
        }
        require_alike(sources);
        for (MergeSource& source : sources) {
            evidence_.emplace_back(source);
            source.log.reset(); // it may be large
        }
        sources_ = std::move(sources);
        for (const MergeSource& source : sources_) jsons_.push_back(to_json(source.profile));
        for (const auto& [name, weight] : search(0).at("weights").items()) {
            const auto workload = find_workload(name);
            if (workload) weights_.emplace_back(*workload, weight.get<double>());
        }
    }

    CommonBest merge() {
        const ordered_json& first = jsons_.front();
        ordered_json intervals = objective("", weights_);
        if (intervals.empty()) {
            throw BadInput("no candidate was measured on all machines at any size: profiles hold "
                           "half a dozen a size; give the logs of these searches (--log FILE)");
        }
        ordered_json& profile = result_.profile;
        for (const char* name : {"format", "version", "architecture"}) {
            profile[name] = first.at(name);
        }
        profile["complete"] = true;
        profile["machine"] = first.at("machine");
        profile["search"] = to_json(merged_search(sources_));
        ordered_json& about = profile["search"];
        about["rigor"] = least_rigor();
        if (!about.contains("space")) about["space"] = "extended"; // of some
        profile["left_out"] = nullptr;                             // its place; filled in last
        profile["merged"] = to_json(merged_from("machines", sources_));
        if (const ordered_json small = small_copies(); !small.is_null()) profile["small"] = small;
        if (const ordered_json overlapping = overlapping_copies(); !overlapping.is_null()) {
            profile["overlapping"] = overlapping;
        }
        profile["aliased"] = aliased_copies();
        if (const ordered_json threads = shared_copies(); !threads.is_null()) {
            profile["threads"] = threads;
        }
        profile["intervals"] = intervals;
        if (first.contains("intents")) {
            for (const auto& [name, unused] : first.at("intents").items()) {
                const ordered_json of_intent = objective(name, {{*find_workload(name), 1}});
                if (!of_intent.empty()) profile["intents"][name]["intervals"] = of_intent;
            }
        }
        leave_out(intervals);
        for (const std::size_t size : unsensed_) {
            append(result_.table,
                   "%s: the machines take different sensing copies, or not all do: "
                   "none is taken\n",
                   format_size(size).c_str());
        }
        return std::move(result_);
    }

  private:
    const ordered_json& search(std::size_t machine) const { return jsons_[machine].at("search"); }

    std::string least_rigor() const {
        for (const char* rigor : {"quick", "standard"}) {
            for (std::size_t i = 0; i < sources_.size(); ++i) {
                if (search(i).at("rigor") == rigor) return rigor;
            }
        }
        return "exhaustive";
    }

    /// The intervals of an objective on one machine; null where it has none. "": the routine's own.
    const ordered_json* intervals_of(std::size_t machine, const std::string& name) const {
        const ordered_json& profile = jsons_[machine];
        if (name.empty()) return &profile.at("intervals");
        if (!profile.contains("intents") || !profile.at("intents").contains(name)) return nullptr;
        return &profile.at("intents").at(name).at("intervals");
    }

    const ordered_json* interval_at(std::size_t machine, const std::string& name,
                                    std::size_t size) const {
        const ordered_json* intervals = intervals_of(machine, name);
        if (!intervals) return nullptr;
        for (const ordered_json& interval : *intervals) {
            if (interval.at("size") == size) return &interval;
        }
        return nullptr;
    }

    static std::string winner_of(const ordered_json& interval) {
        const auto found = find_candidate(interval.at("winner").at("tuple"), anything);
        return found ? found->name() : "";
    }

    /// Whether the machines have no candidate in common, or only the plain copy, which is in every
    /// run-off however slow it is, and which none of their intervals (`own`) takes.
    static bool tells_nothing(const std::vector<Ranked>& ranked,
                              const std::vector<const ordered_json*>& own) {
        if (ranked.empty()) return true;
        return ranked.size() == 1 && ranked.front().name == asterope_plain_copy &&
               std::none_of(own.begin(), own.end(), [](const ordered_json* interval) {
                   return winner_of(*interval) == asterope_plain_copy;
               });
    }

    /// What all machines measured in one kind of races at `size`; empty: not all did.
    std::vector<const MeasuredGains*>
    at(std::size_t size, std::map<std::size_t, MeasuredGains> SourceResults::*races) const {
        std::vector<const MeasuredGains*> machines;
        for (const SourceResults& results : evidence_) {
            const auto found = (results.*races).find(size);
            if (found == (results.*races).end()) return {};
            machines.push_back(&found->second);
        }
        return machines;
    }

    /// Under each workload that all measured `name` under. `size` 0: of many sizes.
    static ordered_json workloads(const std::vector<const MeasuredGains*>& machines,
                                  const std::string& name, std::size_t size,
                                  const char* reference) {
        ordered_json json = ordered_json::object();
        for (const auto& [workload, field] : *machines.front()) {
            std::vector<double> logs, ns, reference_ns;
            double variance = 0;
            std::size_t rounds = 0;
            bool timed = true; // by all, and their figures are known
            for (const MeasuredGains* machine : machines) {
                const auto found = machine->find(workload);
                if (found == machine->end() || !found->second.count(name)) break;
                const MeasuredGain& gain = found->second.at(name);
                logs.push_back(gain.log_ratio);
                variance += gain.error * gain.error;
                rounds += gain.rounds;
                timed = timed && gain.ns > 0 && gain.reference_ns > 0;
                ns.push_back(std::log(gain.ns));
                reference_ns.push_back(std::log(gain.reference_ns));
            }
            if (logs.size() < machines.size()) continue;
            ordered_json& one = json[std::string(name_of(workload))];
            one = ordered_json::object();
            if (timed) {
                const double typical = std::exp(mean(ns));
                one["ns"] = rounded(typical);
                if (size && std::string_view(reference) == "libc_ns") {
                    one["gb_per_s"] = rounded(static_cast<double>(size) / typical);
                }
                one[reference] = rounded(std::exp(mean(reference_ns)));
            }
            one["ratio"] =
                ratio_json(mean(logs), std::sqrt(variance) / static_cast<double>(logs.size()));
            one["rounds"] = rounds;
        }
        return json;
    }

    static ordered_json entry(const std::vector<const MeasuredGains*>& machines,
                              const Ranked& ranked, const ordered_json& tuple, std::size_t size) {
        return {{"tuple", tuple},
                {"ratio", rounded(std::exp(ranked.mean))},
                {"tied", ranked.tied},
                {"workloads", workloads(machines, ranked.name, size, "libc_ns")}};
    }

    /// Winner and runners-up of a race, into `json`.
    static void add_race(ordered_json& json, const std::vector<const MeasuredGains*>& machines,
                         const std::vector<Ranked>& ranked, std::size_t runners_up,
                         std::size_t size,
                         const std::function<ordered_json(const std::string&)>& tuple) {
        json["winner"] = entry(machines, ranked.front(), tuple(ranked.front().name), size);
        json["runners_up"] = ordered_json::array();
        for (std::size_t i = 1; i < ranked.size() && i <= runners_up; ++i) {
            json["runners_up"].push_back(entry(machines, ranked[i], tuple(ranked[i].name), size));
        }
    }

    /// The intervals of one objective, of all sizes at which there is a winner.
    ordered_json objective(const std::string& name, const Weights& weights) {
        std::set<std::size_t> sizes;
        for (const ordered_json& interval : *intervals_of(0, name)) {
            sizes.insert(interval.at("size").get<std::size_t>());
        }
        ordered_json intervals = ordered_json::array();
        std::string below; // the winner of the size below
        for (const std::size_t size : sizes) {
            std::vector<const ordered_json*> own; // each machine's interval of that size
            for (std::size_t i = 0; i < sources_.size(); ++i) {
                if (const ordered_json* interval = interval_at(i, name, size)) {
                    own.push_back(interval);
                }
            }
            if (own.size() < sources_.size()) continue;
            const auto machines = at(size, &SourceResults::pipelines);
            Weights known = weights;
            auto ranked = rank(machines, known, below, pipelines_.place);
            // what is told late was told of the best few alone, and they may have none in common
            if (tells_nothing(ranked, own)) {
                known = screening_weights(weights);
                ranked = rank(machines, known, below, pipelines_.place);
            }
            if (tells_nothing(ranked, own)) {
                if (name.empty()) result_.nobody.push_back(size);
                continue;
            }
            const std::string& winner = ranked.front().name;
            std::size_t above = 0;
            if (!intervals.empty()) {
                ordered_json& before = intervals.back();
                above = boundary(name, before.at("size"), size, below, winner);
                before["up_to"] = above;
            }
            ordered_json interval = {{"above", above}, {"up_to", size}, {"size", size}};
            add_race(
                interval, machines, ranked, name.empty() ? 5 : 2, size,
                [&](const std::string& one) { return to_json(pipelines_.candidates.at(one)); });
            interval["of_best"] = of_best(machines, known, own, ranked.front());
            std::vector<ordered_json> floors;
            for (const ordered_json* one : own) {
                floors.push_back(one->value("noise_floor", ordered_json::object()));
            }
            interval["noise_floor"] = noise_floor(floors);
            if (name.empty()) add_sensing(interval, own, machines);
            if (name.empty()) tell(interval, winner);
            intervals.push_back(std::move(interval));
            below = winner;
        }
        return intervals;
    }

    /// Where `lower`, the winner at `from`, gives way to `upper`, that at `to`: as those machines
    /// have it where the two won, too.
    std::size_t boundary(const std::string& name, std::size_t from, std::size_t to,
                         const std::string& lower, const std::string& upper) const {
        if (lower == upper) return from;
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            const ordered_json &below = *interval_at(i, name, from),
                               &above = *interval_at(i, name, to);
            if (below.at("up_to") == above.at("above") && winner_of(below) == lower &&
                winner_of(above) == upper) {
                found.push_back(below.at("up_to"));
            }
        }
        std::sort(found.begin(), found.end());
        return found.empty() ? from : found[(found.size() - 1) / 2];
    }

    /// What the common winner is worth of each machine's own, as shares of their speeds.
    static ordered_json of_best(const std::vector<const MeasuredGains*>& machines,
                                const Weights& weights, const std::vector<const ordered_json*>& own,
                                const Ranked& winner) {
        std::vector<double> shares;
        for (std::size_t i = 0; i < machines.size(); ++i) {
            const std::string best = winner_of(*own[i]);
            const auto alone = rank({machines[i]}, weights, "", {{best, 0}});
            const double ahead = alone.empty() ? 0 : alone.front().mean;
            shares.push_back(std::min(0.0, winner.scores[i] - ahead));
        }
        return {{"mean", rounded(std::exp(mean(shares)))},
                {"worst", rounded(std::exp(*std::min_element(shares.begin(), shares.end())))}};
    }

    /// A sensing copy, where all machines take one with the same probe: by which it goes on with
    /// the common best of the cached workloads, or with that of the others. These two were measured
    /// on all machines, each alone; which of the two is right, the probes read alike. (Rejected: to
    /// take none but what was timed on all machines as it is. Of pairs there are so many that there
    /// never was one, and without sensing a megabyte takes a fifth longer.)
    void add_sensing(ordered_json& interval, const std::vector<const ordered_json*>& own,
                     const std::vector<const MeasuredGains*>& machines) {
        const bool some = std::any_of(own.begin(), own.end(), [](const ordered_json* one) {
            return one->contains("sensing");
        });
        if (!some) return;
        if (const auto sensing = common_sensing(interval, own, machines)) {
            interval["sensing"] = *sensing;
        } else {
            unsensed_.push_back(interval.at("size"));
        }
    }

    std::optional<ordered_json>
    common_sensing(const ordered_json& interval, const std::vector<const ordered_json*>& own,
                   const std::vector<const MeasuredGains*>& machines) const {
        if (interval.at("above").get<std::size_t>() + 1 < kSensingMinimum) return std::nullopt;
        Weights uncached = screening_weights(weights_); // of fetch, one side is cached
        std::erase_if(uncached,
                      [](const auto& weighted) { return weighted.first == Workload::hot; });
        const auto hots = rank(machines, {{Workload::hot, 1}}, "", pipelines_.place);
        const auto colds = rank(machines, uncached, "", pipelines_.place);
        if (hots.empty() || colds.empty()) return std::nullopt;
        const ordered_json hot = to_json(pipelines_.candidates.at(hots.front().name)),
                           cold = to_json(pipelines_.candidates.at(colds.front().name));
        ordered_json sensing;
        double cached_ticks = 0, uncached_ticks = 0;
        std::vector<double> ratios;
        std::map<std::string, std::vector<ordered_json>> measured;
        for (const ordered_json* one : own) {
            if (!one->contains("sensing")) return std::nullopt;
            const ordered_json& other = one->at("sensing");
            const auto ticks = [&](const char* name) { return other.at(name).get<double>(); };
            if (sensing.is_null()) {
                sensing = other;
                cached_ticks = ticks("cached_ticks");
                uncached_ticks = ticks("uncached_ticks");
            }
            for (const char* name : {"kind", "lines"}) {
                if (other.at(name) != sensing.at(name)) return std::nullopt;
            }
            // Whether it leaves its destination in the caches decides what the next probe reads.
            if (other.at("cold").at("st") != cold.at("st")) return std::nullopt;
            cached_ticks = std::max(cached_ticks, ticks("cached_ticks"));
            uncached_ticks = std::min(uncached_ticks, ticks("uncached_ticks"));
            ratios.push_back(std::log(ticks("ratio")));
            for (const auto& [workload, one_measured] : other.at("workloads").items()) {
                measured[workload].push_back(one_measured);
            }
        }
        const auto threshold = threshold_between(cached_ticks, uncached_ticks);
        const double ratio = std::exp(mean(ratios));
        if (!threshold || ratio <= interval.at("winner").at("ratio").get<double>()) {
            return std::nullopt;
        }
        sensing["threshold"] = threshold->ticks;
        sensing["cached_ticks"] = cached_ticks;
        sensing["uncached_ticks"] = uncached_ticks;
        sensing["hot"] = hot;
        sensing["cold"] = cold;
        sensing["ratio"] = rounded(ratio);
        sensing["workloads"] = ordered_json::object();
        for (const auto& [workload, all] : measured) {
            if (all.size() < own.size()) continue;
            ordered_json& one = sensing["workloads"][workload];
            for (const char* name : {"ns", "gb_per_s", "libc_ns"}) {
                std::vector<double> logs;
                for (const ordered_json& other : all) {
                    logs.push_back(std::log(other.at(name).get<double>()));
                }
                one[name] = rounded(std::exp(mean(logs)));
            }
            std::vector<ordered_json> all_ratios;
            std::size_t rounds = 0;
            for (const ordered_json& other : all) {
                all_ratios.push_back(other.at("ratio"));
                rounds += other.value("rounds", std::size_t{0});
            }
            one["ratio"] = noise_json(all_ratios);
            one["rounds"] = rounds;
        }
        return sensing;
    }

    /// Null where there are none, or none that all measured.
    ordered_json small_copies() const {
        std::vector<const MeasuredGains*> machines;
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            if (!jsons_[i].contains("small")) return nullptr;
            machines.push_back(&evidence_[i].small);
        }
        std::map<std::string, std::size_t> place;
        std::map<std::string, ordered_json> tuples;
        for (const asterope_copy* copy : copies_of(asterope_small_copies, anything)) {
            place.emplace(copy->name, place.size());
            tuples.emplace(copy->name, tuple_json(*copy));
        }
        ordered_json small = jsons_.front().at("small");
        // As in search_small, by what all machines timed.
        const Weights weights = timed_weights(
            parse_small_weights(small.at("objective").get<std::string>()), [&](Workload workload) {
                return std::all_of(machines.begin(), machines.end(), [&](const MeasuredGains* one) {
                    return one->count(workload) > 0;
                });
            });
        const auto ranked = rank(machines, weights, "", place, {0, {0.002, 0.002}});
        if (ranked.empty()) return nullptr;
        ordered_json common = {{"distribution", small.at("distribution")},
                               {"objective", small.at("objective")}};
        add_race(common, machines, ranked, 5, 0,
                 [&](const std::string& name) { return tuples.at(name); });
        std::vector<ordered_json> floors;
        for (const ordered_json& source : jsons_) {
            floors.push_back(source.at("small").value("noise_floor", ordered_json::object()));
        }
        common["noise_floor"] = noise_floor(floors);
        return common;
    }

    /// The same for overlapping buffers.
    ordered_json overlapping_copies() const {
        std::vector<const MeasuredGains*> machines;
        std::vector<ordered_json> floors;
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            const ordered_json& profile = jsons_[i];
            if (!profile.contains("overlapping")) return nullptr;
            machines.push_back(&evidence_[i].overlapping);
            floors.push_back(
                profile.at("overlapping").value("noise_floor", ordered_json::object()));
        }
        std::map<std::string, std::size_t> place;
        std::map<std::string, ordered_json> tuples;
        for (const asterope_copy* copy : copies_of(asterope_overlapping_copies, anything)) {
            place.emplace(copy->name, place.size());
            tuples.emplace(copy->name, tuple_json(*copy));
        }
        const auto ranked = rank(machines, {{Workload::overlapping, 1}}, "", place, {0, {}});
        if (ranked.empty()) return nullptr;
        ordered_json common;
        add_race(common, machines, ranked, 5, 0,
                 [&](const std::string& name) { return tuples.at(name); });
        common["noise_floor"] = noise_floor(floors);
        return common;
    }

    ordered_json aliased_copies() const {
        const auto space = copies_of(asterope_aliased_copies, anything);
        std::map<std::string, std::size_t> place;
        for (const auto* variant : space) place.emplace(variant->name, place.size());
        ordered_json aliased = ordered_json::object(), sizes = ordered_json::array();
        std::vector<AliasedSize> all;
        for (const auto& [size, unused] : evidence_.front().aliased) {
            const auto machines = at(size, &SourceResults::aliased);
            const auto ranked = rank(machines, {{Workload::aliased, 1}}, "", place, {0, {0, 0}});
            if (ranked.empty()) continue;
            std::vector<ordered_json> of_pipelines;
            for (const ordered_json& source : jsons_) {
                for (const ordered_json& one : source.at("aliased").at("sizes")) {
                    if (one.at("size") == size) of_pipelines.push_back(one.at("pipeline"));
                }
            }
            if (of_pipelines.size() < sources_.size()) continue;
            const ordered_json pipeline = noise_json(of_pipelines);
            AliasedSize found{size, {}, {}, place.at(ranked.front().name), {}};
            found.gains.assign(space.size(), 0); // who was not measured by all gains nothing
            for (const Ranked& one : ranked) found.gains[place.at(one.name)] = std::exp(one.mean);
            ordered_json gains = ordered_json::array();
            for (std::size_t i = 0; i < space.size(); ++i) {
                if (found.gains[i] == 0) continue;
                gains.push_back(
                    {{"tuple", tuple_json(*space[i])}, {"gain", rounded(found.gains[i])}});
            }
            const auto& best = *space[found.variant];
            sizes.push_back(
                {{"size", size},
                 {"pipeline", pipeline},
                 {"best", tuple_json(best)},
                 {"best_ratio",
                  ratio_json(std::log(pipeline.at("median").get<double>()) + ranked.front().mean,
                             ranked.front().error)},
                 {"gains", gains}});
            all.push_back(std::move(found));
        }
        if (const auto choice = choose_aliased(all)) {
            const auto& variant = *space[choice->variant];
            aliased["winner"] = {
                {"above", choice->above}, {"up_to", choice->up_to}, {"tuple", tuple_json(variant)}};
        }
        aliased["sizes"] = sizes;
        return aliased;
    }

    /// Null where not all timed any.
    ordered_json shared_copies() const {
        unsigned most = ASTEROPE_MOST_THREADS;
        for (const ordered_json& source : jsons_) {
            if (!source.contains("threads")) return nullptr;
            most = std::min(most, source.at("threads").at("most").get<unsigned>());
        }
        ordered_json results = ordered_json::array(), intervals = ordered_json::array();
        std::vector<SharedSize> all;
        for (const auto& [size, unused] : evidence_.front().shared) {
            const auto machines = at(size, &SourceResults::shared);
            const std::vector<ThreadShare> shares = shares_for(size, most);
            std::map<std::string, std::size_t> place;
            for (const ThreadShare& share : shares) place.emplace(share_name(share), place.size());
            const auto ranked =
                rank(machines, screening_weights(weights_), "", place); // as threads are timed
            if (ranked.empty()) continue;
            const Ranked& best = ranked.front();
            const ThreadShare& share = shares[place.at(best.name)];
            // It must beat one thread by more than a tie, and surely.
            const bool taken = best.acceptable && best.sure() > 0 && best.mean > TieBand{}.always;
            std::vector<ordered_json> floors;
            for (const ordered_json& source : jsons_) {
                for (const ordered_json& one : source.at("threads").at("results")) {
                    if (one.at("size") == size) {
                        floors.push_back(one.value("noise_floor", ordered_json::object()));
                    }
                }
            }
            ordered_json result = {{"size", size},
                                   {"threads", share.threads},
                                   {"chunk", share.chunk},
                                   {"taken", taken},
                                   {"ratio", rounded(std::exp(best.mean))},
                                   {"workloads", workloads(machines, best.name, size, "alone_ns")}};
            if (!floors.empty()) result["noise_floor"] = noise_floor(floors);
            results.push_back(std::move(result));
            all.push_back({size, share, taken, std::exp(best.mean), {}, {}, 0});
        }
        if (results.empty()) return nullptr;
        for (const auto& [above, up_to, share] : share_intervals(all)) {
            intervals.push_back({{"above", above},
                                 {"up_to", up_to},
                                 {"threads", share.threads},
                                 {"chunk", share.chunk}});
        }
        return {{"most", most}, {"intervals", intervals}, {"results", results}};
    }

    /// What some of the machines know, and the merged profile does not.
    void leave_out(const ordered_json& intervals) {
        std::set<std::size_t> sizes;
        std::set<std::string> missed = left_out_steps(sources_);
        ordered_json& profile = result_.profile;
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            for (const ordered_json& interval : *intervals_of(i, "")) {
                sizes.insert(interval.at("size").get<std::size_t>());
            }
            const ordered_json& source = jsons_[i];
            if (source.contains("left_out")) {
                for (const ordered_json& size : source.at("left_out").at("sizes")) {
                    sizes.insert(size.get<std::size_t>());
                }
            }
            if (source.contains("threads") && !profile.contains("threads"))
                missed.insert(title_of(Step::threads));
            if (source.contains("overlapping") && !profile.contains("overlapping"))
                missed.insert(title_of(Step::overlapping));
        }
        for (const ordered_json& interval : intervals) sizes.erase(interval.at("size"));
        if (!profile.contains("small")) missed.insert(title_of(Step::small));
        const std::vector<std::string> steps = in_order(missed);
        profile["complete"] = sizes.empty() && steps.empty();
        if (profile["complete"]) {
            profile.erase("left_out");
        } else {
            profile["left_out"] = {{"sizes", sizes}, {"steps", steps}};
        }
    }

    void tell(const ordered_json& interval, const std::string& winner) {
        std::string& out = result_.table;
        if (out.empty()) {
            append(out, "%-10s %-32s %6s %18s\n", "Size", "RT LT ST PT PS PD ...", "x libc",
                   "of each best: mean, worst");
        }
        const ordered_json& share = interval.at("of_best");
        append(out, "%-10s %-32s %6.2f %12.1f %% %7.1f %%\n",
               format_size(interval.at("size")).c_str(), winner.c_str(),
               interval.at("winner").at("ratio").get<double>(),
               100 * share.at("mean").get<double>(), 100 * share.at("worst").get<double>());
    }

    std::vector<MergeSource> sources_;
    std::vector<ordered_json> jsons_;     ///< their profiles
    std::vector<SourceResults> evidence_; ///< of each source
    std::vector<std::size_t> unsensed_;   ///< sizes at which some machine senses, but not all alike
    Weights weights_;
    const Pipelines& pipelines_ = Pipelines::all();
    CommonBest result_;
};

} // namespace

CommonBest common_best(std::vector<MergeSource> sources) {
    return Merger(std::move(sources)).merge();
}

} // namespace asterope
