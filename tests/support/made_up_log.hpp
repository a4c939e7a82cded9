// The first line of a log of a search that never was.
#pragma once

#include <nlohmann/json.hpp>

#include "machine/cpu.hpp"

namespace asterope {

/// Of a CPU without any feature, of an exhaustive search of the paper's space for `hot`.
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

} // namespace asterope
