// Candidates as profiles write them, and back.
#include "space/tuple_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace asterope {

namespace {

nlohmann::json json_of(const AxisValue& value) {
    const int* number = std::get_if<int>(&value);
    return number ? nlohmann::json(*number) : nlohmann::json(std::get<std::string>(value));
}

std::size_t index_of(const asterope_axis& axis) {
    return static_cast<std::size_t>(&axis - asterope_axes);
}

/// The distance that a tuple gives in `field`: one of the table's where there is such
/// a stage, else 0, which may be left out.
std::optional<int> distance_of(const nlohmann::json& given, bool stage, const int* table,
                               std::size_t count) {
    if (!stage) return given == 0 ? std::optional<int>(0) : std::nullopt;
    const int* found = std::find(table, table + count, given);
    return found == table + count ? std::nullopt : std::optional<int>(*found);
}

} // namespace

nlohmann::ordered_json to_json(const Candidate& candidate) {
    nlohmann::ordered_json json;
    for (const asterope_axis& axis : axes()) {
        if (!axis.mark || candidate.is_marked()) json[axis.field] = json_of(candidate.value(axis));
    }
    return json;
}

std::optional<Candidate> find_candidate(const nlohmann::json& tuple, const HasFeature& has) {
    if (!tuple.is_object()) return std::nullopt;
    const auto given = [&](const asterope_axis& axis) {
        const auto found = tuple.find(axis.field);
        if (found != tuple.end()) return *found;
        if (axis.mark && axis.words) return nlohmann::json(axis.words[0]);
        return axis.mark || axis.argument ? nlohmann::json(axis.numbers[0]) : nlohmann::json();
    };
    std::vector<nlohmann::json> wanted;
    for (const asterope_axis& axis : axes()) wanted.push_back(given(axis));
    for (std::size_t i = 0; i < asterope_variant_count; ++i) {
        Candidate candidate{&asterope_variants[i], 0, 0};
        const bool same = std::all_of(axes().begin(), axes().end(), [&](const auto& axis) {
            return axis.argument || wanted[index_of(axis)] == json_of(candidate.value(axis));
        });
        if (!same || !has_all(candidate.variant->needs, has)) continue;
        std::optional<int> pd, pw;
        for (const asterope_axis& axis : axes()) {
            if (axis.argument == 1) {
                pd = distance_of(wanted[index_of(axis)], candidate.prefetches(), asterope_distances,
                                 asterope_distance_count);
            } else if (axis.argument == 2) {
                pw = distance_of(wanted[index_of(axis)], candidate.prefetches_destination(),
                                 asterope_write_distances, asterope_write_distance_count);
            }
        }
        if (pd && pw) return Candidate{candidate.variant, *pd, *pw};
    }
    return std::nullopt;
}

nlohmann::ordered_json tuple_json(const asterope_copy& copy) {
    return nlohmann::ordered_json::parse(copy.tuple);
}

const asterope_copy* find_copy(const asterope_kind& kind, const nlohmann::json& tuple,
                               const HasFeature& has) {
    const std::vector<const asterope_copy*> copies = copies_of(kind, has);
    const auto found = std::find_if(copies.begin(), copies.end(), [&](const asterope_copy* copy) {
        const nlohmann::json fields = nlohmann::json::parse(copy->tuple);
        const auto same = [&](const auto& field) {
            return tuple.is_object() && tuple.contains(field.key()) &&
                   tuple.at(field.key()) == field.value();
        };
        return std::all_of(fields.items().begin(), fields.items().end(), same);
    });
    return found == copies.end() ? nullptr : *found;
}

} // namespace asterope
