// Checks values from outside against the schemas of profiles, trial logs and recordings. Of
// JSON Schema's rules it knows those that they use; a test sees to it that they use no other.
// (Rejected: a library. Debian has none for C++, and this is a page.)
#include "base/schema.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>

#include "base/schemas.hpp"

namespace asterope {

namespace {

using nlohmann::json;

const json& profile_schema() {
    static const json schema = json::parse(kProfileSchema);
    return schema;
}

const json& log_schema() {
    static const json schema = json::parse(kTrialLogSchema);
    return schema;
}

/// A value as a message may show it.
std::string shown(const json& value) {
    if (value.is_object()) return "an object";
    if (value.is_array()) return "an array";
    if (!value.is_string()) return value.dump();
    constexpr std::size_t kMost = 32;
    std::string text = value.get<std::string>();
    if (text.size() > kMost) text = text.substr(0, kMost) + "...";
    return json(text).dump(-1, ' ', true, json::error_handler_t::replace);
}

/// `type`: one, or a list of them.
bool is_of_type(const json& value, const json& type) {
    if (type.is_array()) {
        return std::any_of(type.begin(), type.end(),
                           [&](const json& one) { return is_of_type(value, one); });
    }
    if (type == "null") return value.is_null();
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "integer") return value.is_number_integer(); // 8.0 is none, as for generate
    return value.is_number();
}

/// The whole text, as the patterns of the schemas ask by ^ and $.
bool matches(const std::string& text, const std::string& pattern) {
    static std::map<std::string, std::regex> known;
    const auto found = known.try_emplace(pattern, pattern).first;
    return std::regex_match(text, found->second);
}

/// Whether so many are allowed by a rule of the schema, which is a least number or a most one.
bool keeps_bound(std::size_t count, const json& schema, const char* rule, bool least) {
    if (!schema.contains(rule)) return true;
    const auto bound = schema[rule].get<std::size_t>();
    return least ? count >= bound : count <= bound;
}

using Fault = std::optional<std::string>;

/// `root`: the schema that `schema` is a part of.
Fault fault_of(const json& value, const json& schema, const json& root, const std::string& place);

Fault at(const std::string& place, const std::string& what) {
    return (place.empty() ? what : place + ": " + what);
}

std::string inside(const std::string& place, const std::string& key) {
    const bool plain =
        !key.empty() && key.size() <= 64 &&
        std::all_of(key.begin(), key.end(), [](unsigned char c) { return isalnum(c) || c == '_'; });
    if (!plain) return place + '[' + shown(key) + ']';
    return place.empty() ? key : place + '.' + key;
}

Fault fault_of_number(const json& value, const json& schema, const std::string& place) {
    // The library compares signed with unsigned numbers as C does. These hold both exactly.
    const auto number = value.get<long double>();
    if (schema.contains("minimum") && number < schema["minimum"].get<long double>()) {
        return at(place, shown(value) + " is less than " + schema["minimum"].dump());
    }
    if (schema.contains("exclusiveMinimum") &&
        number <= schema["exclusiveMinimum"].get<long double>()) {
        return at(place, shown(value) + " is not above " + schema["exclusiveMinimum"].dump());
    }
    if (schema.contains("maximum") && number > schema["maximum"].get<long double>()) {
        return at(place, shown(value) + " is more than " + schema["maximum"].dump());
    }
    if (schema.contains("multipleOf") && value.is_number_integer() &&
        value.get<std::int64_t>() % schema["multipleOf"].get<std::int64_t>() != 0) {
        return at(place, shown(value) + " is no multiple of " + schema["multipleOf"].dump());
    }
    return std::nullopt;
}

Fault fault_of_text(const json& value, const json& schema, const std::string& place) {
    const auto& text = value.get_ref<const std::string&>();
    // First: the expressions recurse with the length of what they match.
    if (!keeps_bound(text.size(), schema, "maxLength", false)) {
        return at(place,
                  shown(value) + " is longer than " + schema["maxLength"].dump() + " characters");
    }
    if (schema.contains("pattern") && !matches(text, schema["pattern"])) {
        return at(place, shown(value) + " has characters that do not belong there");
    }
    return std::nullopt;
}

Fault fault_of_list(const json& value, const json& schema, const json& root,
                    const std::string& place) {
    if (!keeps_bound(value.size(), schema, "minItems", true) ||
        !keeps_bound(value.size(), schema, "maxItems", false)) {
        return at(place,
                  "a list of " + std::to_string(value.size()) + ", which is too few or many");
    }
    if (schema.value("uniqueItems", false)) {
        json sorted = value;
        std::sort(sorted.begin(), sorted.end());
        if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
            return at(place, "a list with a member twice");
        }
    }
    const json first = schema.value("prefixItems", json::array());
    for (std::size_t i = 0; i < value.size(); ++i) {
        const std::string there = place + '[' + std::to_string(i) + ']';
        if (i < first.size()) {
            if (Fault fault = fault_of(value[i], first[i], root, there)) return fault;
        } else if (schema.contains("items")) {
            if (Fault fault = fault_of(value[i], schema["items"], root, there)) return fault;
        }
    }
    return std::nullopt;
}

