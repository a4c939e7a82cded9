// The profile from JSON, which may be anybody's: says which field is not as it must be.
#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "base/contains.hpp"
#include "profile/profile_fields.hpp"
#include "space/tuple_json.hpp"

namespace asterope {

namespace profile_fields {

namespace {

/// Where a value stands, and of what choices.
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
        const asterope_space& space = *facts_of(place.operation).space;
        into = find_copy(*space.probes, object.at(name), anything);
        if (!into) throw place.at(name).fault("is no probe that this version knows");
        if (looks_at_destination(*into) != object.contains("fetch")) {
            throw place.fault("has other pipelines than its probe chooses among");
        }
    }
    void now_of(Operation operation, ChoiceKind kind) {
        place.operation = operation;
        place.kind = kind;
    }

    static bool anything(std::string_view) { return true; }

    /// Hands `use` a reader of the object, and refuses what that did not ask for.
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

/// Texts reach terminals and C comments.
void require_printable(const std::string& text, const Place& place) {
    const auto printable = [](unsigned char c) { return c >= ' ' && c <= '~'; };
    if (!std::ranges::all_of(text, printable)) {
        throw place.fault("not all printable ASCII");
    }
}

void require_printable_parts(const Json& value, const Place& place) {
    if (value.is_string()) require_printable(value.get<std::string>(), place);
    if (!value.is_structured()) return;
    for (const auto& [name, part] : value.items()) {
        require_printable(name, place.at(name));
        require_printable_parts(part, place.at(name));
    }
}

/// What is read elsewhere, a machine: its texts, and that its parts are no others, as those who
/// compare machines would take what is of another kind for not recorded.
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

template <class T> void read_word(const std::string& name, const Place& place, T& into) {
    std::optional<T> found;
    if constexpr (std::same_as<T, std::string>) {
        found = name;
    } else if constexpr (std::same_as<T, Workload>) {
        found = find_workload(name);
    } else if constexpr (std::same_as<T, Step>) {
        found = find_step(name);
    } else if constexpr (std::same_as<T, Operation>) {
        found = find_operation(name);
    } else {
        const auto* kind = std::ranges::find(kChoiceKinds, name);
        if (kind != kChoiceKinds.end()) found = static_cast<T>(kind - kChoiceKinds.begin());
    }
    if (!found) throw place.fault("is none that this version knows");
    into = *found;
}

void read_pipeline(const Json& value, const Place& place, Candidate& into) {
    const std::optional<Candidate> found = find_candidate(value, Reader::anything);
    const auto is_axis = [&](const std::string& name) {
        return contains(found->axes(), name, &asterope_axis::field);
    };
    bool known = found && operation_of(*found->variant) == place.operation;
    if (known) {
        for (const auto& [name, field] : value.items()) known = known && is_axis(name);
    }
    if (!known) throw place.fault("is no copy that this version knows");
    into = *found;
}

void read_copy(const Json& value, const Place& place, AnyCopy& into) {
    if (place.kind == ChoiceKind::pipelines) {
        return read_pipeline(value, place, into.emplace<Candidate>());
    }
    if (place.kind == ChoiceKind::threads) return read(value, place, into.emplace<ThreadShare>());
    const asterope_kind& kind = place.kind == ChoiceKind::small
                                    ? *facts_of(place.operation).space->small
                                : place.kind == ChoiceKind::aliased ? asterope_aliased_copies
                                                                    : asterope_overlapping_copies;
    const asterope_copy* found = find_copy(kind, value, Reader::anything);
    if (!found || tuple_json(*found).size() != value.size()) {
        throw place.fault("is no copy that this version knows");
    }
    into = found;
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
        require_machine(value, place);
        into = value;
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

/// What no field by itself can be wrong in.
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
