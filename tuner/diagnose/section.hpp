// A section of a diagnosis: one pitfall, its measurements, and their meaning.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "diagnose/winners.hpp"
#include "machine/machine.hpp"
#include "run/run_timings.hpp"
#include "timing/arena.hpp"
#include "timing/timings_by.hpp"

namespace asterope::diagnosis {

/// The input of every section.
struct Context {
    const Machine& machine;
    const Winners& winners;
    const Arena& arena;
    std::size_t largest_copy; ///< bytes; one and 4 MiB more fit in each side of the arena
    int rounds;
    std::vector<int> other_cpus; ///< that this process may use, besides the one it is pinned to
    RunTimings& timings;         ///< of all; a section advances the progress line by 1 in all
    TimingsBy& source;           ///< where their figures come from
};

struct Section {
    std::string name = {};                 ///< as --only has it
    std::string question = {};             ///< the question that it answers
    std::vector<std::string> columns = {}; ///< of the table
    /// Of the table: the first column names the row.
    std::vector<std::vector<std::string>> cells = {};
    nlohmann::ordered_json rows = nlohmann::ordered_json::array(); ///< all measurements
    std::vector<std::string> notes = {};                           ///< notes that the reader needs
    std::string verdict = {};                                      ///< one sentence
    std::string skipped = {}; ///< why nothing was measured; empty where something was
};

/// Title, table, notes and verdict, as they are printed.
std::string to_text(const Section& section);
nlohmann::ordered_json to_json(const Section& section);

/// "6.1 ns", "12.3 us", "4.5 ms".
std::string format_time(double seconds);
/// To three digits: "1.08", "25.1", "446".
std::string format_factor(double factor);

} // namespace asterope::diagnosis
