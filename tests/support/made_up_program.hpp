// A made-up program, and its recording as asterope-record writes it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program/program.hpp"

/// 10 s of processor time, 2 s of it in 1,000 copies of 128 KiB from uncached sources into a cached
/// destination, read soon, and 1 s in 1,000,000 cached ones of 32 bytes.
inline nlohmann::json made_up_recording(const std::string& name = "fetcher") {
    using nlohmann::json;
    const auto interval = [](double value) {
        return json{{"value", value}, {"low", 0.9 * value}, {"high", 1.1 * value}};
    };
    const json none = json::array(), null;
    json bands = none, sets = none;
    const std::vector<json> ends = {64,    256,    1024,    4096,    16384,
                                    65536, 262144, 1048576, 4194304, null};
    json above = 0;
    for (const json& end : ends) {
        json band = {{"above", above}, {"up_to", end}, {"calls", 0},
                     {"bytes", 0},     {"fresh", 0},   {"seconds", interval(0)},
                     {"probed", 0},    {"timed", 0},   {"situations", none}};
        sets.push_back(band);
        band["read"] = null;
        bands.push_back(band);
        above = end;
    }
    const auto fill = [&](json& band, int calls, double seconds, bool source_cached, int soon) {
        band["calls"] = calls;
        band["seconds"] = interval(seconds);
        band["probed"] = band["timed"] = 180;
        band["situations"] = {{{"source_cached", source_cached},
                               {"destination_cached", true},
                               {"calls", 1},
                               {"time", 1}}};
        band["read"] = {{"soon", soon},
                        {"later", 0},
                        {"overwritten", 0},
                        {"not_in_window", 1 - soon},
                        {"watched", 40}};
    };
    fill(bands[0], 1000000, 1, true, 0);
    fill(bands[6], 1000, 2, false, 1);
    return {{"format", "asterope-recording"},
            {"version", 1},
            {"tool_version", "0"},
            {"program", {{"name", name}, {"executable", "/bin/" + name}, {"command", {name}}}},
            {"machine", {{"cpu", "none"}, {"cpus", 1}, {"libc", "none"}}},
            {"started", "2026-11-22T12:00:00Z"},
            {"seconds", 10},
            {"cpu_seconds", 10},
            {"complete", true},
            {"processes", 1},
            {"threads", 1},
            {"sampling",
             {{"period", 1},
              {"drawn", 360},
              {"samples", 360},
              {"timing_ticks", 0},
              {"cached_below_ticks", 100},
              {"tick_hz", 1e9}}},
            {"readers", {{"from", "watchpoints"}, {"window_ms", 1}, {"why", ""}}},
            {"copy_seconds", interval(3)},
            {"share", interval(0.3)},
            {"calls",
             {{{"function", "memcpy"}, {"from", 32}, {"to", 36}, {"calls", 1000000}},
              {{"function", "memmove"}, {"from", 131072}, {"to", 147456}, {"calls", 1000}},
              {{"function", "memset"}, {"from", 64}, {"to", 72}, {"calls", 5}}}},
            {"bands", bands},
            {"memset_bands", sets},
            {"alignments", {{"source", {{1, 0.25}, {16, 0.75}}}, {"destination", {{16, 1.0}}}}},
            {"aliased", 0},
            {"overlapping", 0},
            {"gaps", null},
            {"trace", {{{32, 1, 2}, {33, 3, 4}, {32, 5, 6}, {32, 7, 8}}, {{140000, 0, 0}}}},
            {"places", none},
            {"warnings", none}};
}

/// What that says, in two bands.
inline asterope::Program made_up_program(const std::string& name = "fetcher") {
    using namespace asterope;
    Program program{name,
                    {0.3, 0.27, 0.33},
                    {{0, 1024, 1e6, {0.1, 0.09, 0.11}, {}, 0, {}, 180, 0.0},
                     {1024, kLargestCopy, 1e3, {0.2, 0.18, 0.22}, {}, 0, {}, 180, 1.0}},
                    {name,
                     Distribution({{32, 0.999}, {131072, 0.001}}),
                     Distribution({{1, 0.125}, {16, 0.875}}),
                     {}}};
    program.bands[0].situations[situation_of(true, true)] = 1;
    program.bands[1].situations[situation_of(false, true)] = 1;
    find_sizes(program);
    return program;
}
