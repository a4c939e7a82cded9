// The first line of a sample log: the machine, and the search that was asked for.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "machine/machine.hpp"
#include "profile/profile.hpp"
#include "profile/search_options.hpp"

namespace asterope {

inline constexpr const char* kSampleLogFormat = "asterope-trials";
inline constexpr int kSampleLogVersion = 2;

/// SearchFacts describes the parts that become parts of a profile.
struct LogHeader : RunStart {
    std::string tool_version;
    nlohmann::json machine;
    std::array<std::string, kOperations.size()> space_hashes; ///< empty where it is not tuned
    std::size_t candidates = 0;                               ///< of copies at each size
    std::vector<std::pair<std::string, std::string>> invalid;
    SearchOptions options;
    bool sensing = false; ///< whether copies that sense were tried
    std::uint64_t seed = 0;
};

nlohmann::ordered_json to_json(const LogHeader& header);
/// Throws BadInput, which names the place of the first field that is missing, of another type or
/// not known.
LogHeader log_header_of(const nlohmann::ordered_json& json);

/// The machine that a log's figures are of, as far as a search must know it.
Machine machine_of(const LogHeader& header);

} // namespace asterope
