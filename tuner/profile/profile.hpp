// The profile: the winners, the machine they hold for, and how they were found.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "search/aliased_search.hpp"
#include "search/boundaries.hpp"
#include "search/objective.hpp"
#include "search/search.hpp"
#include "search/sensing_search.hpp"
#include "search/shard.hpp"
#include "search/small_search.hpp"
#include "search/threads_search.hpp"
#include "space/space.hpp"
#include "timing/disturbed_rounds.hpp"

namespace asterope {

inline constexpr int kProfileVersion = 1;

/// What a run did not get to, because its time was up.
struct LeftOut {
    std::vector<std::size_t> sizes; ///< bytes, without a winner of their own
    /// Of: boundaries, small copies, overlapping buffers, aliasing buffers, sensing, threads.
    std::vector<std::string> steps;

    bool empty() const { return sizes.empty() && steps.empty(); }
};

/// Which share of a search a run was; its profile holds that share alone.
struct ShardFacts {
    Shard shard;
    std::vector<std::size_t> own, all; ///< bytes, ascending: its sizes, and the whole search's
    std::string search;                ///< a hash: equal for the shards of one search only
};

/// How the winners were found: the "search" object, as far as no size changes it, and what was left
/// out.
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
    std::vector<std::string> without;       ///< CPU features left out on request
    std::optional<DisturbanceCounts> noise; ///< none where nobody watched
    /// Seconds by what they were spent on, in the order of the run: building, verifying,
    /// calibrating, screening, run-off, sensing, boundaries, small copies, overlapping buffers,
    /// aliasing buffers, threads.
    std::vector<std::pair<std::string, double>> phases;
    LeftOut left_out;                ///< empty: the run is complete
    std::optional<ShardFacts> shard; ///< none: it was the whole search
    int resumed = 0;                 ///< how many times the run went on from its log
    std::optional<double> budget_seconds;
};

/// The pipelines of all sizes.
struct PipelineFacts {
    std::vector<Objective> objectives; ///< the first is the routine's own, others entry points'
    std::vector<Found> found;          ///< by evaluated size, ascending
    std::vector<std::optional<SensingResult>> sensing; ///< by evaluated size
    std::vector<std::vector<SizeInterval>> intervals;  ///< by objective

    /// The first objective's winner for copies of `size` bytes.
    Entrant winner_for(std::size_t size) const;
    /// What was found for the interval that `size` lies in: an index into `found` and `sensing`.
    std::size_t result_for(std::size_t size) const;
};

/// Drops the sensing copies that cannot be had: those whose interval begins below kSensingMinimum,
/// where bisection moved it there. To be called once the intervals are known; profile and tables
/// then agree.
void drop_sensing_below_minimum(PipelineFacts& pipelines);

/// The small copies: what they were timed for, and how the race for them ended.
struct SmallFacts {
    std::string distribution, objective;
    std::vector<const asterope_copy*> space;
    SizeResult result;
};

/// What was found where buffers alias modulo 4096.
struct AliasedFacts {
    std::vector<const asterope_copy*> space;
    std::vector<AliasedSize> sizes;
    std::optional<AliasedChoice> choice;
};

/// The copies of overlapping buffers, and how the race for them ended.
struct OverlappingFacts {
    std::vector<const asterope_copy*> space;
    SizeResult result;
};

/// What was found about copies over threads.
struct ThreadsFacts {
    unsigned most; ///< threads that were tried
    std::vector<SharedSize> sizes;
    std::vector<ShareInterval> intervals;
};

/// The whole profile; its fields are described in scripts/asterope/profile.schema.json. What may
/// be missing was left out.
nlohmann::ordered_json make_profile(const nlohmann::json& machine, const SearchFacts& facts,
                                    const std::vector<Candidate>& space,
                                    const PipelineFacts& pipelines,
                                    const std::optional<SmallFacts>& small,
                                    const std::optional<AliasedFacts>& aliased,
                                    const std::optional<ThreadsFacts>& threads = std::nullopt,
                                    const std::optional<OverlappingFacts>& overlapping = {});

/// Reads a profile as far as the C++ tools need it: format, version, machine, and intervals in
/// order. Throws BadInput with one line for whatever is wrong. asterope-generate checks the rest
/// against the schema before any of it becomes C.
nlohmann::json read_profile(const std::filesystem::path& path);
/// The same of a text that was read already; errors begin with `what` ("profile x.json").
nlohmann::json parse_profile(std::string_view text, const std::string& what);

/// The sizes that the winners were measured at, ascending.
std::vector<std::size_t> profile_sizes(const nlohmann::json& profile);

/// Now, as profiles write it: "2026-11-20T22:15:00Z".
std::string utc_now();

} // namespace asterope
