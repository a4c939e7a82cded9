// A recording that asterope-record might have written.
#pragma once

#include <nlohmann/json.hpp>

namespace asterope {

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
