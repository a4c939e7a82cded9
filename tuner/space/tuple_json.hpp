// Candidates as profiles write them, and back.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "space/space.hpp"

namespace asterope {

/// The "tuple" object of a profile. The extension axes are there where one is not the paper's.
nlohmann::ordered_json to_json(const Candidate& candidate);

/// The candidate of that space that a profile's "tuple" object names, or nothing: this build has
/// none. Takes any JSON.
std::optional<Candidate> find_candidate(const asterope_space& space, const nlohmann::json& tuple);

/// The "tuple" object of a copy of another kind; of a probe the fields that tell which it is.
nlohmann::ordered_json tuple_json(const asterope_copy& copy);

/// The copy of that kind that it names; null: this build has none. Takes any JSON.
const asterope_copy* find_copy(const asterope_kind& kind, const nlohmann::json& tuple);

} // namespace asterope
