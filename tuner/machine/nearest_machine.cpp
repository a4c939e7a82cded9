// Which machine of a profile is to be compared with this one: merged profiles come from several.
#include "machine/nearest_machine.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_part.hpp"
#include "machine/machine.hpp"

namespace asterope {

using nlohmann::json;

json nearest_machine(const json& profile, const json& current) {
    json nearest = part_of(profile, "/machine");
    if (!nearest.is_object()) nearest = json::object();
    const json sources = part_of(profile, "/merged/sources");
    if (!sources.is_array()) return nearest;
    // First what decides, then all the rest (microcode, kernel, memory to the byte).
    const auto distance = [&](const json& machine) {
        std::size_t others = 0;
        for (const auto& [name, value] : current.items()) {
            others += !machine.is_object() || machine.value(name, json()) != value;
        }
        return std::pair(fingerprint_differences(machine, current).size(), others);
    };
    for (const json& source : sources) {
        const json machine = part_of(source, "/machine");
        if (machine.is_object() && distance(machine) < distance(nearest)) nearest = machine;
    }
    return nearest;
}

} // namespace asterope
