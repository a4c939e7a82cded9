// The fields of a profile: every one is named once here, and writer and reader both go by that.
#pragma once

#include <concepts>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "profile/profile.hpp"

namespace asterope::profile_fields {

using nlohmann::json;
using Json = nlohmann::ordered_json;

/// T, maybe const: the writer sees const values, the reader others.
template <class Value, class T>
concept Is = std::same_as<std::remove_const_t<Value>, T>;

// `f(name, value)` is a field that is always written, unless it is an empty optional.
// `f.needed(name, value)` is one that a reader cannot do without. `f.unless_default(name, value)`
// is written where it differs from its default. `f.measured(name, value)` is a measured number,
// whose fifth digit would be noise. `f.positive(name, value)` is a needed one above 0.
// `f.part(name, [&](auto& f) {...})` is an object, left out where it would be empty.

template <class F> void fields(F& f, Is<Estimate> auto& one) {
    f.measured("median", one.median);
    f.measured("low", one.low);
    f.measured("high", one.high);
}

template <class F> void fields(F& f, Is<Measured> auto& one) {
    f.measured("ns", one.ns);
    f.measured("libc_ns", one.libc_ns);
    f("ratio", one.ratio);
    f("best_ratio", one.best_ratio);
    f.unless_default("best_reference", one.best_reference);
}

template <class F> void fields(F& f, Is<Proof> auto& one) {
    f.needed("samples", one.samples);
    f.needed("rounds", one.rounds);
    f.needed("lead", one.lead);
    f.needed("ties", one.ties);
}

template <class F> void fields(F& f, Is<RunnerUp> auto& one) {
    f.needed("tuple", one.copy);
    f.measured("ratio", one.ratio);
    f("tied", one.tied);
}

template <class F> void fields(F& f, Is<ThreadShare> auto& one) {
    f.needed("threads", one.threads);
    f.needed("chunk", one.chunk);
}

template <class F> void fields(F& f, Is<PageStage> auto& one) {
    f.needed("stage", one.stage);
    f.needed("piece", one.piece);
}

template <class F> void fields(F& f, Is<OfBest> auto& one) {
    f.measured("mean", one.mean);
    f.measured("worst", one.worst);
}

template <class F> void timed_fields(F& f, auto& one) {
    f.measured("ratio", one.ratio);
    f.unless_default("gb_per_s", one.gb_per_s);
    f.unless_default("workloads", one.workloads);
}

template <class F> void copies_fields(F& f, Is<Choice> auto& one) {
    f.senses(one.sensing);
    if (!one.sensing) return f.needed("taken", one.copy);
    auto& sensing = *one.sensing;
    f.probe("probe", sensing.probe);
    f.needed("threshold", sensing.threshold.ticks);
    f.needed("hot", sensing.hot);
    f.needed("cold", sensing.cold);
    f("fetch", sensing.fetch);
    f("produce", sensing.produce);
    f.needed("plain", one.copy);
}

template <class F> void evidence_fields(F& f, Is<Choice> auto& one) {
    timed_fields(f, one);
    f("tied", one.tied);
    if (one.sensing) {
        f.part("plain", [&](auto& plain) { timed_fields(plain, one.plain); });
        f.measured("cached_ticks", one.sensing->threshold.cached_ticks);
        f.measured("uncached_ticks", one.sensing->threshold.uncached_ticks);
    }
    f("proof", one.proof);
    f.unless_default("runners_up", one.runners_up);
    f.unless_default("noise_floor", one.noise_floor);
    f.unless_default("undecided", one.undecided);
    f("of_best", one.of_best);
}

template <class F> void fields(F& f, Is<Choice> auto& one) {
    f.needed("operation", one.operation);
    f.needed("kind", one.kind);
    f("intent", one.intent);
    f.needed("above", one.above);
    f.needed("up_to", one.up_to);
    f.unless_default("size", one.size);
    f.now_of(one.operation, one.kind);
    f.part("copies", [&](auto& copies) { copies_fields(copies, one); });
    f.part("evidence", [&](auto& evidence) { evidence_fields(evidence, one); });
}

template <class F> void fields(F& f, Is<LeftOut> auto& one) {
    f("sizes", one.sizes);
    f("steps", one.steps);
}

template <class F> void fields(F& f, Is<DisturbanceCounts> auto& one) {
    f.needed("rounds", one.rounds);
    f.needed("disturbed", one.disturbed);
    f.needed("repeated", one.repeated);
    f.needed("kept", one.kept);
    f.needed("provisional", one.provisional);
    f.unless_default("reason", one.reason);
}

template <class F> void fields(F& f, Is<std::pair<std::string, std::string>> auto& invalid) {
    f("candidate", invalid.first);
    f("reason", invalid.second);
}

template <class F> void fields(F& f, Is<SearchFacts> auto& one) {
    f.unless_default("tool_version", one.tool_version);
    f.unless_default("space", one.space);
    f.unless_default("candidates", one.candidates);
    f("axes", one.axes);
    f.unless_default("no_sensing", one.no_sensing);
    f("extended_candidates", one.extended_candidates);
    f.unless_default("rigor", one.rigor);
    f("workload", one.workload);
    f.unless_default("weights", one.weights);
    f.unless_default("distribution", one.distribution);
    f("threads", one.threads);
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
    f.unless_default("memory_nodes", one.memory_nodes);
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
    f("rounds", one.rounds);
}

template <class F> void fields(F& f, Is<ExamRounds> auto& one) {
    f("count", one.count);
    f("median", one.median);
    f("slowest", one.slowest);
    f("floor", one.floor);
}

template <class F> void fields(F& f, Is<Profile> auto& one) {
    f.needed("complete", one.complete);
    f.unless_default("source", one.source);
    f("machine", one.machine);
    f("search", one.search);
    f.unless_default("left_out", one.left_out);
    f("merged", one.merged);
    f.unless_default("exam", one.exam);
    f.needed("choices", one.choices);
}

// --- What values are -------------------------------------------------------------------------

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
} && !std::same_as<typename T::value_type::second_type, std::string>;

struct Writer;

template <class T>
concept Structure = requires(Writer& f, T& value) {
    fields(f, value);
};

/// Values that a name stands for.
template <class T>
concept Word = std::same_as<T, Workload> || std::same_as<T, Step> || std::same_as<T, Operation> ||
    std::same_as<T, ChoiceKind> || std::same_as<T, Disturbance> || std::same_as<T, std::string>;

} // namespace asterope::profile_fields
