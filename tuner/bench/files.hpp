// The results as other programs read them: JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "bench/suite.hpp"
#include "timing/disturbed_rounds.hpp"

namespace asterope {

/// The facts that hold for all cells.
struct RunFacts {
    const Setting& setting;
    int rounds;
    const std::vector<NotTimed>& left_out;
    DisturbanceCounts noise;
};

/// Version 2 of the format "asterope-bench", described for the most part in README.md here.
/// `complete`: false if the run was cut short.
nlohmann::ordered_json results_json(const RunFacts& facts, const std::vector<Cell>& cells,
                                    bool complete);

} // namespace asterope