Fault fault_of_object(const json& value, const json& schema, const json& root,
                      const std::string& place) {
    for (const json& name : schema.value("required", json::array())) {
        if (!value.contains(name.get_ref<const std::string&>())) {
            return at(inside(place, name), "missing");
        }
    }
    if (!keeps_bound(value.size(), schema, "maxProperties", false)) {
        return at(place, "an object with too many fields");
    }
    const json none = json::object();
    const json& properties = schema.contains("properties") ? schema["properties"] : none;
    const json& patterns =
        schema.contains("patternProperties") ? schema["patternProperties"] : none;
    for (const auto& [key, part] : value.items()) {
        const json* rule = nullptr;
        if (properties.contains(key)) rule = &properties[key];
        for (const auto& [pattern, one] : patterns.items()) {
            if (matches(key, pattern)) rule = &one;
        }
        if (!rule && !schema.value("additionalProperties", true)) {
            return at(inside(place, key), "unknown field");
        }
        if (!rule) continue;
        if (Fault fault = fault_of(part, *rule, root, inside(place, key))) return fault;
    }
    return std::nullopt;
}

Fault fault_of(const json& value, const json& schema, const json& root, const std::string& place) {
    if (schema.contains("$ref")) { // all others than its own lead into the profile's schema
        const auto& reference = schema["$ref"].get_ref<const std::string&>();
        const json& whole = reference.front() == '#' ? root : profile_schema();
        const json::json_pointer pointer(reference.substr(reference.find('#') + 1));
        if (Fault fault = fault_of(value, whole.at(pointer), whole, place)) return fault;
    }
    if (schema.contains("type") && !is_of_type(value, schema["type"])) {
        const json& types = schema["type"];
        const auto& type = (types.is_array() ? types[0] : types).get_ref<const std::string&>();
        const bool vowel = std::string_view("aeiou").find(type.front()) != std::string_view::npos;
        return at(place, shown(value) + " where " + (vowel ? "an " : "a ") + type + " is expected");
    }
    if (schema.contains("const") && value != schema["const"]) {
        return at(place, shown(value) + " where " + schema["const"].dump() + " is expected");
    }
    if (schema.contains("enum")) {
        const json& choices = schema["enum"];
        if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
            std::string names;
            for (const json& choice : choices) {
                names += (names.empty() ? "" : ", ") +
                         (choice.is_string() ? choice.get<std::string>() : choice.dump());
            }
            return at(place, shown(value) + " is none of " + names);
        }
    }
    if (value.is_number()) return fault_of_number(value, schema, place);
    if (value.is_string()) return fault_of_text(value, schema, place);
    if (value.is_array()) return fault_of_list(value, schema, root, place);
    if (value.is_object()) return fault_of_object(value, schema, root, place);
    return std::nullopt;
}

} // namespace

std::string log_header_fault(const json& header) {
    return fault_of(header, log_schema(), log_schema(), "").value_or("");
}

std::string recording_fault(const json& recording) {
    static const json schema = json::parse(kRecordingSchema);
    return fault_of(recording, schema, schema, "").value_or("");
}

std::string log_end_fault(const json& end) {
    return fault_of(end, log_schema().at("/$defs/end"_json_pointer), log_schema(), "").value_or("");
}

} // namespace asterope
