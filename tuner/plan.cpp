// The plan: a tuning request whose every word has been understood.
#include "plan.hpp"

#include <algorithm>

#include "atomic_file.hpp"
#include "default_sizes.hpp"
#include "error.hpp"
#include "size_text.hpp"
#include "small_search.hpp"
#include "space.hpp"

namespace asterope {

namespace {

/// Whether the extension axes are explored. Throws BadInput.
bool parse_space(const std::string& text) {
    if (text == "extended") return true;
    if (text == "paper") return false;
    throw BadInput("space '" + text.substr(0, 40) + "' is unknown: choose paper or extended");
}

} // namespace

Plan::Plan(const TuningRequest& request, const Machine& machine)
    : objective(parse_objective(request.workload, request.weights)),
      extended(parse_space(request.space)), sensing(!request.no_sensing),
      small_objective(request.small), small_weights(parse_small_weights(request.small)),
      rigor(parse_rigor(request.rigor)),
      sizes(request.sizes.empty() ? default_sizes(machine.caches) : parse_size_list(request.sizes)),
      statistics(request.distribution.empty() ? fleet_statistics()
                                              : read_statistics(request.distribution)) {
    if (sizes.front() < kMinimumBytes) {
        throw BadInput("size " + format_size(sizes.front()) + " is below " +
                       format_size(kMinimumBytes) + ", where the pipelines begin");
    }
    if (!request.source_map.empty()) {
        source_map.emplace(request.source_map, sizes.back());
        refuse_written_source(objective);
    }
    require_writable(request.output);
}

std::vector<Workload> Plan::measured() const {
    std::vector<Workload> workloads(kMeasured.begin(), kMeasured.end());
    if (source_map) std::erase(workloads, Workload::produce);
    return workloads;
}

std::vector<Objective> Plan::objectives() const {
    std::vector<Objective> objectives = {objective};
    if (objective.weights.size() > 1) {
        for (const auto& [workload, weight] : objective.weights) {
            objectives.push_back({std::string(name_of(workload)), {{workload, 1}}});
        }
    }
    for (Objective& one : objectives) {
        for (const Workload workload : measured()) {
            const bool weighted =
                std::any_of(one.weights.begin(), one.weights.end(),
                            [&](const auto& pair) { return pair.first == workload; });
            if (!weighted) one.weights.emplace_back(workload, 0);
        }
    }
    return objectives;
}

} // namespace asterope
