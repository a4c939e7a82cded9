// Which machine of a profile is to be compared with this one: merged profiles come from several.
#include "machine/nearest_machine.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "machine/machine.hpp"

namespace asterope {

using nlohmann::json;

json nearest_machine(const std::vector<json>& machines, const json& current) {
    // First what decides, then all the rest (microcode, kernel, memory to the byte).
    const auto distance = [&](const json& machine) {
        std::size_t others = 0;
        for (const auto& [name, value] : current.items()) {
            others += machine.value(name, json()) != value;
        }
        return std::pair(fingerprint_differences(machine, current).size(), others);
    };
    const json* nearest = nullptr;
    for (const json& machine : machines) {
        if (machine.is_null()) continue;
        if (!nearest || distance(machine) < distance(*nearest)) nearest = &machine;
    }
    return nearest ? *nearest : json::object();
}

} // namespace asterope
