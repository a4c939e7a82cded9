// The contest: the near winners of all sizes run at each size, and rows are chosen by what they are
// worth there.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "search/rows.hpp"
#include "search/search.hpp"

namespace asterope {

/// Which pipelines take part, at most `most`: `plain` first, where it is none of kLibc, then those
/// that cover most: of what counts at a size (each objective, and what of the first one a probe
/// could tell apart, see Locality) a pipeline covers what it was about the best for. The second
/// best follow where there is room.
std::vector<Entrant> choose_contestants(const std::vector<Found>& found,
                                        const std::vector<Weights>& objectives, Entrant plain,
                                        std::size_t most);

/// What a probe takes, in seconds, by Locality of the data that it finds.
using ProbeSeconds = std::array<double, kLocalities>;

/// What the contestants are worth by one objective, from its result at one size. Alike where noise
/// hid everything. `probe`: none where no copy can sense.
SizeScores scores_of(const SizeResult& result, const Weights& weights,
                     const std::vector<Entrant>& contestants,
                     const std::optional<ProbeSeconds>& probe = std::nullopt);

} // namespace asterope
