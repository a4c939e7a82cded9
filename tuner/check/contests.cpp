// What `check --measure` times again: the winners of a profile, each beside its runner-up.
#include "check/contests.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json_part.hpp"
#include "base/size_text.hpp"
#include "profile/profile.hpp"
#include "search/sensing_search.hpp"
#include "search/size_order.hpp"
#include "search/small_search.hpp"
#include "space/tuple_json.hpp"
#include "timing/cache_effect.hpp"

namespace asterope {

namespace {

using nlohmann::json;

std::string text_at(const json& value, const char* pointer) {
    const json text = part_of(value, pointer);
    return text.is_string() ? text.get<std::string>() : std::string();
}

/// A finite ratio above 0; 1 for anything else.
double ratio_at(const json& value, const char* pointer) {
    const json ratio = part_of(value, pointer);
    if (!ratio.is_number()) return 1;
    const auto number = ratio.get<double>();
    return std::isfinite(number) && number > 0 ? number : 1;
}

/// Those above 0, scaled to add up to 1.
Weights scaled(Weights weights) {
    std::erase_if(weights, [](const auto& weighted) { return weighted.second == 0; });
    double sum = 0;
    for (const auto& [workload, weight] : weights) sum += weight;
    for (auto& [workload, weight] : weights) weight /= sum;
    return weights;
}

/// What the winners were chosen by. Profiles of before there were weights name a workload, or
/// nothing: then it is the default.
Weights weights_of(const json& profile) {
    const json recorded = part_of(profile, "/search/weights");
    if (!recorded.is_object() || recorded.empty()) {
        const std::string workload = text_at(profile, "/search/workload");
        return parse_objective(workload.empty() ? "balanced" : workload, "").weights;
    }
    Weights weights;
    double sum = 0;
    for (const auto& [name, value] : recorded.items()) {
        const std::optional<Workload> workload = find_workload(name);
        const double weight = value.is_number() ? value.get<double>() : -1;
        if (!workload || std::find(kTunable.begin(), kTunable.end(), *workload) == kTunable.end() ||
            !(weight >= 0 && weight < 1e6)) {
            throw BadInput("its weights are none: " + name.substr(0, 40));
        }
        weights.emplace_back(*workload, weight);
        sum += weight;
    }
    if (sum == 0) throw BadInput("its weights are all 0");
    return scaled(std::move(weights));
}

} // namespace

Contestant CheckContests::pipeline(const json& tuple, const std::string& where) const {
    const std::optional<Candidate> found = find_candidate(tuple, has_);
    if (!found) {
        throw BadInput("its copy of " + where +
                       " is none that this version and this CPU can run; tune again");
    }
    return {found->name(), {found->variant->copy, found->distance(), cache_effect_of(*found)}};
}

std::optional<Contestant> CheckContests::sensing(const json& json, const std::string& where) {
    if (!json.is_object() || !senses_) return std::nullopt;
    const auto threshold = part_of(json, "/threshold");
    const asterope_copy* probe = find_copy(asterope_probes, json, has_);
    if (!probe || !threshold.is_number_unsigned() || threshold.get<std::uint64_t>() > UINT32_MAX) {
        throw BadInput("its sensing copy of " + where + " is none that this version knows");
    }
    const Contestant hot = pipeline(part_of(json, "/hot"), where);
    const Contestant cold = pipeline(part_of(json, "/cold"), where);
    arguments_.push_back({threshold.get<std::uint32_t>(), hot.copy.function, hot.copy.distance,
                          cold.copy.function, cold.copy.distance});
    return Contestant{
        std::string(probe->name) + ": " + hot.name + ", else " + cold.name,
        {probe->copy, reinterpret_cast<std::size_t>(&arguments_.back()), cold.copy.cache_effect}};
}

HoldContest CheckContests::contest_of(const json& interval, std::size_t size,
                                      const Weights& weights) {
    const std::string label = format_size(size);
    HoldContest contest{size,         label,
                        weights,      pipeline(part_of(interval, "/winner/tuple"), label),
                        std::nullopt, {ratio_at(interval, "/winner/ratio"), 1}};
    if (size >= kSensingMinimum) {
        if (const auto sensed = sensing(part_of(interval, "/sensing"), label)) {
            contest.rival = contest.holder;
            contest.holder = *sensed;
            const double fixed = contest.tuned.ratio;
            contest.tuned.ratio = ratio_at(interval, "/sensing/ratio");
            contest.tuned.lead = contest.tuned.ratio / fixed;
            return contest;
        }
    }
    if (const json rival = part_of(interval, "/runners_up/0/tuple"); !rival.is_null()) {
        contest.rival = pipeline(rival, label);
        contest.tuned.lead = ratio_at(interval, "/proof/lead/median");
    }
    return contest;
}

std::optional<HoldContest> CheckContests::small_contest(const json& profile) {
    const json small = part_of(profile, "/small");
    if (!small.is_object()) return std::nullopt;
    if (text_at(small, "/distribution") != "fleet") {
        small_left_out_ = "the small copies were tuned for calls of another distribution";
        return std::nullopt;
    }
    // What is too large for them goes on to the pipeline of the sizes above those that are drawn.
    const auto large =
        std::find_if(contests_.begin(), contests_.end(),
                     [](const HoldContest& contest) { return contest.size >= kLargestMixed; });
    const TimedCopy& beyond = (large == contests_.end() ? contests_.back() : *large).holder.copy;
    const auto find = [&](const json& tuple) -> std::optional<Contestant> {
        const asterope_copy* found = find_copy(asterope_small_copies, tuple, has_);
        if (!found) return std::nullopt;
        return Contestant{found->name, small_copy(found->small, beyond.distance, beyond.function)};
    };
    const std::optional<Contestant> winner = find(part_of(small, "/winner/tuple"));
    if (!winner) {
        throw BadInput("its small copy is none that this version and this CPU can run; tune again");
    }
    const json bound = part_of(small, "/winner/tuple/bound");
    const std::string objective = text_at(small, "/objective");
    // What it was chosen by: profiles of before know fewer workloads.
    const json measured = part_of(small, "/winner/workloads");
    const Weights weights = timed_weights(
        parse_small_weights(objective.empty() ? "balanced" : objective),
        [&](Workload workload) { return measured.contains(std::string(name_of(workload))); });
    return HoldContest{0,
                       "to " + format_size(bound.get<std::size_t>()),
                       scaled(weights),
                       *winner,
                       find(part_of(small, "/runners_up/0/tuple")),
                       {ratio_at(small, "/winner/ratio"), ratio_at(small, "/proof/lead/median")}};
}

CheckContests::CheckContests(const json& profile, const HasFeature& has, bool senses)
    : has_(has), senses_(senses) {
    if (!text_at(profile, "/search/source_map").empty()) {
        throw BadInput("its sources were mapped from " + text_at(profile, "/search/source_map") +
                       ": what they are now only a new search can tell");
    }
    const Weights weights = weights_of(profile);
    const std::vector<std::size_t> sizes = profile_sizes(profile);
    const json& intervals = profile.at("intervals");
    if (sizes.size() != intervals.size()) throw BadInput("has sizes that are none");
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] < kMinimumBytes) throw BadInput("has a size of less than 128 bytes");
        contests_.push_back(contest_of(intervals[i], sizes[i], weights));
    }
    std::optional<HoldContest> small = small_contest(profile);
    std::vector<HoldContest> ordered;
    for (const std::size_t index : coarse_to_fine(contests_.size())) {
        ordered.push_back(std::move(contests_[index]));
    }
    if (small) {
        const auto place = std::min<std::ptrdiff_t>(2, std::ssize(ordered));
        ordered.insert(ordered.begin() + place, std::move(*small));
    }
    contests_ = std::move(ordered);
}

} // namespace asterope
