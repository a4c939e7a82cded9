// Looks workloads up by name and by family.
#include "timing/workload.hpp"

#include "base/contains.hpp"

namespace asterope {

std::optional<Workload> find_workload(std::string_view name) {
    const auto* found = find_in(kWorkloads, name, &WorkloadFacts::name);
    if (!found) return std::nullopt;
    return static_cast<Workload>(found - kWorkloads);
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
