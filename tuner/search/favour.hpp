// The advantage of doubt: the choice of an earlier run takes part again, and is favoured. So a
// second run on the same machine confirms it unless it is clearly beaten.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "search/race.hpp"
#include "search/rows.hpp"
#include "search/standing.hpp"

namespace asterope {

/// A copy of the earlier run counts as better than it was found to be, by at least this, as a
/// weighted mean of worths. Two quiet runs on one machine find the same copy to differ by so much.
inline constexpr double kDoubt = 0.02;

/// The same for a race: twice libc's apparent distance from itself there, if that is more.
double doubt_of(const SizeResult& race, const Weights& weights);

/// The standing copy of each evaluated size, if its pipelines are among the contestants, by their
/// names.
std::vector<std::optional<RowCopy>> standing_copies(const Standing& standing,
                                                    const std::vector<std::size_t>& sizes,
                                                    const std::vector<std::string>& contestants);

/// Raises the worth of the copy that stands at each size by that size's doubt. Takes away the
/// prices and handicaps of its pipelines.
void favour(const std::vector<std::optional<RowCopy>>& standing, const std::vector<double>& doubts,
            std::vector<SizeScores>& scores, const std::vector<TimedRowCopy*>& timed,
            RowRules& rules);

} // namespace asterope
