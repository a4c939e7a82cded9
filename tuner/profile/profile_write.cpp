// The profile as JSON, written.
#include "base/statistics.hpp"
#include "machine/cpu.hpp"
#include "profile/profile_fields.hpp"
#include "profile/provisional.hpp"
#include "space/tuple_json.hpp"

namespace asterope {

namespace profile_fields {

namespace {

std::string text_of(const std::string& name) {
    return name;
}

std::string text_of(Workload workload) {
    return name_of(workload);
}

std::string text_of(Step step) {
    return title_of(step);
}

std::string text_of(Operation operation) {
    return name_of(operation);
}

std::string text_of(ChoiceKind kind) {
    return kChoiceKinds[static_cast<std::size_t>(kind)];
}

template <class T> Json write(const T& value);

struct Writer {
    Json& object;

    template <class T> void operator()(const char* name, const T& value) {
        if constexpr (is_optional<T>) {
            if (value) object[name] = write(*value);
        } else {
            object[name] = write(value);
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
        if (!is_default) object[name] = write(value);
    }
    void measured(const char* name, double value) { object[name] = rounded(value, 4); }
    template <class Use> void part(const char* name, const Use& use) {
        Json inner = Json::object();
        Writer writer{inner};
        use(writer);
        if (!inner.empty()) object[name] = std::move(inner);
    }
    /// Those of copies: a recording knows of no others.
    void senses(const std::optional<SensingCopy>&) {}
    void probe(const char* name, const asterope_copy* probe) { object[name] = tuple_json(*probe); }
    void now_of(Operation, ChoiceKind) {}
};

template <class T> Json write(const T& value) {
    if constexpr (std::same_as<T, double>) {
        return rounded(value);
    } else if constexpr (Word<T>) {
        return text_of(value);
    } else if constexpr (std::same_as<T, AnyCopy>) {
        return std::visit([](const auto& copy) { return write(copy); }, value);
    } else if constexpr (std::same_as<T, Candidate>) {
        return to_json(value);
    } else if constexpr (std::same_as<T, const asterope_copy*>) {
        return tuple_json(*value);
    } else if constexpr (Structure<const T>) {
        Json object = Json::object();
        Writer writer{object};
        fields(writer, value);
        return object;
    } else if constexpr (Named<T>) {
        Json object = Json::object();
        for (const auto& [name, one] : value) object[text_of(name)] = write(one);
        return object;
    } else if constexpr (List<T>) {
        Json array = Json::array();
        for (const auto& one : value) array.push_back(write(one));
        return array;
    } else {
        return value;
    }
}

} // namespace

} // namespace profile_fields

nlohmann::ordered_json to_json(const Profile& profile) {
    nlohmann::ordered_json written = {
        {"format", kProfileFormat}, {"version", kProfileVersion}, {"architecture", kArchitecture}};
    profile_fields::Writer writer{written};
    profile_fields::fields(writer, profile);
    return written;
}

nlohmann::ordered_json noise_json(const DisturbanceCounts& noise) {
    return profile_fields::write(noise);
}

} // namespace asterope
