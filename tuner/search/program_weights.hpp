// What a program's recording says about how much each workload counts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine/cpu.hpp"
#include "program/program.hpp"
#include "search/objective.hpp"

namespace asterope {

/// The objective "recorded": in each band of sizes the workloads by the time that the program spent
/// in their situations, and each of `sizes` (bytes, those that are searched) by its band's part of
/// the time. What few samples say is mixed with the balanced objective, and no size is without
/// importance: the next run of a program is never quite like the last one.
Objective program_objective(const Program& program, const std::vector<std::size_t>& sizes);

/// `sizes` (ascending) and those that copy much of the program's bytes: at most four from
/// kMinimumBytes up, none near one that is there. A program may copy one size alone, between two
/// that are searched anyway.
std::vector<std::size_t> with_sizes_of(const Program& program, std::vector<std::size_t> sizes);

/// The transfer sizes that a search is for, ascending: those `given` (see parse_size_list), or the
/// default ones of these caches, with a program's own. Throws BadInput.
std::vector<std::size_t> sizes_to_search(const std::string& given, const std::vector<Cache>& caches,
                                         const std::optional<Program>& program);

/// Whether a program makes so many small copies that they say what its others are like.
bool copies_small(const Program& program);

/// What small copies of such a program are chosen by: mostly calls in the program's own order,
/// cached and uncached, read and not, as it was recorded; besides, those of one size and those at
/// the ends of pages, so that no copy wins that fails there.
Weights program_small_weights(const Program& program);

} // namespace asterope
