// A made-up program, and its recording as asterope-record writes it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program/program.hpp"

/// 10 s of processor time, 2 s of it in 1,000 copies of 128 KiB from uncached sources into a cached
/// destination, read soon, and 1 s in 1,000,000 cached ones of 32 bytes. Bands: 1 KiB, no end.
inline nlohmann::json made_up_recording(const std::string& name = "fetcher") {
    const auto band = [](std::size_t above, nlohmann::json up_to, double seconds, double calls,
                         bool source_cached, double soon) {
        return nlohmann::json{
            {"above", above},
            {"up_to", up_to},
            {"calls", calls},
            {"bytes", 0},
            {"seconds", {{"value", seconds}, {"low", 0.9 * seconds}, {"high", 1.1 * seconds}}},
            {"probed", 180},
            {"fresh", 0},
            {"timed", 180},
            {"situations",
             {{{"source_cached", source_cached},
               {"destination_cached", true},
               {"calls", 1.0},
               {"time", 1.0}}}},
            {"read",
             {{"soon", soon},
              {"later", 0},
              {"overwritten", 0},
              {"not_in_window", 1 - soon},
              {"watched", 40}}}};
    };
    return {{"format", "asterope-recording"},
            {"version", 1},
            {"program", {{"name", name}, {"executable", "/bin/" + name}, {"command", {name}}}},
            {"cpu_seconds", 10.0},
            {"share", {{"value", 0.3}, {"low", 0.27}, {"high", 0.33}}},
            {"calls",
             {{{"function", "memcpy"}, {"from", 32}, {"to", 36}, {"calls", 1000000}},
              {{"function", "memmove"}, {"from", 131072}, {"to", 147456}, {"calls", 1000}},
              {{"function", "memset"}, {"from", 64}, {"to", 72}, {"calls", 5}}}},
            {"bands", {band(0, 1024, 1, 1000000, true, 0), band(1024, nullptr, 2, 1000, false, 1)}},
            {"alignments", {{"source", {{1, 0.25}, {16, 0.75}}}, {"destination", {{16, 1.0}}}}},
            {"trace", {{{32, 1, 2}, {33, 3, 4}, {32, 5, 6}, {32, 7, 8}}, {{140000, 0, 0}}}}};
}

/// What that says.
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
