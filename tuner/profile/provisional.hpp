// Whether a profile is provisional, because of noise, and why: in words, and as files have it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "timing/disturbed_rounds.hpp"

namespace asterope {

struct Profile;

/// "search.noise" of profiles, "noise" of other results.
nlohmann::ordered_json noise_json(const DisturbanceCounts& noise);

/// Decides it, once and for every reader. It does so from the rounds that stayed disturbed
/// (`search.noise` has that already), from the winners that noise hid, and from libc's distance
/// from itself. Where the search was not watched, it has no `search.noise`, and nothing is decided.
void decide_whether_provisional(Profile& profile);

/// The reason in profiles from before it was written down, and in those merged from one.
inline constexpr const char* kUntoldReason = "noise may have decided its winners";

/// Why `profile` is provisional, for noise_warning(). Empty where it is not.
/// scripts/asterope/provisional.py says the same.
std::string why_provisional(const Profile& profile);

} // namespace asterope
