// The profile as JSON. Every field is named once, in fields(): writer and reader both go by it.
#include <algorithm>
#include <concepts>

#include "base/rounded.hpp"
#include "machine/cpu.hpp"
#include "profile/profile.hpp"
#include "profile/provisional.hpp"
#include "search/sensing_search.hpp"
#include "space/tuple_json.hpp"

namespace asterope {

namespace {

using nlohmann::json;
using Json = nlohmann::ordered_json;

// --- What the fields are ------------------------------------------------------------------------

/// T, maybe const: the writer sees const values, the reader others.
template <class Value, class T>
concept Is = std::same_as<std::remove_const_t<Value>, T>;

// `f(name, value)` is a field that is always written, unless it is an empty optional;
// `f.unless_default(name, value)` one that is written where it differs from its default,
// `f.measured(name, value)` a measured number, whose fifth digit would be noise, and
// `f.inlined(copy)` are the fields of a copy's tuple.

template <class F> void fields(F& f, Is<Estimate> auto& one) {
    f.measured("median", one.median);
    f.measured("low", one.low);
    f.measured("high", one.high);
}

template <class F> void fields(F& f, Is<Measurement> auto& one) {
    f.measured("ns", one.ns);
    f.measured("libc_ns", one.libc_ns);
    f("ratio", one.ratio);
    f("best_ratio", one.best_ratio);
    f.unless_default("best_reference", one.best_reference);
}

template <class F> void fields(F& f, Is<SharedMeasurement> auto& one) {
    f.measured("ns", one.ns);
    f.measured("alone_ns", one.alone_ns);
    f("ratio", one.ratio);
    f("rounds", one.rounds);
}

template <class F> void fields(F& f, Is<Proof> auto& one) {
    f("samples", one.samples);
    f("rounds", one.rounds);
    f("lead", one.lead);
    f("ties", one.ties);
}

template <class F, class T>
requires requires(T& one) {
    one.copy, one.tied;
}
void fields(F& f, T& one) { // Entry
    f("tuple", one.copy);
    f.measured("ratio", one.ratio);
    f("tied", one.tied);
    f.unless_default("workloads", one.workloads);
}

template <class F> void outcome_fields(F& f, auto& one) {
    f("winner", one.winner);
    f("proof", one.proof);
    f.unless_default("runners_up", one.runners_up);
    f.unless_default("noise_floor", one.noise_floor);
    f.unless_default("undecided", one.undecided);
}

template <class F> void fields(F& f, Is<Sensing> auto& one) {
    f.inlined(one.probe);
    f("threshold", one.threshold);
    f.measured("cached_ticks", one.cached_ticks);
    f.measured("uncached_ticks", one.uncached_ticks);
    f("hot", one.hot);
    f("cold", one.cold);
    f("fetch", one.fetch);
    f.measured("ratio", one.ratio);
    f("workloads", one.workloads);
}

template <class F> void fields(F& f, Is<OfBest> auto& one) {
    f.measured("mean", one.mean);
    f.measured("worst", one.worst);
}

template <class F> void fields(F& f, Is<Interval> auto& one) {
    f("above", one.above);
    f("up_to", one.up_to);
    f("size", one.size);
    outcome_fields(f, one);
    f("sensing", one.sensing);
    f("of_best", one.of_best);
}

template <class F, class T>
requires requires(T& one) {
    one.distribution, one.objective, one.winner;
}
void fields(F& f, T& one) { // SmallOutcomeOf
    f("distribution", one.distribution);
    f("objective", one.objective);
    outcome_fields(f, one);
}

template <class F> void fields(F& f, Is<OverlappingOutcome> auto& one) {
    outcome_fields(f, one);
}

template <class F> void fields(F& f, Is<AliasedOutcome::Winner> auto& one) {
    f("above", one.above);
    f("up_to", one.up_to);
    f("tuple", one.copy);
}

template <class F> void fields(F& f, Is<std::pair<AliasedOutcome::Copy, double>> auto& one) {
    f("tuple", one.first);
    f.measured("gain", one.second);
}

template <class F> void fields(F& f, Is<AliasedOutcome::Size> auto& one) {
    f("size", one.size);
    f("pipeline", one.pipeline);
    f("best", one.best);
    f("best_ratio", one.best_ratio);
    f("gains", one.gains);
    f.unless_default("undecided", one.undecided);
}

template <class F> void fields(F& f, Is<AliasedOutcome> auto& one) {
    f("winner", one.winner);
    f("sizes", one.sizes);
}

template <class F> void fields(F& f, Is<SharedOutcome> auto& one) {
    f("size", one.size);
    f("threads", one.share.threads);
    f("chunk", one.share.chunk);
    f("taken", one.taken);
    f.measured("ratio", one.ratio);
    f("workloads", one.workloads);
    f("noise_floor", one.noise_floor);
}

template <class F> void fields(F& f, Is<ShareInterval> auto& one) {
    f("above", one.above);
    f("up_to", one.up_to);
    f("threads", one.share.threads);
    f("chunk", one.share.chunk);
}

template <class F> void fields(F& f, Is<ThreadsOutcome> auto& one) {
    f("most", one.most);
    f("intervals", one.intervals);
    f("results", one.results);
}

template <class F> void fields(F& f, Is<LeftOut> auto& one) {
    f("sizes", one.sizes);
    f("steps", one.steps);
}

template <class F> void fields(F& f, Is<DisturbanceCounts> auto& one) {
    f("rounds", one.rounds);
    f("disturbed", one.disturbed);
    f("repeated", one.repeated);
    f("kept", one.kept);
    f("provisional", one.provisional);
    f.unless_default("reason", one.reason);
}

template <class F> void fields(F& f, Is<std::pair<std::string, std::string>> auto& invalid) {
    f("candidate", invalid.first);
    f("reason", invalid.second);
}

template <class F> void fields(F& f, Is<SearchFacts> auto& one) {
    f("tool_version", one.tool_version);
    f.unless_default("space", one.space);
    f("candidates", one.candidates);
    f("axes", one.axes);
    f.unless_default("no_sensing", one.no_sensing);
    f("extended_candidates", one.extended_candidates);
    f.unless_default("rigor", one.rigor);
    f("workload", one.workload);
    f("weights", one.weights);
    f("seed", one.seed);
    f("cpu", one.cpu);
    f("started", one.started);
    f("finished", one.finished);
    f("seconds", one.seconds);
    f("trials", one.trials);
    f("invalid", one.invalid);
    f("warnings", one.warnings);
    f("without", one.without);
    f.unless_default("references", one.references);
    f.unless_default("source_map", one.source_map);
    f("time_budget_seconds", one.budget_seconds);
    f.unless_default("resumed", one.resumed);
    f("noise", one.noise);
    f.unless_default("phases", one.phases);
}

template <class F> void fields(F& f, Is<Merged::Source> auto& one) {
    f("name", one.name);
    f.unless_default("rigor", one.rigor);
    f("seed", one.seed);
    f("started", one.started);
    f("finished", one.finished);
    f("trials", one.trials);
    f("machine", one.machine);
}

template <class F> void fields(F& f, Is<Merged> auto& one) {
    f("from", one.from);
    f("sources", one.sources);
}

template <class F> void fields(F& f, Is<ExamLoss> auto& one) {
    f("size", one.size);
    f("workload", one.workload);
    f("ratio", one.ratio);
}

template <class F> void fields(F& f, Is<ExamFacts> auto& one) {
    f("cells", one.cells);
    f("exams", one.exams);
    f("losses", one.losses);
}

template <class F> void fields(F& f, Is<SetOutcome> auto& one) {
    f("weights", one.weights);
    f("candidates", one.candidates);
    f("small", one.small);
    f("intervals", one.intervals);
    f("exam", one.exam);
    f.unless_default("left_out", one.left_out);
}

template <class F> void fields(F& f, Is<Profile> auto& one) {
    f("complete", one.complete);
    f.unless_default("source", one.source);
    f("machine", one.machine);
    f("search", one.search);
    f.unless_default("left_out", one.left_out);
    f("merged", one.merged);
    f("small", one.small);
    if (one.merged) f("overlapping", one.overlapping); // merged profiles always had it here
    f("aliased", one.aliased);
    if (!one.merged) f("overlapping", one.overlapping);
    f("threads", one.threads);
    f("exam", one.exam);
    f("intervals", one.intervals);
    f.unless_default("intents", one.intents);
    f("memset", one.memset);
}

template <class F> void fields(F& f, Is<Intent> auto& one) {
    f("intervals", one.intervals);
}

// --- Writing ------------------------------------------------------------------------------------

template <class T> inline constexpr bool is_copy = std::same_as<T, Candidate>;
template <const asterope_kind& kind> inline constexpr bool is_copy<CopyOf<kind>> = true;

template <class T> inline constexpr bool is_optional = false;
template <class T> inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
concept List = requires(T& list) {
    typename T::value_type;
    list.begin();
}
&&!std::same_as<T, std::string> && !std::same_as<T, json>;

/// Maps, and lists of names with values, which keep their order: objects in JSON.
template <class T>
concept Named = List<T> && requires {
    typename T::value_type::second_type;
} && !std::same_as<typename T::value_type::second_type, std::string> &&
    !is_copy<typename T::value_type::first_type>;

struct AnyField {
    void operator()(const char*, const auto&) {}
    void unless_default(const char*, const auto&) {}
    void measured(const char*, const auto&) {}
    void inlined(const auto&) {}
};

template <class T>
concept Structure = requires(AnyField& f, T& value) {
    fields(f, value);
};

Json tuple_of(const Candidate& copy) {
    return to_json(copy);
}

template <const asterope_kind& kind> Json tuple_of(const CopyOf<kind>& copy) {
    return tuple_json(*copy);
}

std::string text_of(Workload workload) {
    return std::string(name_of(workload));
}

std::string text_of(Step step) {
    return title_of(step);
}

std::string text_of(const std::string& name) {
    return name;
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
    template <class T> void unless_default(const char* name, const T& value) {
        bool is_default;
        if constexpr (requires { value.empty(); }) {
            is_default = value.empty();
        } else {
            is_default = value == T{};
        }
        if (!is_default) object[name] = write(value);
    }
    void measured(const char* name, const std::optional<double>& value) {
        if (value) object[name] = rounded(*value, 4);
    }
    template <class T> void inlined(const T& copy) { object.update(tuple_of(copy)); }
};

template <class T> Json write(const T& value) {
    if constexpr (std::same_as<T, double>) {
        return rounded(value);
    } else if constexpr (std::same_as<T, Step>) {
        return text_of(value);
    } else if constexpr (is_copy<T>) {
        return tuple_of(value);
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

// --- Reading ------------------------------------------------------------------------------------

template <class T> void read(const Json& value, const std::string& place, T& into);

/// What is missing keeps its default.
struct Reader {
    const Json& object;
    const std::string& place;

    template <class T> void operator()(const char* name, T& into) {
        const auto found = object.find(name);
        if (found == object.end()) return;
        read(*found, place.empty() ? name : place + '.' + name, into);
    }
    template <class T> void unless_default(const char* name, T& into) { (*this)(name, into); }
    template <class T> void measured(const char* name, T& into) { (*this)(name, into); }
    template <class T> void inlined(T& copy) { read(object, place, copy); }
};

bool anything(std::string_view) {
    return true;
}

bool find(const json& tuple, Candidate& into) {
    const std::optional<Candidate> found = find_candidate(tuple, anything);
    if (found) into = *found;
    return found.has_value();
}

template <const asterope_kind& kind> bool find(const json& tuple, CopyOf<kind>& into) {
    into.copy = find_copy(kind, tuple, anything);
    return into.copy;
}

void read_name(const std::string& name, const std::string& place, Workload& into) {
    const auto found = find_workload(name);
    if (!found) throw BadInput(place + ": is no workload that this version knows");
    into = *found;
}

void read_name(const std::string& name, const std::string& place, Step& into) {
    const auto found = find_step(name);
    if (!found) throw BadInput(place + ": is no step that this version knows");
    into = *found;
}

void read_name(const std::string& name, const std::string&, std::string& into) {
    into = name;
}

/// The schema has been checked: what is there is of the right type.
template <class T> void read(const Json& value, const std::string& place, T& into) {
    if constexpr (is_optional<T>) {
        read(value, place, into.emplace());
    } else if constexpr (std::same_as<T, Step>) {
        read_name(value.get<std::string>(), place, into);
    } else if constexpr (is_copy<T>) {
        if (!find(value, into)) throw BadInput(place + ": is no copy that this version knows");
    } else if constexpr (Structure<T>) {
        Reader reader{value, place};
        fields(reader, into);
        if constexpr (std::same_as<T, Sensing>) {
            if (looks_at_destination(*into.probe) != into.fetch.has_value()) {
                throw BadInput(place + ": has other pipelines than its probe chooses among");
            }
        }
    } else if constexpr (Named<T>) {
        for (const auto& [name, part] : value.items()) {
            const std::string there = place + '.' + name;
            std::remove_const_t<typename T::value_type::first_type> key;
            typename T::value_type::second_type one{};
            read_name(name, there, key);
            read(part, there, one);
            into.insert(into.end(), {std::move(key), std::move(one)});
        }
    } else if constexpr (List<T>) {
        for (const Json& part : value) {
            typename T::value_type one{};
            read(part, place + '[' + std::to_string(into.size()) + ']', one);
            into.insert(into.end(), std::move(one));
        }
    } else {
        value.get_to(into);
    }
}

} // namespace

Json to_json(const Profile& profile) {
    Json written = {
        {"format", kProfileFormat}, {"version", kProfileVersion}, {"architecture", kArchitecture}};
    Writer writer{written};
    fields(writer, profile);
    return written;
}

Json noise_json(const DisturbanceCounts& noise) {
    return write(noise);
}

Profile profile_of(const Json& json) {
    Profile profile;
    read(json, "", profile);
    return profile;
}

} // namespace asterope
