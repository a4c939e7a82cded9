// The profile from JSON, which may be anybody's: says which field is not as it must be.
#include <algorithm>
#include <map>
#include <tuple>

#include "profile/field_reader.hpp"
#include "space/tuple_json.hpp"

namespace asterope {

namespace profile_fields {

namespace {

void require_printable_parts(const Json& value, const Place& place) {
    if (value.is_string()) require_printable(value.get<std::string>(), place);
    if (!value.is_structured()) return;
    for (const auto& [name, part] : value.items()) {
        require_printable(name, place.at(name));
        require_printable_parts(part, place.at(name));
    }
}

/// The order of choices, which no check of a single field can see.
void require_ascending(std::vector<Choice>& choices) {
    std::map<std::tuple<Operation, ChoiceKind, std::optional<Workload>>, std::size_t> ends;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        Choice& one = choices[i];
        std::size_t& end = ends[{one.operation, one.kind, one.intent}];
        const Place place = Place{"choices"}.at(i);
        if (one.above < end) throw place.fault("the sizes of its kind do not ascend");
        if (one.kind == ChoiceKind::pipelines && one.size == 0) one.size = one.up_to;
        if (one.up_to <= one.above) throw place.at("up_to").fault("not beyond the lower end");
        if (one.size && (one.size <= one.above || one.size > one.up_to)) {
            throw place.at("size").fault("not among the sizes of the choice");
        }
        end = one.up_to;
    }
    if (!ends.count({Operation::copy, ChoiceKind::pipelines, std::nullopt})) {
        throw BadInput("choices: no pipelines of memcpy");
    }
}

} // namespace

void require_printable(const std::string& text, const Place& place) {
    const auto printable = [](unsigned char c) { return c >= ' ' && c <= '~'; };
    if (!std::ranges::all_of(text, printable)) {
        throw place.fault("not all printable ASCII");
    }
}

void require_machine(const Json& value, const Place& place) {
    if (!value.is_object()) throw place.expected(value, "an object");
    require_printable_parts(value, place);
    for (const char* name : {"cpu", "memory", "libc_thresholds"}) {
        const auto part = value.find(name);
        if (part == value.end() || part->is_object()) continue;
        throw place.at(name).expected(*part, "an object");
    }
    const auto caches = value.find("caches");
    if (caches == value.end() || caches->is_array()) return;
    throw place.at("caches").expected(*caches, "an array");
}

const asterope_copy* find_probe(const Json& value, const Place& place) {
    // Sets have no probes: the caches that the last set left would choose the next one.
    const asterope_kind* probes = find_kind(*facts_of(place.operation).space, "probes");
    const asterope_copy* found = probes ? find_copy(*probes, value) : nullptr;
    if (!found) throw place.fault("is no probe that this version knows");
    return found;
}

void read_pipeline(const Json& value, const Place& place, Candidate& into) {
    const auto found = find_candidate(*facts_of(place.operation).space, value);
    if (!found) throw place.fault("is no copy that this version knows");
    into = *found;
}

void read_copy(const Json& value, const Place& place, AnyCopy& into) {
    if (place.kind == ChoiceKind::pipelines) {
        return read_pipeline(value, place, into.emplace<Candidate>());
    }
    if (place.kind == ChoiceKind::threads) return read(value, place, into.emplace<ThreadShare>());
    const asterope_kind* kind =
        find_kind(*facts_of(place.operation).space, facts_of(place.kind).name);
    const asterope_copy* found = kind ? find_copy(*kind, value) : nullptr;
    if (!found) throw place.fault("is no copy that this version knows");
    into = found;
}

} // namespace profile_fields

Profile profile_of(const nlohmann::ordered_json& json) {
    using profile_fields::Reader;
    Profile profile;
    Reader::read_object(json, {}, [&](Reader& reader) { profile_fields::fields(reader, profile); },
                        {"format", "version", "architecture"});
    profile_fields::require_ascending(profile.choices);
    return profile;
}

} // namespace asterope
