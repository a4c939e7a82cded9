// A recording that asterope-record might have written.
#pragma once

#include <nlohmann/json.hpp>

namespace asterope {

inline nlohmann::json made_up_recording() {
    nlohmann::json one = nlohmann::json::parse(R"({
        "format": "asterope-recording", "version": 2, "tool_version": "0.1.0",
        "program": {"command": ["./fetcher"], "executable": "/fetcher", "name": "fetcher"},
        "machine": {"cpu": "AMD EPYC", "cpus": 2, "libc": "glibc 2.36"},
        "started": "2026-11-24T18:25:14Z", "seconds": 0.5, "cpu_seconds": 0.4, "complete": true,
        "unseen": 0.0, "outlived_by": 0, "processes": 1, "threads": 1,
        "sampling": {"period": 8388608, "drawn": 4146, "samples": 4096},
        "copies": {"calls": 1281, "bytes": 9000, "share": 0.5},
        "sets": {"calls": 0, "bytes": 0, "share": 0.0},
        "calls": [{"function": "memcpy", "from": 32, "to": 34, "calls": 1200}],
        "sizes": [[0, 10], [32, 900], [33, 300.5], [3000, 70]],
        "bands": [], "places": [], "warnings": []})");
    for (int i = 0; i < 10; ++i) {
        one["bands"].push_back(
            {{"from", 64 * i}, {"to", 64 * (i + 1)}, {"calls", 1}, {"bytes", 1}, {"share", 0.1}});
    }
    return one;
}

} // namespace asterope
