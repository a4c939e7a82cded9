// The results as other programs read them: JSON and CSV.
#include "bench/files.hpp"

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "base/version.hpp"
#include "profile/provisional.hpp"

namespace asterope {

namespace {

nlohmann::ordered_json estimate_json(const Estimate& estimate) {
    return {{"median", estimate.median}, {"low", estimate.low}, {"high", estimate.high}};
}

nlohmann::ordered_json cell_json(const Cell& cell) {
    nlohmann::ordered_json json = {
        {"suite", cell.suite}, {"workload", cell.workload}, {"label", cell.label}};
    if (cell.size) json["size"] = cell.size;
    json["threads"] = cell.threads;
    if (!cell.weighting.empty()) json["weighting"] = cell.weighting;
    json["noise_floor"] = estimate_json(cell.floor);
    const bool any = std::any_of(cell.copies.begin(), cell.copies.end(),
                                 [](const CopyResult& copy) { return copy.reference; });
    if (any) {
        json["best_reference"] = cell.best_reference().copy;
        json["best_ratio"] = estimate_json(cell.best_ratio());
    }
    for (const CopyResult& copy : cell.copies) {
        nlohmann::ordered_json& own = json["copies"][copy.copy];
        own["ns"] = copy.seconds * 1e9;
        if (&copy != &cell.libc()) own["ratio"] = estimate_json(copy.ratio);
        if (&copy != &cell.routine()) own["versus"] = estimate_json(copy.versus);
    }
    return json;
}

/// A field that others may have named: quoted where it must be.
std::string field(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == text.npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
}

} // namespace

nlohmann::ordered_json results_json(const RunFacts& facts, const std::vector<Cell>& cells,
                                    bool complete) {
    nlohmann::ordered_json json = {
        {"format", "asterope-bench"}, {"version", 2},
        {"tool_version", kVersion},   {"machine", to_json(facts.machine)},
        {"rounds", facts.rounds},     {"operation", name_of(facts.operation)}};
    if (facts.operation == Operation::set) json["byte"] = facts.byte;
    json["distribution"] = profile_name(facts.distribution);
    json["complete"] = complete;
    json["noise"] = noise_json(facts.noise);
    json["copies"] = nlohmann::ordered_json::array();
    for (const Contender& contender : facts.contenders) {
        json["copies"].push_back(
            {{"name", contender.name}, {"description", contender.description}});
        if (contender.threaded) json["copies"].back()["threaded"] = true;
        if (contender.ours) json["copies"].back()["ours"] = true;
        if (contender.reference) json["copies"].back()["reference"] = true;
    }
    json["left_out"] = nlohmann::ordered_json::array();
    for (const LeftOutCopy& one : facts.left_out) {
        json["left_out"].push_back({{"name", one.name}, {"reason", one.reason}});
    }
    json["results"] = nlohmann::ordered_json::array();
    for (const Cell& cell : cells) json["results"].push_back(cell_json(cell));
    return json;
}

std::string results_csv(const std::vector<Cell>& cells) {
    std::string out = "suite,workload,label,size,threads,weighting,copy,ns,ratio,low,high,"
                      "floor_low,floor_high\n";
    for (const Cell& cell : cells) {
        for (const CopyResult& copy : cell.copies) {
            out += field(cell.suite) + ',' + field(cell.workload) + ',' + field(cell.label) + ',' +
                   (cell.size ? std::to_string(cell.size) : "") + ',' +
                   std::to_string(cell.threads) + ',' + cell.weighting + ',' + field(copy.copy);
            append(out, ",%.6g,%.4f,%.4f,%.4f,%.4f,%.4f\n", copy.seconds * 1e9, copy.ratio.median,
                   copy.ratio.low, copy.ratio.high, cell.floor.low, cell.floor.high);
        }
    }
    return out;
}

} // namespace asterope
