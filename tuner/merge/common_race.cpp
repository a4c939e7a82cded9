// The figures of several machines' logs, as one race of the copies that all of them timed.
#include "merge/common_race.hpp"

#include <algorithm>
#include <cmath>

#include "base/statistics.hpp"
#include "run/logged_rounds.hpp"
#include "search/utility.hpp"

namespace asterope {

LoggedRace::LoggedRace(const std::vector<Record>& step,
                       const std::function<std::string(const std::string&)>& called) {
    std::map<Workload, std::vector<double>> references;
    for (LoggedRound& round : rounds_of(step)) {
        std::vector<double> reference;
        for (auto& [name, ns] : round.trials) {
            name = called(name);
            if (name == kReference) reference.push_back(ns);
        }
        if (reference.empty()) continue; // cut short
        const double level = std::log(median(reference));
        for (const auto& [name, ns] : round.trials) {
            samples[round.workload][name].push_back(level - std::log(ns));
        }
        std::vector<double>& all = references[round.workload];
        all.insert(all.end(), reference.begin(), reference.end());
    }
    for (const auto& [workload, all] : references) reference_ns[workload] = median(all);
}

bool CommonRace::timed(Workload workload) const {
    return std::all_of(machines_.begin(), machines_.end(),
                       [&](const LoggedRace& one) { return one.samples.count(workload) > 0; });
}

bool CommonRace::timed(const std::string& name, const Weights& weights, std::size_t least) const {
    for (const auto& [workload, weight] : weights) {
        if (weight == 0) continue;
        for (const LoggedRace& machine : machines_) {
            const auto timed = machine.samples.find(workload);
            if (timed == machine.samples.end()) return false;
            const auto found = timed->second.find(name);
            if (found == timed->second.end() || found->second.size() < least) return false;
        }
    }
    return true;
}

double CommonRace::worth(const std::string& name, const Weights& weights) const {
    double sum = 0, total = 0;
    for (const auto& [workload, weight] : weights) {
        if (weight == 0) continue;
        for (std::size_t i = 0; i < machines_.size(); ++i) {
            sum += weight * utility(score(i, name, {{workload, 1}}));
            total += weight;
        }
    }
    return sum / total;
}

double CommonRace::score(std::size_t machine, const std::string& name,
                         const Weights& weights) const {
    double sum = 0, total = 0;
    for (const auto& [workload, weight] : weights) {
        if (weight == 0) continue;
        sum += weight * median(machines_[machine].samples.at(workload).at(name));
        total += weight;
    }
    return sum / total;
}

Trial CommonTimings::trial(const TrialRequest& asked) {
    const std::string name = asked.entrant < 0 ? kReference : name_(asked.entrant);
    std::size_t turn = asked.round;
    if (name == kReference) turn = 3 * asked.round + asked_[{asked.workload, asked.round}]++;
    double sum = 0;
    for (const LoggedRace& machine : race_.machines()) {
        const LoggedRace::Samples& samples = machine.samples.at(asked.workload).at(name);
        sum += std::log(machine.reference_ns.at(asked.workload)) -
               samples[samples.size() - 1 - turn % samples.size()];
    }
    return {std::exp(sum / static_cast<double>(race_.machines().size()))};
}

} // namespace asterope
