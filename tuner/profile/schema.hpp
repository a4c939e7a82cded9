// The schema of profiles, the one that the Python commands go by: both refuse the same profiles.
#pragma once

#include <nlohmann/json.hpp>

namespace asterope {

/// Throw BadInput, "machine.kernel: 5 where a string is expected", for the first value that the
/// schema of profiles, or that of the headers of sample logs, refuses. They look at single values;
/// their meaning together is the readers' task.
void require_profile_schema(const nlohmann::ordered_json& profile);
void require_log_schema(const nlohmann::ordered_json& header);

} // namespace asterope
