// Values from JSON, which may be anybody's, by their fields: says which field is not as it must be.
#pragma once

#include <algorithm>
#include <cctype>
#include <limits>
#include <set>

#include "profile/profile_fields.hpp"

namespace asterope::profile_fields {

/// The place of a value, and the choices there.
struct Place {
    std::string path;
    Operation operation = Operation::copy;
    ChoiceKind kind = ChoiceKind::pipelines;

    Place at(const std::string& name) const {
        const bool plain =
            !name.empty() && name.size() <= 64 &&
            std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
        const std::string step =
            plain ? (path.empty() ? "" : ".") + name
                  : '[' + json(name.substr(0, 32)).dump(-1, ' ', true, kReplace) + ']';
        return {path + step, operation, kind};
    }
    Place at(std::size_t index) const {
        return {path + '[' + std::to_string(index) + ']', operation, kind};
    }
    BadInput fault(const std::string& what) const { return BadInput(path + ": " + what); }
    BadInput expected(const Json& value, const char* what) const {
        const std::string shown = value.is_structured()
                                      ? value.is_array() ? "an array" : "an object"
                                      : value.dump(-1, ' ', true, kReplace).substr(0, 40);
        return fault(shown + " where " + what + " is expected");
    }

  private:
    static constexpr auto kReplace = json::error_handler_t::replace;
};

template <class T> void read(const Json& value, const Place& place, T& into);

/// Finds a probe of the operation that the place belongs to.
const asterope_copy* find_probe(const Json& value, const Place& place);
void read_pipeline(const Json& value, const Place& place, Candidate& into);
void read_copy(const Json& value, const Place& place, AnyCopy& into);

/// Texts reach terminals and C comments.
void require_printable(const std::string& text, const Place& place);

struct Reader {
    const Json& object;
    Place place;
    std::set<std::string> known = {};

    template <class T> void operator()(const char* name, T& into) {
        known.insert(name);
        const auto found = object.find(name);
        if (found != object.end()) read(*found, place.at(name), into);
    }
    template <class T> void needed(const char* name, T& into) {
        if (!object.contains(name)) throw place.at(name).fault("missing");
        (*this)(name, into);
    }
    template <class T> void unless_default(const char* name, T& into) { (*this)(name, into); }
    void measured(const char* name, double& into) { (*this)(name, into); }
    template <class T> void positive(const char* name, T& into) {
        needed(name, into);
        if (!(into > 0)) throw place.at(name).fault("not above 0");
    }
    template <class Use> void part(const char* name, const Use& use) {
        known.insert(name);
        static const Json nothing = Json::object();
        const auto found = object.find(name);
        read_object(found == object.end() ? nothing : *found, place.at(name), use);
    }
    void senses(std::optional<SensingCopy>& sensing) {
        if (object.contains("probe")) sensing.emplace();
    }
    void probe(const char* name, const asterope_copy*& into) {
        known.insert(name);
        into = find_probe(object.at(name), place.at(name));
        if ((pipelines_behind(*into) > 2) != object.contains("fetch") ||
            (pipelines_behind(*into) > 3) != object.contains("produce")) {
            throw place.fault("has other pipelines than its probe chooses among");
        }
    }
    void now_of(Operation operation, ChoiceKind kind) {
        place.operation = operation;
        place.kind = kind;
    }

    /// Hands `use` a reader of the object, and refuses fields that `use` did not ask for.
    template <class Use>
    static void read_object(const Json& value, const Place& place, const Use& use,
                            std::set<std::string> known = {}) {
        if (!value.is_object()) throw place.expected(value, "an object");
        Reader reader{value, place, std::move(known)};
        use(reader);
        for (const auto& [name, part] : value.items()) {
            if (!reader.known.count(name)) throw place.at(name).fault("unknown field");
        }
    }
};

template <class T> void read_word(const std::string& name, const Place& place, T& into) {
    std::optional<T> found;
    if constexpr (std::same_as<T, std::string>) {
        found = name;
    } else if constexpr (std::same_as<T, Workload>) {
        found = find_workload(name);
    } else if constexpr (std::same_as<T, Step>) {
        found = find_step(name);
    } else if constexpr (std::same_as<T, Disturbance>) {
        found = parse_disturbance(name);
    } else if constexpr (std::same_as<T, Operation>) {
        found = find_operation(name);
    } else {
        const auto* kind = std::ranges::find(kChoiceKinds, name, &KindFacts::name);
        if (kind != kChoiceKinds.end()) found = static_cast<T>(kind - kChoiceKinds.begin());
    }
    if (!found) throw place.fault("is not known to this version");
    into = *found;
}

template <class T> void read(const Json& value, const Place& place, T& into) {
    if constexpr (is_optional<T>) {
        read(value, place, into.emplace());
    } else if constexpr (Word<T>) {
        if (!value.is_string()) throw place.expected(value, "a string");
        const std::string text = value.get<std::string>();
        require_printable(text, place);
        read_word(text, place, into);
    } else if constexpr (std::same_as<T, AnyCopy>) {
        read_copy(value, place, into);
    } else if constexpr (std::same_as<T, Candidate>) {
        read_pipeline(value, place, into);
    } else if constexpr (std::same_as<T, json>) {
        into = value; // a machine, which the schemas check
    } else if constexpr (Structure<T>) {
        Reader::read_object(value, place, [&](Reader& reader) { fields(reader, into); });
    } else if constexpr (Named<T>) {
        if (!value.is_object()) throw place.expected(value, "an object");
        for (const auto& [name, part] : value.items()) {
            const Place there = place.at(name);
            std::remove_const_t<typename T::value_type::first_type> key;
            typename T::value_type::second_type one{};
            read_word(name, there, key);
            read(part, there, one);
            into.insert(into.end(), {std::move(key), std::move(one)});
        }
    } else if constexpr (List<T>) {
        if (!value.is_array()) throw place.expected(value, "an array");
        for (const Json& part : value) {
            typename T::value_type one{};
            read(part, place.at(into.size()), one);
            into.insert(into.end(), std::move(one));
        }
    } else if constexpr (std::same_as<T, bool>) {
        if (!value.is_boolean()) throw place.expected(value, "a boolean");
        into = value.get<bool>();
    } else if constexpr (std::same_as<T, double>) {
        if (!value.is_number()) throw place.expected(value, "a number");
        into = value.get<double>();
    } else {
        const bool fits =
            std::is_unsigned_v<T> ? value.is_number_unsigned() : value.is_number_integer();
        if (!fits || value > std::numeric_limits<T>::max()) {
            throw place.expected(value, "a sound integer");
        }
        into = value.get<T>();
    }
}

} // namespace asterope::profile_fields
