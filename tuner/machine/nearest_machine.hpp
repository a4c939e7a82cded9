// Which machine of a profile is to be compared with this one: merged profiles come from several.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace asterope {

/// Of the "machine" objects of a profile the one that differs from `current` in least, the first of
/// several. Null ones do not count; an empty object where there is none.
nlohmann::json nearest_machine(const std::vector<nlohmann::json>& machines,
                               const nlohmann::json& current);

} // namespace asterope
