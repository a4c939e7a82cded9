// Whether a profile is provisional, because of noise, and why: in words, and as files have it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "timing/disturbed_rounds.hpp"

namespace asterope {

struct Profile;

/// "search.noise" of profiles, "noise" of other results.
nlohmann::ordered_json noise_json(const DisturbanceCounts& noise);

/// How many of a profile's winners are the plain copy because noise hid which copy is the fastest,
/// those of the entry points by intent included.
std::size_t count_undecided(const Profile& profile);

/// Why `profile` is provisional, for noise_warning(): too many of its rounds stayed disturbed, or
/// comparisons were lost in noise, or both. Empty where it is not.
/// scripts/asterope/provisional.py says the same.
std::string why_provisional(const Profile& profile);

} // namespace asterope
