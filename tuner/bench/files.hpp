// The results as other programs read them: JSON and CSV.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/cell.hpp"
#include "bench/contender.hpp"
#include "machine/machine.hpp"
#include "space/operation.hpp"
#include "timing/disturbed_rounds.hpp"

namespace asterope {

/// What holds for all cells.
struct RunFacts {
    const Machine& machine;
    int rounds;
    Operation operation;
    std::uint8_t byte; ///< what sets set
    std::string distribution;
    const Contenders& contenders;
    const std::vector<LeftOutCopy>& left_out;
    DisturbanceCounts noise;
};

/// Version 2 of the format "asterope-bench", described in README.md here. `complete`: nothing cut
/// it short.
nlohmann::ordered_json results_json(const RunFacts& facts, const std::vector<Cell>& cells,
                                    bool complete);

/// A line for each copy in each cell, behind a line of the columns' names: suite, workload, label,
/// size (bytes, empty for mixes), threads, weighting, copy, ns, then libc's time over the copy's
/// (ratio, low, high), then the interval of libc's over libc's (floor_low, floor_high).
std::string results_csv(const std::vector<Cell>& cells);

} // namespace asterope
