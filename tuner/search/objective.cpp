// Parses --workload, adapts weights to sizes and operations, and derives the entry points by
// intent.
#include "search/objective.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace asterope {

namespace {

/// The workloads that count by default.
constexpr auto kBalanced = workloads_with<&WorkloadFacts::balanced>();

constexpr std::string_view kExample = ", as in hot=1,consume=2";

Weights balanced_weights() {
    Weights weights;
    for (const Workload workload : kBalanced) {
        weights.emplace_back(workload, facts_of(workload).balanced);
    }
    return weights;
}

/// The least weight of the workloads that are timed from the start. With less, a screening by them
/// alone would look for other copies than are wanted.
constexpr double kLeastOfScreening = 0.2;

double sum_of(const Weights& weights) {
    double sum = 0;
    for (const auto& [workload, weight] : weights) sum += weight;
    return sum;
}

/// The workload in place of a walk, or of one that only some sizes are timed under.
Workload instead_of(Workload workload) {
    return find_workload(facts_of(workload).instead).value();
}

/// "hot, hot_read, ... or bystander"
std::string choices() {
    std::string text;
    for (const Workload workload : kTunable) {
        if (!text.empty()) text += workload == kTunable.back() ? " or " : ", ";
        text += name_of(workload);
    }
    return text;
}

const Workload* find_tunable(std::string_view name) {
    return find_in(kTunable, name, [](Workload workload) { return name_of(workload); });
}

Weights parse_weights(std::string_view text) {
    std::map<Workload, double> given;
    double largest = 0;
    for (const std::string_view item : split(text, ',')) {
        const auto refuse = [&](const std::string& why) {
            return BadInput("weight '" + std::string(item.substr(0, 40)) + "' " + why);
        };
        const std::size_t sign = item.find('=');
        if (sign == std::string_view::npos) {
            throw refuse("is not a pair of a workload and a number: write NAME=NUMBER for " +
                         choices() + std::string(kExample));
        }
        const Workload* workload = find_tunable(item.substr(0, sign));
        if (!workload) throw refuse("does not name a workload to tune for: choose " + choices());
        double weight = 0;
        const char* end = item.data() + item.size();
        const auto [stop, error] = std::from_chars(item.data() + sign + 1, end, weight);
        // !(>=) is true for NaN, too
        if (error != std::errc() || stop != end || !std::isfinite(weight) || !(weight >= 0)) {
            throw refuse("is not a finite number from 0 up" + std::string(kExample));
        }
        if (!given.emplace(*workload, weight).second) {
            throw refuse("names its workload again: give each of " + choices() +
                         " one number at most");
        }
        largest = std::max(largest, weight);
    }
    if (largest == 0) {
        throw BadInput("weights '" + std::string(text.substr(0, 80)) + "' are all 0: give one of " +
                       choices() + " more" + std::string(kExample));
    }
    // by the largest first: numbers near the end of their range would add up to infinity
    double sum = 0;
    for (const auto& [workload, weight] : given) sum += weight / largest;
    Weights weights;
    for (const auto& [workload, weight] : given) {
        const double share = weight / largest / sum;
        if (share > 0) weights.emplace_back(workload, share);
    }
    return weights;
}

} // namespace

std::string tunable_text() {
    std::string text;
    for (const Workload workload : kTunable) {
        text += name_of(workload) + ": " + std::string(facts_of(workload).text) + "; ";
    }
    return text + "balanced: most of these, each with its weight; or a mix such as hot=1,consume=2";
}

double weight_of(const Weights& weights, Workload workload) {
    const auto* known = find_in(weights, workload, &Weights::value_type::first);
    return known ? known->second : 0;
}

int run_off_every(const Weights& weights, Workload workload) {
    const double weight = weight_of(weights, workload);
    return facts_of(workload).fresh && weight < 1.0 / 20 ? 3 : 1;
}

