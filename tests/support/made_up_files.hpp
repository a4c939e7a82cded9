// Files of made-up runs: a log's first line, and a recording.
#pragma once

#include <nlohmann/json.hpp>

#include "machine/cpu.hpp"

namespace asterope {

/// A log's, of a CPU without any feature, of an exhaustive search of the paper's space for `hot`.
inline nlohmann::json made_up_header() {
    nlohmann::json header = nlohmann::json::parse(R"({
        "format": "asterope-trials", "version": 2, "tool_version": "0.1.0",
        "machine": {"fingerprint": "0123456789abcdef",
                    "cpu": {"brand": "Made Up", "features": []}, "caches": [],
                    "libc": "glibc 2.36",
                    "libc_thresholds": {"x86_non_temporal_threshold": 1048576}},
        "space_hash": "0123456789abcdef", "candidates": 7, "invalid": [],
        "options": {"rigor": "exhaustive", "workload": "weights", "weights": {"hot": 1.0},
                    "weights_given": "", "sizes": [4096], "space": "paper", "sensing": false,
                    "rows": 8, "threads": 1, "small_weights": {"mix_l1": 1.0},
                    "distribution": "fleet", "distribution_hash": "", "source_map": "",
                    "without": [], "operations": ["memcpy"]},
        "sensing": false, "seed": 1, "started": "2026-11-21T10:00:00Z", "cpu": 1,
        "warnings": []})");
    header["architecture"] = kArchitecture;
    return header;
}

/// As asterope-record might have written it.
inline nlohmann::json made_up_recording() {
    return nlohmann::json::parse(R"({
        "format": "asterope-recording", "version": 2, "tool_version": "0.1.0",
        "program": {"command": ["./fetcher"], "executable": "/fetcher", "name": "fetcher"},
        "machine": {"cpu": "AMD EPYC", "cpus": 2, "libc": "glibc 2.36"}, "complete": true,
        "calls": [{"function": "memcpy", "from": 32, "to": 34, "calls": 1200}],
        "sizes": [[0, 10], [32, 900], [33, 300.5], [3000, 70]],
        "bands": [{"from": 0, "to": 64, "calls": 1, "bytes": 1, "share": 0.1}]})");
}

} // namespace asterope
