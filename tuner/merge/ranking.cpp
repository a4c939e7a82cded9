// Ranks candidates by what several machines measured of them.
#include "merge/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

namespace asterope {

namespace {

/// Samples of which the median forgives one that was disturbed.
constexpr std::size_t kSettled = 3;

/// None where one of the machines did not measure it under all workloads.
std::optional<Ranked> judge(const std::string& name,
                            const std::vector<const MeasuredGains*>& machines,
                            const Weights& weights, const Rules& rules) {
    double total = 0;
    for (const auto& [workload, weight] : weights) total += weight;
    Ranked ranked{name, 0, 0, true, true, false, {}};
    double variance = 0;
    for (const MeasuredGains* machine : machines) {
        double score = 0;
        for (const auto& [workload, weight] : weights) {
            if (weight == 0) continue;
            const auto field = machine->find(workload);
            if (field == machine->end()) return std::nullopt;
            const auto found = field->second.find(name);
            if (found == field->second.end()) return std::nullopt;
            const MeasuredGain& gain = found->second;
            score += weight / total * gain.log_ratio;
            variance += std::pow(weight / total * gain.error, 2);
            ranked.settled = ranked.settled && gain.rounds >= kSettled;
            ranked.acceptable = ranked.acceptable && gain.log_ratio >= std::log(rules.worst_ratio);
        }
        ranked.scores.push_back(score);
        ranked.mean += score / static_cast<double>(machines.size());
    }
    ranked.error = std::sqrt(variance) / static_cast<double>(machines.size());
    return ranked;
}

} // namespace

std::vector<Ranked> rank(const std::vector<const MeasuredGains*>& machines, const Weights& weights,
                         const std::string& favourite,
                         const std::map<std::string, std::size_t>& place, const Rules& rules) {
    std::vector<Ranked> all;
    const auto first = std::find_if(weights.begin(), weights.end(),
                                    [](const auto& weighted) { return weighted.second > 0; });
    if (machines.empty() || first == weights.end()) return all;
    const auto field = machines.front()->find(first->first);
    if (field == machines.front()->end()) return all;
    for (const auto& [name, unused] : field->second) {
        if (!place.count(name)) continue;
        if (const auto ranked = judge(name, machines, weights, rules)) all.push_back(*ranked);
    }
    if (all.empty()) return all;
    std::sort(all.begin(), all.end(), [&](const Ranked& a, const Ranked& b) {
        return std::tuple(!a.settled, !a.acceptable, -a.sure(), place.at(a.name)) <
               std::tuple(!b.settled, !b.acceptable, -b.sure(), place.at(b.name));
    });
    const Ranked leader = all.front();
    for (Ranked& one : all) {
        one.tied = one.settled == leader.settled && one.acceptable == leader.acceptable &&
                   one.sure() >= leader.sure() - rules.ties.always &&
                   one.mean >= leader.mean - rules.ties.never;
    }
    const auto winner = std::min_element(all.begin(), all.end(), [&](const auto& a, const auto& b) {
        return std::tuple(!a.tied, a.name != favourite, place.at(a.name)) <
               std::tuple(!b.tied, b.name != favourite, place.at(b.name));
    });
    std::rotate(all.begin(), winner, winner + 1);
    return all;
}

} // namespace asterope
