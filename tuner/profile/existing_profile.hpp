// The profile that lies where a new one shall go: whether it is worth more.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "profile/search_options.hpp"

namespace asterope {

/// Throws BadInput if the profile at `place` is one that a search with these options on this
/// machine ("machine" of profiles) must not replace without --fresh.
///
/// Such a profile is of the same machine and for the same purpose: workload and weights, small
/// copies, distribution, mapped source, interleaved buffers, features left out. It is complete and
/// not provisional. It is at least as good in each respect, but better in one: rigor, sizes,
/// functions, space, sensing, threads.
/// The same search again replaces it, then: it is newer. With `may_end_early`, a time budget, the
/// search may come out incomplete, so it counts as less.
///
/// A file that is not a profile, is damaged, or is of another machine or purpose, is worth nothing
/// here. Throws BadInput, too, where the file cannot be read, and where a newer version wrote it.
void refuse_worse_than_existing(const std::filesystem::path& place, const nlohmann::json& machine,
                                const SearchOptions& options, bool may_end_early);

/// Makes the copies of the profile at `place` the standing ones. It must be one of this machine,
/// for the purpose of `options`, and of at least their rigor. Throws BadInput as
/// refuse_worse_than_existing does.
void find_standing(const std::filesystem::path& place, const nlohmann::json& machine,
                   SearchOptions& options);

} // namespace asterope
