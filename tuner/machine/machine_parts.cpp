// The machine as JSON, its fingerprint, and how it differs, part by part, from another.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/contains.hpp"
#include "base/text.hpp"
#include "machine/machine.hpp"

namespace asterope {

using nlohmann::json;

namespace {

/// A member; null if it is missing or `value` is not an object.
const json& member(const json& value, const std::string& key) {
    static const json kNull;
    if (!value.is_object()) return kNull;
    const auto found = value.find(key);
    return found == value.end() ? kNull : *found;
}

/// Any value as a short text. Objects and arrays give only their kind: a profile comes from
/// outside, and printing one recurses as deep as it is nested.
std::string text_of(const json& value) {
    if (value.is_string()) return profile_name(value.get_ref<const std::string&>());
    if (value.is_structured() || value.is_binary()) return value.type_name();
    return profile_name(value.dump());
}

std::optional<std::uint64_t> bytes_of(const json& value) {
    if (!value.is_number_integer() || value < 0) return std::nullopt;
    return value.get<std::uint64_t>();
}

std::string cache_text(const json& cache) {
    const json& size = member(cache, "bytes");
    const auto bytes = bytes_of(size);
    return (bytes && *bytes % 1024 == 0 ? std::to_string(*bytes / 1024) + " KiB"
                                        : text_of(size) + " bytes") +
           ", " + text_of(member(cache, "ways")) + " ways";
}

std::string gib_text(const json& memory) {
    const auto bytes = bytes_of(memory);
    if (!bytes) return text_of(memory);
    constexpr std::uint64_t kGib = 1u << 30;
    return std::to_string(*bytes / kGib + (*bytes % kGib >= kGib / 2)) + " GiB";
}

std::set<std::string> feature_set(const json& features) {
    if (!features.is_array()) return {text_of(features)};
    std::set<std::string> names;
    for (const json& feature : features) names.insert(text_of(feature));
    return names;
}

std::string in_a_row(const std::set<std::string>& names) {
    return joined(names, std::identity(), " ");
}

using Parts = std::map<std::string, std::string>;

/// Adds those of these members that `object` has.
void add_members(Parts& parts, const std::string& prefix, const json& object,
                 std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (const json& value = member(object, name); !value.is_null())
            parts[prefix + name] = text_of(value);
}

/// The parts of a "machine" object that decide copy speed, by name. The fingerprint and the list of
/// differences both come from here, so that they cannot disagree. Missing members are left out.
Parts deciding_parts(const json& machine) {
    Parts parts;
    const json& cpu = member(machine, "cpu");
    add_members(parts, "cpu.", cpu, {"vendor", "family", "model", "stepping"});
    add_members(parts, "", machine, {"cpus", "hypervisor", "libc"});
    if (const json& features = member(cpu, "features"); !features.is_null())
        parts["cpu.features"] = in_a_row(feature_set(features));
    if (const json& memory = member(machine, "memory_bytes"); !memory.is_null())
        parts["memory"] = gib_text(memory);
    if (const json& caches = member(machine, "caches"); caches.is_array())
        for (const json& cache : caches) {
            std::string& part = parts["caches.L" + text_of(member(cache, "level")) + " " +
                                      text_of(member(cache, "type"))];
            part += (part.empty() ? "" : " and ") + cache_text(cache);
        }
    if (const json& thresholds = member(machine, "libc_thresholds"); thresholds.is_object())
        for (const auto& [name, value] : thresholds.items())
            parts["libc_thresholds." + profile_name(name)] = text_of(value);
    return parts;
}

/// The memory modules decide, too, but do not belong to the fingerprint. Some users cannot read
/// them, and profiles of before they were recorded shall stay valid.
Parts module_parts(const json& machine) {
    Parts parts;
    const json& memory = member(machine, "memory");
    add_members(parts, "memory.", memory, {"type", "modules", "channels", "edac_channels"});
    if (const json& speed = member(memory, "speed_mts"); !speed.is_null())
        parts["memory.speed"] = text_of(speed) + " MT/s";
    return parts;
}

/// "Cortex-A55 r1p0 (0-3), Cortex-A76 r3p0 (4-7)".
std::string kinds_of(const json& cpu) {
    const json& kinds = member(cpu, "kinds");
    if (!kinds.is_array()) return "";
    return joined(kinds, [](const json& kind) {
        return text_of(member(kind, "brand")) + " (" + text_of(member(kind, "cpus")) + ')';
    });
}

/// The parts that routine updates and other programs change, and the CPUs of another kind than the
/// profile's. Unreadable parts are empty.
Parts harmless_parts(const json& machine) {
    Parts parts;
    add_members(parts, "cpu.", member(machine, "cpu"), {"brand", "microcode"});
    add_members(parts, "", machine, {"kernel", "huge_pages", "smaller_huge_pages", "governor"});
    std::erase_if(parts, [](const auto& part) { return part.second.empty(); });
    if (const std::string kinds = kinds_of(member(machine, "cpu")); !kinds.empty())
        parts["cpu.kinds"] = kinds;
    return parts;
}

/// The features of the one list that the other lacks: the whole lists would hide the difference.
std::string feature_difference(const json& recorded, const json& current) {
    const std::set<std::string> there = feature_set(member(member(recorded, "cpu"), "features"));
    const std::set<std::string> here = feature_set(member(member(current, "cpu"), "features"));
    std::set<std::string> only_there, only_here;
    std::ranges::set_difference(there, here, std::inserter(only_there, only_there.end()));
    std::ranges::set_difference(here, there, std::inserter(only_here, only_here.end()));
    std::string line = "cpu.features:";
    if (!only_there.empty()) line += " " + in_a_row(only_there) + " only in the profile";
    if (!only_there.empty() && !only_here.empty()) line += ",";
    if (!only_here.empty()) line += " " + in_a_row(only_here) + " only here";
    return line;
}

} // namespace

json to_json(const Machine& machine) {
    json features = json::array(), caches = json::array(), thresholds = json::object();
    for (const std::string& feature : machine.cpu.features)
        features.push_back(profile_name(feature));
    for (const Cache& cache : machine.caches)
        caches.push_back({{"level", cache.level},
                          {"type", profile_name(cache.type)},
                          {"bytes", cache.bytes},
                          {"line_bytes", cache.line_bytes},
                          {"ways", cache.ways},
                          {"shared_by", cache.shared_by}});
    for (const auto& [name, bytes] : machine.libc_thresholds)
        thresholds[profile_name(name)] = bytes;
    json memory = json::object();
    if (!machine.memory.type.empty()) memory["type"] = profile_name(machine.memory.type);
    for (const auto& [name, value] : {std::pair("modules", machine.memory.modules),
                                      {"speed_mts", machine.memory.speed_mts},
                                      {"channels", machine.memory.channels},
                                      {"edac_channels", machine.memory.edac_channels}})
        if (value > 0) memory[name] = value;
    json description = {{"cpu",
                         {{"vendor", profile_name(machine.cpu.vendor)},
                          {"brand", profile_name(machine.cpu.brand)},
                          {"family", machine.cpu.family},
                          {"model", machine.cpu.model},
                          {"stepping", machine.cpu.stepping},
                          {"microcode", profile_name(machine.microcode)},
                          {"features", features},
                          {"invariant_tsc", machine.cpu.invariant_tsc}}},
                        {"caches", caches},
                        {"cpus", machine.cpus},
                        {"memory_bytes", machine.memory_bytes},
                        {"page_bytes", machine.page_bytes},
                        {"huge_pages", profile_name(machine.huge_pages)},
                        {"smaller_huge_pages", profile_name(machine.smaller_huge_pages)},
                        {"kernel", profile_name(machine.kernel)},
                        {"hypervisor", profile_name(machine.cpu.hypervisor)},
                        {"libc", profile_name(machine.libc)},
                        {"libc_thresholds", thresholds},
                        {"governor", profile_name(machine.governor)}};
    if (!memory.empty()) description["memory"] = memory;
    for (const CpuKind& kind : machine.cpu.kinds)
        description["cpu"]["kinds"].push_back(
            {{"brand", profile_name(kind.brand)}, {"cpus", profile_name(kind.cpus)}});
    std::string facts = std::string("architecture=") + kArchitecture + "\n";
    for (const auto& [name, value] : deciding_parts(description))
        facts += name + "=" + value + "\n";
    description["fingerprint"] = text_hash(facts);
    return description;
}

std::vector<Part> compare_machines(const json& recorded_machine, const json& current_machine) {
    const json& recorded_print = member(recorded_machine, "fingerprint");
    const json& current_print = member(current_machine, "fingerprint");
    const bool same_print = recorded_print.is_string() && recorded_print == current_print;

    std::vector<Part> parts;
    const auto shown = [](const Parts& all, const std::string& name) {
        const std::string text = value_in(all, name, "missing");
        return text.empty() ? "none" : text;
    };
    const auto compare = [&](const Parts& recorded, const Parts& here, PartState different,
                             bool lacking_decides) {
        Parts all = recorded;
        all.insert(here.begin(), here.end());
        for (const auto& [name, value] : all) {
            const bool was = recorded.count(name), is = here.count(name);
            Part part{name, different, value_in(recorded, name), value_in(here, name), ""};
            if (!was) {
                if (!lacking_decides || same_print) part.state = PartState::not_recorded;
            } else if (!is) {
                if (!lacking_decides) part.state = PartState::not_readable;
            } else if (part.recorded == part.here) {
                part.state = PartState::same;
            }
            if (part.state == PartState::decides || part.state == PartState::harmless) {
                part.difference = name == "cpu.features" && was && is
                                      ? feature_difference(recorded_machine, current_machine)
                                      : name + ": " + shown(recorded, name) + " in the profile, " +
                                            shown(here, name) + " here";
            }
            parts.push_back(std::move(part));
        }
    };
    compare(deciding_parts(recorded_machine), deciding_parts(current_machine), PartState::decides,
            true);
    // Equal parts under another fingerprint: it was edited, or another version made it.
    const bool decided = contains(parts, PartState::decides, &Part::state);
    if (!decided && !recorded_print.is_null() && !same_print) {
        const std::string was = text_of(recorded_print), is = text_of(current_print);
        parts.push_back({"fingerprint", PartState::decides, was, is,
                         "fingerprint: " + was + " in the profile, " + is + " here"});
    }
    compare(module_parts(recorded_machine), module_parts(current_machine), PartState::decides,
            false);
    compare(harmless_parts(recorded_machine), harmless_parts(current_machine), PartState::harmless,
            false);
    std::ranges::stable_sort(parts, {}, &Part::name);
    return parts;
}

std::vector<std::string> fingerprint_differences(const json& recorded_machine,
                                                 const json& current_machine) {
    std::vector<std::string> differences;
    for (const Part& part : compare_machines(recorded_machine, current_machine))
        if (part.state == PartState::decides) differences.push_back(part.difference);
    return differences;
}

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
