// "Faster at what?": sizes by workloads in one table.
#pragma once

#include <cstddef>
#include <vector>

#include "arena.hpp"
#include "bench_report.hpp"
#include "machine.hpp"

namespace asterope {

/// Prints the table: a row for each of `sizes` (ascending), a column for each workload that winners
/// are measured under.
void run_workloads(const std::vector<std::size_t>& sizes, const Arena& arena,
                   const Machine& machine, CopyFunction routine, Report& report);

} // namespace asterope
