// The trials of a logged step, grouped into the rounds in which they were timed.
#include "run/logged_rounds.hpp"

#include "timing/timed_copy.hpp"

namespace asterope {

std::optional<LoggedRound> RoundCollector::add(const Record& record) {
    if (std::holds_alternative<std::vector<Disturbance>>(record)) disturbed_ = true;
    const auto* one = std::get_if<std::pair<TrialKey, Trial>>(&record);
    if (!one) return std::nullopt;
    const auto& [key, trial] = *one;
    if (key.candidate.starts_with(kReferencePrefix)) return std::nullopt;
    std::optional<LoggedRound> before;
    if (key.workload != round_.workload || key.round != round_.number) {
        before = finish();
        round_ = {key.workload, key.round, {}};
    } else if (disturbed_) {
        round_.trials.clear();
    }
    disturbed_ = false;
    round_.trials.emplace_back(key.candidate, trial.ns);
    return before;
}

std::optional<LoggedRound> RoundCollector::finish() {
    disturbed_ = false;
    LoggedRound last = std::exchange(round_, {});
    if (last.trials.empty()) return std::nullopt;
    return last;
}

std::vector<LoggedRound> rounds_of(const std::vector<Record>& step) {
    std::vector<LoggedRound> rounds;
    RoundCollector collector;
    for (const Record& record : step) {
        if (auto round = collector.add(record)) rounds.push_back(std::move(*round));
    }
    if (auto round = collector.finish()) rounds.push_back(std::move(*round));
    return rounds;
}

} // namespace asterope
