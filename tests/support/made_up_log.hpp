// Logs of searches that never were: of machines whose truth is known.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/contains.hpp"
#include "machine/cpu.hpp"
#include "search/race.hpp"
#include "space/space.hpp"
#include "timing/workload.hpp"

namespace asterope {

/// Its lines; tests change them before they write them.
struct MadeUpLog {
    nlohmann::json header;
    std::vector<nlohmann::json> calibrations, lines;

    std::string text() const {
        std::string text = header.dump() + "\n{\"step\":\"calibration\"}\n";
        for (const nlohmann::json& line : calibrations) text += line.dump() + '\n';
        for (const nlohmann::json& line : lines) text += line.dump() + '\n';
        return text;
    }
    void step(const std::string& name) { lines.push_back({{"step", name}}); }
    void trial(std::size_t size, Workload workload, const std::string& candidate,
               std::uint64_t round, double ns, std::size_t calls = 10, double untimed_us = 5) {
        const nlohmann::json calibration = {
            {"size", size}, {"workload", name_of(workload)}, {"calls", calls}, {"seconds", 1e-7}};
        if (!contains(calibrations, calibration)) calibrations.push_back(calibration);
        lines.push_back({{"size", size},
                         {"workload", name_of(workload)},
                         {"candidate", candidate},
                         {"round", round},
                         {"ns", ns},
                         {"us", ns * static_cast<double>(calls) / 1000 + untimed_us}});
    }
};

/// Of a CPU without any feature, of an exhaustive search of the paper's space for `hot`.
inline nlohmann::json made_up_header() {
    const nlohmann::json none = nlohmann::json::array();
    return {{"format", "asterope-trials"},
            {"version", 2},
            {"architecture", kArchitecture},
            {"tool_version", "0.1.0"},
            {"machine",
             {{"fingerprint", "0123456789abcdef"},
              {"cpu", {{"brand", "Made Up"}, {"features", none}}},
              {"caches", none},
              {"libc", "glibc 2.36"},
              {"libc_thresholds", {{"x86_non_temporal_threshold", 1 << 20}}}}},
            {"space_hash", "0123456789abcdef"},
            {"candidates", 7},
            {"invalid", none},
            {"options",
             {{"rigor", "exhaustive"},
              {"workload", "weights"},
              {"weights", {{"hot", 1.0}}},
              {"weights_given", ""},
              {"sizes", {4096}},
              {"space", "paper"},
              {"sensing", false},
              {"rows", 8},
              {"threads", 1},
              {"small_weights", {{"mix_l1", 1.0}}},
              {"distribution", "fleet"},
              {"distribution_hash", ""},
              {"source_map", ""},
              {"without", none},
              {"operations", {"memcpy"}}}},
            {"sensing", false},
            {"seed", 1},
            {"started", "2026-11-21T10:00:00Z"},
            {"cpu", 1},
            {"warnings", none}};
}

/// The same for `workloads`.
inline MadeUpLog made_up_log(const std::vector<Workload>& workloads) {
    nlohmann::json weights;
    for (const Workload workload : workloads) {
        weights[std::string(name_of(workload))] = 1.0 / static_cast<double>(workloads.size());
    }
    MadeUpLog log;
    log.header = made_up_header();
    log.header["options"]["weights"] = weights;
    return log;
}

/// The paper's space of that CPU.
inline const std::vector<Candidate>& plain_space() {
    static const std::vector<Candidate> space = paper_space([](std::string_view) { return false; });
    return space;
}

/// Adds a step of pipelines: `samples` heats of all `candidates` under each workload, the times
/// given by `ns(candidate, workload)` (an index, or kLibc), in an order that does not matter.
inline void add_pipelines(MadeUpLog& log, std::size_t size, const std::vector<Workload>& workloads,
                          const std::vector<Candidate>& candidates, int samples,
                          const std::function<double(Entrant, Workload)>& ns) {
    log.step("pipelines " + std::to_string(size));
    std::uint64_t round = 0;
    for (int sample = 0; sample < samples; ++sample) {
        for (const Workload workload : workloads) {
            for (std::size_t i = 0; i < candidates.size(); ++i) {
                if (i % 24 == 0) {
                    ++round;
                    for (int j = 0; j < 3; ++j) {
                        log.trial(size, workload, "libc", round, ns(kLibc, workload));
                    }
                }
                log.trial(size, workload, candidates[i].name(), round,
                          ns(static_cast<Entrant>(i), workload));
            }
        }
    }
}

} // namespace asterope
