// Turns the findings of a search into the profile's winners, proofs and runners-up.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "base/contains.hpp"
#include "profile/profile.hpp"
#include "search/boundaries.hpp"
#include "search/rows.hpp"
#include "search/search.hpp"
#include "search/sensing_search.hpp"
#include "search/spaces.hpp"

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
    /// The result for the interval that `size` lies in: an index into `found` and `sensing`.
    std::size_t result_for(std::size_t size) const;
};

/// Lets intervals that sense begin at kSensingMinimum where bisection moved them below. An interval
/// without one before it cannot, and does not sense. To be called once the intervals are known;
/// profile and tables then agree.
void begin_sensing_at_minimum(PipelineFacts& pipelines);

/// The findings about one operation. Searches that the time budget did not reach are missing here,
/// and are listed.
struct Findings {
    PipelineFacts pipelines;
    std::vector<Row> rows; ///< the routine's own; empty: each size has its own winner
    std::optional<SizeResult> small;
    std::map<Workload, SizeResult> small_by_intent; ///< of entry points that have one of their own
    std::vector<Choice> others; ///< of the other kinds; up_to 0: as far as the pipelines
    std::optional<ExamFacts> exam;
    LeftOut left_out;

    bool has(ChoiceKind kind) const {
        return kind == ChoiceKind::pipelines ? !pipelines.found.empty()
               : kind == ChoiceKind::small   ? small.has_value()
                                             : contains(others, kind, &Choice::kind);
    }
};

/// Adds the findings about one operation in its spaces to a profile that has the machine and the
/// facts of the search. Copies come first.
void add_choices(Profile& profile, const Findings& found, const Spaces& spaces);

/// Once it has the choices of all operations: whether it is complete, and provisional.
void settle(Profile& profile);

} // namespace asterope
