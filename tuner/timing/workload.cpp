// Workloads: what surrounds a copy when it is timed. Their table is workloads/workloads.json.
#include "timing/workload.hpp"

#include <algorithm>

namespace asterope {

std::optional<Workload> find_workload(std::string_view name) {
    const auto* found =
        std::find_if(std::begin(kWorkloads), std::end(kWorkloads),
                     [&](const WorkloadFacts& facts) { return facts.name == name; });
    if (found == std::end(kWorkloads)) return std::nullopt;
    return static_cast<Workload>(found - std::begin(kWorkloads));
}

std::string names_of(WorkloadFamily family) {
    std::string names;
    for (const WorkloadFacts& facts : kWorkloads) {
        if (facts.family != family) continue;
        names += (names.empty() ? "" : ", ") + std::string(facts.name);
    }
    return names;
}

} // namespace asterope
