// The contests of a run: the near winners of all sizes, timed at each size, and the rows that may
// be made of them.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "run/run.hpp"
#include "search/contest.hpp"
#include "search/sensing_search.hpp"

namespace asterope {

/// A race, and the random numbers that it refers to: both stay where they are.
struct KeptRace {
    std::unique_ptr<std::mt19937_64> random;
    std::unique_ptr<Race> race;
};

/// The contest at one size, whose figures winners are chosen from later.
struct Contest : KeptRace {
    std::vector<SizeResult> results; ///< by objective
};

/// Sensing copies timed beside pipelines at one size; `entrants` as the race numbers them.
struct SensingRace : KeptRace {
    std::vector<std::pair<RowCopy, const asterope_copy*>> entrants; ///< probe; null: none
};

/// A sensing copy that is timed, and how it did by evaluated size.
struct TimedSensing {
    SensingCopy copy;
    asterope_sensing arguments; ///< the copy is handed their address
    TimedRowCopy row;
    std::vector<std::size_t> indices; ///< the evaluated sizes at which its probe holds
    std::map<std::size_t, Finalist> finalists = {};
};

struct Contests {
    std::vector<Entrant> contestants;
    RowRules rules;
    std::vector<Contest> at_size;     ///< by evaluated size; empty: there was no time for them
    std::vector<SizeScores> scores;   ///< by evaluated size, of the routine's own objective
    std::deque<TimedSensing> sensing; ///< arguments are referred to
    std::vector<std::optional<RowCopy>> standing;     ///< by evaluated size, see standing_copies
    std::map<std::size_t, SensingRace> sensing_races; ///< by evaluated size

    std::size_t size_at(std::size_t index) const { return at_size[index].results.front().size; }
    std::vector<TimedRowCopy> timed_rows() const;
    /// The sensing copy of a row; null where none was timed.
    const TimedSensing* sensing_of(const RowCopy& row) const;
    /// What copies the sizes of a row.
    TimedCopy copy_of(const Run& run, const RowCopy& row) const;

    /// Makes a contestant the winner of an evaluated size.
    void crown(std::size_t index, std::size_t objective, std::size_t contestant,
               PipelineFacts& facts) const;
    /// Makes these the routine's rows. Where a row senses, the winner of its sizes is the pipeline
    /// that does without the time stamp counter: the best of the routine's own there.
    void take_rows(std::vector<Row> rows, Findings& findings) const;
    /// Without those of one size whose lead may be chance. `settled`: evaluated sizes whose rows
    /// were chosen by more than these rounds.
    std::vector<Row> beyond_chance(std::vector<Row> rows, std::size_t objective = 0,
                                   const std::set<std::size_t>& settled = {}) const;

  private:
    bool leads(std::size_t index, const RowCopy& one, const RowCopy& other,
               std::size_t objective) const;
};

/// The row that an evaluated size lies in.
const Row& row_at(const std::vector<Row>& rows, std::size_t index);

} // namespace asterope
