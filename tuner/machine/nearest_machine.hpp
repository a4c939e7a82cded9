// Which machine of a profile is to be compared with this one: merged profiles come from several.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace asterope {

/// The "machine" object of a profile that tells most about `current`: its own, or where it was
/// merged, the one that differs from `current` in least. Takes any JSON.
nlohmann::json nearest_machine(const nlohmann::json& profile, const nlohmann::json& current);

} // namespace asterope
