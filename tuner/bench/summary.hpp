// The summary of the whole comparison: where the routine is best, and where another copy is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/cell.hpp"
#include "space/operation.hpp"

namespace asterope {

/// A copy that is clearly faster than another in a cell, and the factor.
struct Better {
    const Cell* cell;
    std::string copy;
    double factor;
};

/// The copy with the largest clear lead over the routine in `cell`. The interval of the routine's
/// time over that copy's lies above Cell::noise(). So neither chance nor libc's distance from
/// itself explains the lead. Threaded copies do not count, as they take other CPUs' time, nor do
/// the routine's other entry points. `copy` is empty where all copies are slower or close.
Better clearly_better(const Cell& cell);

/// The same against the routine's entry point for the workload; empty if the cell lacks one.
std::optional<Better> clearly_better_than_entry_point(const Cell& cell);

/// Lines for people, with a newline behind the last. They count the cells of each suite in which no
/// copy is clearly better than the routine. They say the same of its entry points where they ran.
/// Its worst ratio to the better of libc and the references follows. Then come the cells where
/// another copy is clearly better, the worst first, at most twenty. Empty without cells.
std::string summary_text(const std::vector<Cell>& cells, Operation operation = Operation::copy);

/// A few lines about the routine's ratios alone, also where peers ran, without counts. Each
/// workload has the geometric mean of its ratios to libc, or to the references where they are
/// faster. Mixes of sizes count as calls and as bytes, and at page ends. The lowest and the highest
/// ratio of all follow. Empty without cells.
std::string brief_text(const std::vector<Cell>& cells, Operation operation = Operation::copy);

/// A line for each cell where the routine loses. There the whole interval of its ratio to the
/// better of libc and the references is under `least`. From 6 rounds on, chance fails at most one
/// in 40 of the cells whose true ratio is `least`. Fewer rounds have less than 95 % confidence.
std::vector<std::string> cells_under(double least, const std::vector<Cell>& cells);

/// "sizes cold 64 KiB", "mix mix_l1 by bytes", "threads hot 4 KiB, 2 threads".
std::string name_of(const Cell& cell);

} // namespace asterope
