// Checks values from outside against the schemas of profiles, trial logs and recordings.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace asterope {

/// Each returns the first fault with its place, in words: "machine.kernel: an array where a string
/// is expected"; empty where there is none. The schemas are those of scripts/asterope/, so what
/// passes here is no surprise to asterope-generate, which checks more, but not less.
std::string log_header_fault(const nlohmann::json& header);
std::string log_end_fault(const nlohmann::json& end);
std::string recording_fault(const nlohmann::json& recording);

} // namespace asterope
