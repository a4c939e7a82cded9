// Turns what a search found into the profile's winners, proofs and runners-up.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "profile/profile.hpp"
#include "search/aliased_search.hpp"
#include "search/boundaries.hpp"
#include "search/search.hpp"
#include "search/sensing_search.hpp"
#include "search/small_search.hpp"
#include "search/threads_search.hpp"

namespace asterope {

/// The pipelines of all sizes.
struct PipelineFacts {
    std::vector<Objective> objectives; ///< the first is the routine's own, others entry points'
    std::vector<Found> found;          ///< by evaluated size, ascending
    std::vector<std::optional<SensingResult>> sensing; ///< by evaluated size
    std::vector<std::vector<SizeInterval>> intervals;  ///< by objective
    Operation operation = Operation::copy;

    /// The first objective's winner for copies of `size` bytes.
    Entrant winner_for(std::size_t size) const;
    /// What was found for the interval that `size` lies in: an index into `found` and `sensing`.
    std::size_t result_for(std::size_t size) const;
};

/// Lets intervals that sense begin at kSensingMinimum where bisection moved them below; those that
/// cannot, as nothing comes before them, do not sense. To be called once the intervals are known;
/// profile and tables then agree.
void begin_sensing_at_minimum(PipelineFacts& pipelines);

/// The small copies: whose sizes they were timed for, and how the race for them ended.
struct SmallFacts {
    std::string distribution;
    std::vector<const asterope_copy*> space;
    SizeResult result;
};

/// What was found where buffers alias modulo 4096.
struct AliasedFacts {
    std::vector<const asterope_copy*> space;
    std::vector<SizeResult> sizes; ///< see search_aliased
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
};

/// All that a search found.
struct SearchResults {
    const std::vector<Candidate>& space;
    const PipelineFacts& pipelines;
    std::optional<SmallFacts> small = {};
    std::optional<AliasedFacts> aliased = {};
    std::optional<ThreadsFacts> threads = {};
    std::optional<OverlappingFacts> overlapping = {};
    bool sensing = false; ///< whether copies that sense were tried
};

/// Adds what was found of one operation to a profile that has everything else: machine, search,
/// exam, what was left out. Copies come first.
void add_results(Profile& profile, const SearchResults& results);

/// Once it has the results of all operations: whether it is complete, and provisional.
void settle(Profile& profile);

} // namespace asterope
