// One list of fields for each structure serves the reader and the writer.
#include "run/log_header.hpp"

#include "machine/cpu.hpp"
#include "profile/field_reader.hpp"
#include "profile/field_writer.hpp"
#include "profile/schema.hpp"

namespace asterope {

namespace profile_fields {

template <class F> void fields(F& f, Is<NamedReference> auto& one) {
    f.needed("name", one.name);
    f.needed("hash", one.hash);
}

template <class F> void fields(F& f, Is<Standing::Row> auto& one) {
    f.needed("up_to", one.up_to);
    f.needed("pipelines", one.pipelines);
}

template <class F> void fields(F& f, Is<Standing> auto& one) {
    f.needed("rows", one.rows);
    f.needed("small", one.small);
}

/// The fields that all runs have for copies, and some runs for other operations.
void field_of(auto& f, const OperationFacts& operation, const char* name, auto& value) {
    const std::string whole = operation.prefix + std::string(name);
    if (operation.operation == Operation::copy) return f.needed(whole.c_str(), value);
    f.unless_default(whole.c_str(), value);
}

template <class F> void fields(F& f, Is<SearchOptions> auto& one) {
    f.needed("rigor", one.rigor);
    f.needed("workload", one.workload);
    f.needed("weights", one.weights);
    f.needed("weights_given", one.weights_given);
    f.needed("space", one.space);
    f.needed("sensing", one.sensing);
    f.needed("rows", one.rows);
    f.needed("threads", one.threads);
    f.needed("small_weights", one.small_weights);
    f.needed("distribution", one.distribution);
    f("distribution_hash", one.distribution_hash);
    f.needed("source_map", one.source_map);
    f.unless_default("interleave", one.interleave);
    f.needed("without", one.without);
    f.needed("operations", one.operations);
    for (const OperationFacts& facts : kOperations) {
        auto& own = one.of(facts.operation);
        const std::string prefix = facts.prefix;
        field_of(f, facts, "sizes", own.sizes);
        f.unless_default((prefix + "references").c_str(), own.references);
        f.unless_default((prefix + "standing").c_str(), own.standing);
    }
}

template <class F> void fields(F& f, Is<LogHeader> auto& one) {
    f.needed("tool_version", one.tool_version);
    f.needed("machine", one.machine);
    for (const OperationFacts& facts : kOperations) {
        field_of(f, facts, "space_hash",
                 one.space_hashes[static_cast<std::size_t>(facts.operation)]);
    }
    f.needed("candidates", one.candidates);
    f.needed("invalid", one.invalid);
    f.needed("options", one.options);
    f.needed("sensing", one.sensing);
    f.unless_default("no_sensing", one.no_sensing);
    f.unless_default("memory_nodes", one.memory_nodes);
    f.needed("seed", one.seed);
    f.needed("started", one.started);
    f.needed("cpu", one.cpu);
    f.needed("warnings", one.warnings);
}

} // namespace profile_fields

nlohmann::ordered_json to_json(const LogHeader& header) {
    nlohmann::ordered_json json = {{"format", kSampleLogFormat},
                                   {"version", kSampleLogVersion},
                                   {"architecture", kArchitecture}};
    json.update(profile_fields::write(header, profile_fields::kAllDigits));
    return json;
}

LogHeader log_header_of(const nlohmann::ordered_json& json) {
    using profile_fields::Reader;
    LogHeader header;
    Reader::read_object(json, {}, [&](Reader& reader) { profile_fields::fields(reader, header); },
                        {"format", "version", "architecture"});
    require_log_schema(json);
    return header;
}

Machine machine_of(const LogHeader& header) {
    const nlohmann::json& json = header.machine;
    Machine machine;
    json.at("cpu").at("features").get_to(machine.cpu.features);
    json.at("cpu").at("brand").get_to(machine.cpu.brand);
    json.at("libc").get_to(machine.libc);
    json.at("libc_thresholds").get_to(machine.libc_thresholds);
    for (const nlohmann::json& cache : json.at("caches")) {
        cache.at("bytes").get_to(machine.caches.emplace_back().bytes);
    }
    return machine;
}

} // namespace asterope