Weights weights_at(std::size_t size, const Weights& weights) {
    const bool any = std::ranges::any_of(weights, [&](const auto& weighted) {
        return weighted.second > 0 && is_timed_at(size, weighted.first);
    });
    Weights here;
    for (const auto& [workload, weight] : weights) {
        if (is_timed_at(size, workload)) {
            entry_in(here, workload) += weight;
        } else if (weight > 0 && (facts_of(workload).walks || !any)) {
            Workload instead = instead_of(workload);
            while (!is_timed_at(size, instead)) instead = instead_of(instead);
            entry_in(here, instead) += weight;
        }
    }
    return scaled(std::move(here));
}

Weights scaled(Weights weights) {
    const double sum = sum_of(weights);
    if (sum == 0) return weights;
    for (auto& [workload, weight] : weights) weight /= sum;
    return weights;
}

Weights counting(Weights weights) {
    std::erase_if(weights, [](const auto& one) { return !(one.second > 0); });
    return weights;
}

Weights equal_weights(const std::vector<Workload>& workloads) {
    Weights weights;
    for (const Workload workload : workloads) {
        weights.emplace_back(workload, 1 / static_cast<double>(workloads.size()));
    }
    return weights;
}

std::vector<Weights> weights_of(const std::vector<Objective>& objectives) {
    std::vector<Weights> weights;
    for (const Objective& objective : objectives) weights.push_back(objective.weights);
    return weights;
}

Objective parse_objective(std::string_view workload) {
    if (workload.find('=') != workload.npos) return {"weights", parse_weights(workload)};
    const std::string given(workload.substr(0, 40));
    if (workload == "balanced") return {given, scaled(balanced_weights())};
    const Workload* alone = find_tunable(workload);
    if (!alone) {
        throw BadInput("workload '" + given + "' is unknown, and not a mix" +
                       std::string(kExample) + ": choose balanced, " + choices());
    }
    return {given, {{*alone, 1.0}}};
}

Objective objective_of_sets(const Objective& copies) {
    Weights own;
    if (!copies.is_broad()) {
        for (const auto& weighted : copies.weights) {
            if (facts_of(weighted.first).sets > 0) own.push_back(weighted);
        }
    }
    if (!own.empty()) return {copies.name, scaled(std::move(own))};
    for (const Workload workload : kSets) own.emplace_back(workload, facts_of(workload).sets);
    return {"balanced", scaled(std::move(own))};
}

Weights screening_weights(const Weights& weights) {
    const Weights all = counting(weights);
    Weights from_start = all;
    std::erase_if(from_start,
                  [](const auto& one) { return facts_of(one.first).waits_for_run_off; });
    return sum_of(from_start) >= kLeastOfScreening * sum_of(all) ? from_start : all;
}

std::vector<Objective> with_intents(const Objective& objective,
                                    const std::vector<Workload>& measured) {
    std::vector<Objective> objectives = {objective};
    if (objective.weights.size() > 1) {
        for (const auto& [workload, weight] : objective.weights) {
            const WorkloadFacts& facts = facts_of(workload);
            if (objective.is_broad() && !facts.entry_point) continue;
            if (facts.walks && weight_of(objective.weights, instead_of(workload)) > 0) continue;
            Weights own;
            for (const auto& weighted : objective.weights) {
                const bool walk = facts_of(weighted.first).walks &&
                                  facts_of(weighted.first).instead == facts.name;
                if (weighted.first == workload || walk) own.push_back(weighted);
            }
            objectives.push_back({std::string(facts.name), scaled(std::move(own))});
        }
    }
    for (Objective& one : objectives) {
        for (const Workload workload : measured) {
            const bool weighted = contains(one.weights, workload, &Weights::value_type::first);
            if (!weighted) one.weights.emplace_back(workload, 0);
        }
    }
    return objectives;
}

Objective for_mapped_source(Objective objective) {
    if (objective.is_broad()) {
        std::erase_if(objective.weights,
                      [](const auto& one) { return facts_of(one.first).writes_source; });
        objective.weights = scaled(std::move(objective.weights));
    }
    for (const auto& [workload, weight] : objective.weights) {
        if (weight > 0 && facts_of(workload).writes_source) {
            throw BadInput("workload " + name_of(workload) +
                           " writes its source, but a source map is only read: choose another "
                           "workload, or leave out --source-map");
        }
    }
    return objective;
}

} // namespace asterope
