// JSON Schema, as far as ours go: the rules that scripts/asterope/profile.schema.json and
// sample_log.schema.json use. The build hands them over expanded (python -m asterope.schemas).
//
// Rejected: bounds and characters in the tables of fields, which would state each fact twice; and a
// run of asterope-generate, as `check` works on machines without Python.
#include "profile/schema.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "profile/field_reader.hpp"
#include "profile/schema_text.hpp"

namespace asterope {

namespace {

using profile_fields::Json;
using profile_fields::Place;

const Json& schemas() {
    static const Json whole = Json::parse(kSchemaText);
    return whole;
}

bool is_of_type(const Json& value, const std::string& type) {
    if (type == "integer") return value.is_number_integer(); // 8.0 is not one, nor is it in Python
    if (type == "number") return value.is_number();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    return type == "array" ? value.is_array() : value.is_object();
}

/// The library compares a negative number with an unsigned one as if both were unsigned.
bool below(const Json& a, const Json& b) {
    if (a.is_number_unsigned() && b.is_number_unsigned()) {
        return a.get<std::uint64_t>() < b.get<std::uint64_t>();
    }
    return a.get<double>() < b.get<double>();
}

bool matches(const std::string& text, const std::string& pattern) {
    static std::map<std::string, std::regex> known; // to read one takes longer than to use it
    auto found = known.find(pattern);
    if (found == known.end()) found = known.emplace(pattern, pattern).first;
    return std::regex_search(text, found->second);
}

void require(const Json& value, const Json& schema, const Place& place);

void require_members(const Json& value, const Json& schema, const Place& place) {
    static const Json none = Json::object();
    for (const Json& name : schema.value("required", Json::array())) {
        const std::string needed = name.get<std::string>();
        if (!value.contains(needed)) throw place.at(needed).fault("missing");
    }
    if (value.size() > schema.value("maxProperties", value.size())) {
        throw place.fault("has too many fields");
    }
    const auto of = [&](const char* name) -> const Json& {
        const auto found = schema.find(name);
        return found == schema.end() ? none : *found;
    };
    for (const auto& [name, part] : value.items()) {
        bool known = of("properties").contains(name);
        if (known) require(part, of("properties").at(name), place.at(name));
        for (const auto& [pattern, inner] : of("patternProperties").items()) {
            if (!matches(name, pattern)) continue;
            known = true;
            require(part, inner, place.at(name));
        }
        if (!known && !schema.value("additionalProperties", true)) {
            throw place.at(name).fault("unknown field");
        }
    }
}

void require_items(const Json& value, const Json& schema, const Place& place) {
    if (value.size() < schema.value("minItems", std::size_t{0}) ||
        value.size() > schema.value("maxItems", value.size())) {
        throw place.fault("has " + std::to_string(value.size()) + " items, too few or too many");
    }
    if (schema.value("uniqueItems", false)) {
        auto sorted = value.get<std::vector<Json>>();
        std::ranges::sort(sorted);
        if (std::ranges::adjacent_find(sorted) != sorted.end()) {
            throw place.fault("names one thing twice");
        }
    }
    const auto items = schema.find("items");
    if (items == schema.end()) return;
    for (std::size_t i = 0; i < value.size(); ++i) require(value[i], *items, place.at(i));
}

bool holds(const Json& value, const Json& schema) {
    try {
        require(value, schema, {});
        return true;
    } catch (const BadInput&) {
        return false;
    }
}

void require(const Json& value, const Json& schema, const Place& place) {
    if (schema.is_boolean()) return; // `true`: any value
    if (const auto other = schema.find("$ref"); other != schema.end()) {
        const std::string pointer = other->get<std::string>().substr(1); // behind the "#"
        require(value, schemas().at(Json::json_pointer(pointer)), place);
    }
    if (const auto type = schema.find("type"); type != schema.end()) {
        const std::string name = type->get<std::string>();
        const std::string article =
            name[0] == 'i' || name[0] == 'a' || name[0] == 'o' ? "an " : "a ";
        if (!is_of_type(value, name)) throw place.expected(value, (article + name).c_str());
    }
    if (const auto only = schema.find("const"); only != schema.end() && value != *only) {
        throw place.expected(value, only->dump().c_str());
    }
    if (const auto words = schema.find("enum"); words != schema.end()) {
        if (std::ranges::find(*words, value) == words->end()) {
            throw place.expected(value, "one of a few other values");
        }
    }
    if (value.is_number()) {
        if (schema.contains("minimum") && below(value, schema["minimum"])) {
            throw place.fault(value.dump() + " is less than " + schema["minimum"].dump());
        }
        if (schema.contains("maximum") && below(schema["maximum"], value)) {
            throw place.fault(value.dump() + " is more than " + schema["maximum"].dump());
        }
        if (schema.contains("multipleOf") && value.is_number_unsigned() &&
            value.get<std::uint64_t>() % schema["multipleOf"].get<std::uint64_t>() != 0) {
            throw place.fault(value.dump() + " is no multiple of " + schema["multipleOf"].dump());
        }
    } else if (value.is_string()) {
        const std::string& text = value.get_ref<const std::string&>();
        const std::size_t most = schema.value("maxLength", std::size_t{1} << 12);
        if (text.size() > most) {
            throw place.fault("is longer than " + std::to_string(most) + " characters");
        }
        if (schema.contains("pattern") && !matches(text, schema["pattern"])) {
            throw place.fault("has characters that do not belong there");
        }
    } else if (value.is_object()) {
        require_members(value, schema, place);
    } else if (value.is_array()) {
        require_items(value, schema, place);
    }
    for (const Json& one : schema.value("allOf", Json::array())) require(value, one, place);
    if (schema.contains("if") && holds(value, schema["if"])) require(value, schema["then"], place);
}

} // namespace

void require_profile_schema(const Json& profile) {
    require(profile, schemas(), {});
}

void require_log_schema(const Json& header) {
    require(header, schemas().at("log"), {});
}

} // namespace asterope
