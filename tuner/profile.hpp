// The profile: the winners, the machine they hold for, and how they were found.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "aliased_search.hpp"
#include "boundaries.hpp"
#include "objective.hpp"
#include "search.hpp"
#include "sensing_search.hpp"
#include "small_search.hpp"
#include "space.hpp"

namespace asterope {

inline constexpr int kProfileVersion = 1;

/// How the winners were found: the "search" object, as far as no size changes it.
struct SearchFacts {
    std::string rigor, started, finished; ///< times in UTC, ISO 8601
    std::string space;                    ///< "paper" or "extended"
    std::string source_map;               ///< what the sources were mapped from, or ""
    bool sensing = false;                 ///< whether copies that sense were tried
    std::uint64_t seed = 0;
    int cpu = 0;
    std::size_t candidates = 0, trials = 0;
    double seconds = 0;
    std::vector<std::pair<std::string, std::string>> invalid; ///< candidate, reason
    std::vector<std::string> warnings;
    std::vector<std::string> without; ///< CPU features left out on request
};

/// The pipelines of all sizes.
struct PipelineFacts {
    std::vector<Objective> objectives; ///< the first is the routine's own, others entry points'
    std::vector<Found> found;          ///< by evaluated size, ascending
    std::vector<std::optional<SensingResult>> sensing; ///< by evaluated size
    std::vector<std::vector<SizeInterval>> intervals;  ///< by objective

    /// The first objective's winner for copies of `size` bytes.
    Entrant winner_for(std::size_t size) const;
};

/// The small copies: what they were timed for, and how the race for them ended.
struct SmallFacts {
    std::string distribution, objective;
    std::vector<const asterope_small_variant*> space;
    SizeResult result;
};

/// What was found where buffers alias modulo 4096.
struct AliasedFacts {
    std::vector<const asterope_aliased_variant*> space;
    std::vector<AliasedSize> sizes;
    std::optional<AliasedChoice> choice;
};

/// The whole profile; its fields are described in scripts/asterope/profile.schema.json.
nlohmann::ordered_json make_profile(const nlohmann::json& machine, const SearchFacts& facts,
                                    const std::vector<Candidate>& space,
                                    const PipelineFacts& pipelines, const SmallFacts& small,
                                    const AliasedFacts& aliased);

/// Reads a profile as far as the C++ tools need it: format, version, machine, and intervals in
/// order. Throws BadInput with one line for whatever is wrong. asterope-generate checks the rest
/// against the schema before any of it becomes C.
nlohmann::json read_profile(const std::filesystem::path& path);

/// The sizes that the winners were measured at, ascending.
std::vector<std::size_t> profile_sizes(const nlohmann::json& profile);

/// Now, as profiles write it: "2026-11-20T22:15:00Z".
std::string utc_now();

} // namespace asterope
