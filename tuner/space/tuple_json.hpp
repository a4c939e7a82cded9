// Candidates as profiles write them, and back.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "space/space.hpp"

namespace asterope {

/// The "tuple" object of a profile. The extension axes are there where one is not the paper's.
nlohmann::ordered_json to_json(const Candidate& candidate);

/// The linked candidate that a profile's "tuple" object names, or nothing: the tuple is unknown to
/// this build, or needs a CPU feature that `has` does not grant. Takes any JSON.
std::optional<Candidate> find_candidate(const nlohmann::json& tuple, const HasFeature& has);

} // namespace asterope
