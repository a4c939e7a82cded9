// Candidates as profiles write them, and back.
#include "space/tuple_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace asterope {

namespace {

/// Whether the tuple has this distance, in `field`: one of the table's where there is such a stage,
/// else 0, which may be left out.
bool has_distance(bool stage, const nlohmann::json& distance, const int* table, std::size_t count) {
    if (!stage) return distance == 0;
    return std::find(table, table + count, distance) != table + count;
}

} // namespace

nlohmann::ordered_json to_json(const Candidate& candidate) {
    const asterope_variant& v = *candidate.variant;
    nlohmann::ordered_json json = {{"rt", v.rt}, {"lt", v.lt}, {"st", v.st},
                                   {"pt", v.pt}, {"ps", v.ps}, {"pd", candidate.pd}};
    if (candidate.axis() != "paper" && candidate.axis() != "movdir64b") {
        json["tb"] = v.tb;
        json["pi"] = v.pi;
        json["pw"] = candidate.pw;
        json["dir"] = v.dir;
    }
    return json;
}

std::optional<Candidate> find_candidate(const nlohmann::json& tuple, const HasFeature& has) {
    if (!tuple.is_object()) return std::nullopt;
    const auto field = [&](const char* key, const nlohmann::json& missing) {
        const auto found = tuple.find(key);
        return found == tuple.end() ? missing : *found;
    };
    const nlohmann::json pd = field("pd", 0), pw = field("pw", 0);
    for (std::size_t i = 0; i < asterope_variant_count; ++i) {
        const asterope_variant& v = asterope_variants[i];
        const bool same = field("rt", {}) == v.rt && field("lt", {}) == v.lt &&
                          field("st", {}) == v.st && field("pt", {}) == v.pt &&
                          field("ps", {}) == v.ps && field("tb", 2) == v.tb &&
                          field("pi", 1) == v.pi && field("dir", "up") == v.dir;
        if (!same || !has_distance(v.ps != 0, pd, asterope_distances, asterope_distance_count) ||
            !has_distance(v.pw != 0, pw, asterope_write_distances, asterope_write_distance_count) ||
            !has_all(v.needs, has)) {
            continue;
        }
        return Candidate{&v, pd.get<int>(), pw.get<int>()};
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
