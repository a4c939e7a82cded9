// Values as JSON, by their fields.
#pragma once

#include "base/statistics.hpp"
#include "profile/profile_fields.hpp"
#include "space/tuple_json.hpp"

namespace asterope::profile_fields {

template <Word T> std::string text_of(const T& word) {
    if constexpr (std::same_as<T, std::string>) {
        return word;
    } else if constexpr (std::same_as<T, Step>) {
        return title_of(word);
    } else if constexpr (std::same_as<T, ChoiceKind>) {
        return facts_of(word).name;
    } else {
        return name_of(word);
    }
}

/// Digits of logs: a replay computes with the very numbers that its search had.
inline constexpr int kAllDigits = 0;
/// `digits` of numbers that were not measured.
template <class T> Json write(const T& value, int digits);

struct Writer {
    Json& object;
    int digits = 6;

    template <class T> void operator()(const char* name, const T& value) {
        if constexpr (is_optional<T>) {
            if (value) object[name] = write(*value, digits);
        } else {
            object[name] = write(value, digits);
        }
    }
    template <class T> void needed(const char* name, const T& value) { (*this)(name, value); }
    template <class T> void unless_default(const char* name, const T& value) {
        bool is_default;
        if constexpr (requires { value.empty(); }) {
            is_default = value.empty();
        } else {
            is_default = value == T{};
        }
        if (!is_default) object[name] = write(value, digits);
    }
    void measured(const char* name, double value) { object[name] = rounded(value, 4); }
    template <class T> void positive(const char* name, const T& value) { (*this)(name, value); }
    template <class Use> void part(const char* name, const Use& use) {
        Json inner = Json::object();
        Writer writer{inner, digits};
        use(writer);
        if (!inner.empty()) object[name] = std::move(inner);
    }
    void senses(const std::optional<SensingCopy>&) {}
    void probe(const char* name, const asterope_copy* probe) { object[name] = tuple_json(*probe); }
    void now_of(Operation, ChoiceKind) {}
};

template <class T> Json write(const T& value, int digits) {
    if constexpr (std::same_as<T, double>) {
        return digits ? rounded(value, digits) : value;
    } else if constexpr (Word<T>) {
        return text_of(value);
    } else if constexpr (std::same_as<T, AnyCopy>) {
        return std::visit([&](const auto& copy) { return write(copy, digits); }, value);
    } else if constexpr (std::same_as<T, Candidate>) {
        return to_json(value);
    } else if constexpr (std::same_as<T, const asterope_copy*>) {
        return tuple_json(*value);
    } else if constexpr (Structure<const T>) {
        Json object = Json::object();
        Writer writer{object, digits};
        fields(writer, value);
        return object;
    } else if constexpr (Named<T>) {
        Json object = Json::object();
        for (const auto& [name, one] : value) object[text_of(name)] = write(one, digits);
        return object;
    } else if constexpr (List<T>) {
        Json array = Json::array();
        for (const auto& one : value) array.push_back(write(one, digits));
        return array;
    } else {
        return value;
    }
}

} // namespace asterope::profile_fields
