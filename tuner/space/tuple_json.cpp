// Goes through the axes of a space, so that a new axis needs no code here.
#include "space/tuple_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "base/contains.hpp"

namespace asterope {

namespace {

nlohmann::json json_of(const AxisValue& value) {
    const int* number = std::get_if<int>(&value);
    return number ? nlohmann::json(*number) : nlohmann::json(std::get<std::string>(value));
}

/// The distance that a tuple gives in `field`: one of the table's where there is such
/// a stage, else 0, which may be left out.
std::optional<int> distance_of(const nlohmann::json& given, bool stage, const int* table,
                               std::size_t count) {
    if (!stage) return given == 0 ? std::optional<int>(0) : std::nullopt;
    const int* found = std::find(table, table + count, given);
    return found == table + count ? std::nullopt : std::optional<int>(*found);
}

/// The tuple's value on an axis, or its default where the tuple leaves it out; null: it must not be
/// left out.
nlohmann::json given_on(const asterope_axis& axis, const nlohmann::json& tuple) {
    const auto found = tuple.find(axis.field);
    if (found != tuple.end()) return *found;
    if (axis.mark && axis.words) return axis.words[0];
    return axis.mark || axis.argument ? nlohmann::json(axis.numbers[0]) : nlohmann::json();
}

/// The variant at the distances that the tuple gives, if the two fit.
std::optional<Candidate> matching(const asterope_variant& variant, const nlohmann::json& tuple) {
    const Candidate candidate{&variant, 0, 0};
    std::optional<int> pd = 0, pw = 0;
    for (const asterope_axis& axis : candidate.axes()) {
        const nlohmann::json given = given_on(axis, tuple);
        if (axis.argument == 1) {
            pd = distance_of(given, candidate.prefetches(), asterope_distances,
                             asterope_distance_count);
        } else if (axis.argument == 2) {
            pw = distance_of(given, candidate.prefetches_destination(), asterope_write_distances,
                             asterope_write_distance_count);
        } else if (given != json_of(candidate.value(axis))) {
            return std::nullopt;
        }
    }
    return pd && pw ? std::optional(Candidate{&variant, *pd, *pw}) : std::nullopt;
}

} // namespace

nlohmann::ordered_json to_json(const Candidate& candidate) {
    nlohmann::ordered_json json;
    for (const asterope_axis& axis : candidate.axes()) {
        if (!axis.mark || candidate.is_marked()) json[axis.field] = json_of(candidate.value(axis));
    }
    return json;
}

std::optional<Candidate> find_candidate(const asterope_space& space, const nlohmann::json& tuple) {
    if (!tuple.is_object()) return std::nullopt;
    for (const auto& [name, value] : tuple.items()) {
        if (!contains(axes(space), name, &asterope_axis::field)) return std::nullopt;
    }
    for (const asterope_variant& variant : variants(space)) {
        if (const auto found = matching(variant, tuple)) return found;
    }
    return std::nullopt;
}

nlohmann::ordered_json tuple_json(const asterope_copy& copy) {
    nlohmann::ordered_json tuple = nlohmann::ordered_json::object();
    for (const asterope_field* field = copy.fields; field->name; ++field) {
        if (field->word) {
            tuple[field->name] = field->word;
        } else {
            tuple[field->name] = field->number;
        }
    }
    return tuple;
}

const asterope_copy* find_copy(const asterope_kind& kind, const nlohmann::json& tuple) {
    const std::span copies(kind.copies, kind.count);
    return find_in(copies, tuple,
                   [](const asterope_copy& copy) -> nlohmann::json { return tuple_json(copy); });
}

} // namespace asterope
