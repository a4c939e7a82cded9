// Makes a choice of a search's result: the winner's figures and those of its runners-up.
#include "profile/choice.hpp"

#include <algorithm>

namespace asterope {

std::string name_of(const AnyCopy& copy) {
    if (const auto* pipeline = std::get_if<Candidate>(&copy)) return pipeline->name();
    if (const auto* share = std::get_if<ThreadShare>(&copy)) return name_of(*share);
    if (const auto* stage = std::get_if<PageStage>(&copy)) return name_of(*stage);
    return std::get<const asterope_copy*>(copy)->name;
}

double Choice::bandwidth(Workload workload) const {
    const auto timed = workloads.find(workload); // bytes a nanosecond are GB/s
    if (timed == workloads.end() || timed->second.ns <= 0) return 0;
    return static_cast<double>(size) / timed->second.ns;
}

void set_figures(Figures& figures, const Finalist& one, std::size_t size) {
    figures = {one.ratio, 0, one.workloads};
    for (const auto& [workload, measured] : one.workloads) {
        if (measured.ns <= 0) continue;
        figures.gb_per_s = std::max(figures.gb_per_s, static_cast<double>(size) / measured.ns);
    }
}

Choice choice_of(ChoiceKind kind, const SizeResult& result, const CopyOf& copy_of) {
    // `check --measure` times the first, and the log has them all.
    constexpr std::size_t kRunnersUp = 2;
    const Finalist& first = result.finalists.front();
    Choice choice;
    choice.kind = kind;
    choice.size = result.size;
    choice.copy = copy_of(first.candidate);
    set_figures(choice, first, result.size);
    choice.tied = first.tied;
    choice.noise_floor = result.noise_floor;
    choice.undecided = result.undecided;
    choice.proof = Proof{result.samples, result.rounds, result.lead, {}};
    for (std::size_t i = 1; i < result.finalists.size(); ++i) {
        const Finalist& one = result.finalists[i];
        const AnyCopy copy = copy_of(one.candidate);
        if (one.tied) choice.proof->ties.push_back(name_of(copy));
        if (i <= kRunnersUp) choice.runners_up.push_back({copy, one.ratio, one.tied});
    }
    return choice;
}

} // namespace asterope
