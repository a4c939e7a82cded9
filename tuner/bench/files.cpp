// One JSON object for each cell, under the facts of the run.
#include "bench/files.hpp"

#include <nlohmann/json.hpp>

#include "base/contains.hpp"
#include "base/statistics.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "bench/summary.hpp"
#include "profile/provisional.hpp"

namespace asterope {

namespace {

nlohmann::ordered_json cell_json(const Cell& cell) {
    nlohmann::ordered_json json = {
        {"suite", cell.suite}, {"workload", cell.workload}, {"label", cell.label}};
    if (cell.size) json["size"] = cell.size;
    json["threads"] = cell.threads;
    if (!cell.weighting.empty()) json["weighting"] = cell.weighting;
    json["noise_floor"] = estimate_json(cell.floor);
    if (contains(cell.copies, true, &CopyResult::reference)) {
        json["best_reference"] = cell.best_reference().copy;
        json["best_ratio"] = estimate_json(cell.best_ratio());
    }
    if (const Better better = clearly_better(cell); !better.copy.empty()) {
        json["clearly_better"] = better.copy;
    }
    for (const CopyResult& copy : cell.copies) {
        nlohmann::ordered_json& own = json["copies"][copy.copy];
        own["ns"] = copy.seconds * 1e9;
        if (&copy != &cell.libc()) own["ratio"] = estimate_json(copy.ratio);
        if (&copy != &cell.routine()) own["versus"] = estimate_json(copy.versus);
    }
    return json;
}

} // namespace

nlohmann::ordered_json results_json(const RunFacts& facts, const std::vector<Cell>& cells,
                                    bool complete) {
    nlohmann::ordered_json json = {
        {"format", "asterope-bench"}, {"version", 2},
        {"tool_version", kVersion},   {"machine", to_json(facts.setting.machine)},
        {"rounds", facts.rounds},     {"operation", name_of(facts.setting.operation)}};
    json["distribution"] = profile_name(facts.setting.statistics.name);
    json["complete"] = complete;
    json["noise"] = noise_json(facts.noise);
    json["copies"] = nlohmann::ordered_json::array();
    for (const Contender& contender : facts.setting.contenders) {
        json["copies"].push_back(
            {{"name", contender.name}, {"description", contender.description}});
        if (contender.threaded) json["copies"].back()["threaded"] = true;
        if (contender.ours) json["copies"].back()["ours"] = true;
        if (contender.reference) json["copies"].back()["reference"] = true;
    }
    json["left_out"] = nlohmann::ordered_json::array();
    for (const NotTimed& one : facts.left_out) {
        json["left_out"].push_back({{"name", one.name}, {"reason", one.reason}});
    }
    json["results"] = nlohmann::ordered_json::array();
    for (const Cell& cell : cells) json["results"].push_back(cell_json(cell));
    return json;
}

} // namespace asterope
