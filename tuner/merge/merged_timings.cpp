// A copy's score on a machine is the median of its samples; its worth is the mean over machines.
#include "merge/merged_timings.hpp"

#include <cmath>
#include <span>

#include "base/contains.hpp"
#include "base/statistics.hpp"
#include "search/fresh_search.hpp"
#include "search/utility.hpp"
#include "space/space.hpp"
#include "timing/timed_copy.hpp"

namespace asterope {

namespace {

/// The name in the merged log of a copy in a step's log.
std::string called(const std::string& name, Step step) {
    if (step == Step::threads) return name.starts_with("threads ") ? name : kReference;
    if (step == Step::fresh) return is_page_stage(name) ? name : kReference;
    if (name == "libc") return kReference;
    if (step != Step::aliased) return name;
    const asterope_kind& kind = *find_kind(asterope_copies, "aliased");
    const std::span copies(kind.copies, kind.count);
    const bool known = contains(copies, name, &asterope_copy::name);
    return known ? name : "the size's pipeline"; // another on each machine
}

/// Samples that were taken together, under one workload.
struct LoggedRound {
    Workload workload{};
    std::uint64_t number = 0;
    std::vector<std::pair<std::string, double>> times; ///< of each sample: name; ns a call
};

/// The rounds of a step. A round that was disturbed and timed again counts by its last try alone.
std::vector<LoggedRound> rounds_of(const std::vector<Record>& records, Step step) {
    std::vector<LoggedRound> rounds;
    bool disturbed = false; // the round's last try
    for (const Record& record : records) {
        if (std::holds_alternative<std::vector<Disturbance>>(record)) disturbed = true;
        const auto* one = std::get_if<std::pair<SampleKey, Sample>>(&record);
        if (!one || one->first.candidate.starts_with(kReferencePrefix)) continue;
        const auto& [key, sample] = *one;
        if (rounds.empty() || key.workload != rounds.back().workload ||
            key.round != rounds.back().number) {
            rounds.push_back({key.workload, key.round, {}});
        } else if (disturbed) {
            rounds.back().times.clear();
        }
        disturbed = false;
        rounds.back().times.emplace_back(called(key.candidate, step), sample.ns);
    }
    return rounds;
}

} // namespace

LoggedRace::LoggedRace(const std::vector<Record>& records, Step step) {
    std::map<Workload, std::vector<double>> references;
    for (const LoggedRound& round : rounds_of(records, step)) {
        std::vector<double> reference;
        for (const auto& [name, ns] : round.times) {
            if (name == kReference) reference.push_back(ns);
        }
        if (reference.empty()) continue; // cut short
        const double level = std::log(median(reference));
        for (const auto& [name, ns] : round.times) {
            samples[round.workload][name].push_back(level - std::log(ns));
        }
        std::vector<double>& all = references[round.workload];
        all.insert(all.end(), reference.begin(), reference.end());
    }
    for (const auto& [workload, all] : references) reference_ns[workload] = median(all);
}

bool CommonRace::timed(const std::string& name, const Weights& weights, std::size_t least) const {
    for (const auto& [workload, weight] : counting(weights)) {
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
    for (const auto& [workload, weight] : counting(weights)) {
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
    for (const auto& [workload, weight] : counting(weights)) {
        sum += weight * median(machines_[machine].samples.at(workload).at(name));
        total += weight;
    }
    return sum / total;
}

bool CommonRace::timed(const std::string& name) const {
    Weights all;
    for (const auto& [workload, unused] : machines_.front().samples) all.emplace_back(workload, 1);
    return timed(name, all);
}

const CommonRace* MergedTimings::race_of(const LoggedStep& step) const {
    const auto [known, added] = races_.emplace(step, std::nullopt);
    if (!added) return known->second ? &*known->second : nullptr;
    const LoggedStep rows{Step::rows, step.size, {}, step.operation};
    std::vector<LoggedRace> machines;
    for (const LoggedSteps* log : logs_) {
        if (log->count(step) == 0) return nullptr;
        std::vector<Record> records = log->at(step);
        if (step.step == Step::pipelines) {
            const std::vector<Record> more = value_in(*log, rows);
            records.insert(records.end(), more.begin(), more.end());
        }
        machines.emplace_back(records, step.step);
    }
    return &known->second.emplace(std::move(machines));
}

void MergedTimings::enter(const LoggedStep& step, std::size_t) {
    step_ = step;
    asked_.clear();
}

bool MergedTimings::has(const LoggedStep& step, const std::string& copy) const {
    const CommonRace* race = race_of(step);
    return race && (copy.empty() || race->timed(copy));
}

Sample MergedTimings::sample(const SampleRequest& asked) {
    const std::string name = called(asked.copy.name, step_->step);
    std::size_t turn = asked.round;
    if (name == kReference) turn = 3 * asked.round + asked_[{asked.workload, asked.round}]++;
    const auto& machines = race_of(*step_)->machines();
    double sum = 0;
    for (const LoggedRace& machine : machines) {
        const LoggedRace::Samples& samples = machine.samples.at(asked.workload).at(name);
        sum += std::log(machine.reference_ns.at(asked.workload)) -
               samples[samples.size() - 1 - turn % samples.size()];
    }
    return {std::exp(sum / static_cast<double>(machines.size()))};
}

} // namespace asterope
