// The contests of a run: the near winners of all sizes, timed at each size, and the rows that may
// be made of them.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "run/operation_run.hpp"
#include "search/contestants.hpp"
#include "search/sensing_search.hpp"

namespace asterope {

/// The worth of a copy that cannot be used.
inline constexpr double kWorthOfUnusable = -std::numeric_limits<double>::infinity();

/// The contest at one size, whose figures winners are chosen from later.
struct Contest {
    Race race;
    std::vector<SizeResult> results; ///< by objective
};

/// Sensing copies timed beside pipelines at one size; `entrants` as the race numbers them. Only its
/// figures are valid: its copies are gone.
struct SensingRace {
    Race race;
    std::vector<std::pair<RowCopy, const asterope_copy*>> entrants; ///< null: without a probe
};

/// A sensing copy that is timed: its pipelines behind one probe.
struct TimedSensing {
    /// A sensing copy at one evaluated size, with the probe's threshold there and its results.
    struct AtSize {
        SensingCopy copy;
        asterope_sensing arguments; ///< the copy is handed their address
        std::optional<Finalist> finalist = {};
        TimedCopy timed() const { return copy.timed(arguments); }
    };
    const asterope_copy* probe;
    TimedRowCopy row;
    std::map<std::size_t, AtSize> at; ///< by evaluated size, where the probe has a threshold
};

struct Contests {
    std::vector<Entrant> contestants;
    RowRules rules;
    std::vector<Contest> at_size;   ///< By evaluated size. Empty where the time did not suffice.
    std::vector<SizeScores> scores; ///< by evaluated size, of the routine's own objective
    std::vector<TimedSensing> sensing;
    std::vector<std::optional<RowCopy>> standing;     ///< by evaluated size, see standing_copies
    std::map<std::size_t, SensingRace> sensing_races; ///< by evaluated size

    std::size_t size_at(std::size_t index) const { return at_size[index].results.front().size; }
    std::vector<TimedRowCopy> timed_rows() const;
    /// The contestants' worth for one objective, by evaluated size.
    std::vector<SizeScores> scores_by(const OperationRun& run, std::size_t objective) const;
    /// Forbids copies in `scores`, which are by evaluated size. A row without a probe must not take
    /// the copies that may_take_unprobed() refuses. Behind a probe, cached data must not be stored
    /// past the caches.
    void forbid_unprobed(const OperationRun& run, std::size_t objective,
                         std::vector<SizeScores>& scores) const;
    /// The sensing copy of a row; null where it was not timed.
    const TimedSensing* sensing_of(const RowCopy& row) const;
    /// The function that copies an evaluated size of a row.
    TimedCopy copy_of(const OperationRun& run, const RowCopy& row, std::size_t index) const;

    /// Makes a contestant the winner of an evaluated size.
    void crown(std::size_t index, std::size_t objective, std::size_t contestant,
               PipelineFacts& facts) const;
    /// Makes these the routine's rows. A CPU may lack the counter that probes need. So each size of
    /// a row that senses has a winner without a probe, too: the best of the routine's pipelines.
    void take_rows(std::vector<Row> rows, Findings& findings) const;
    /// The rows without those of one size whose lead may be chance. `scores`: the rows were chosen
    /// by them. `settled`: evaluated sizes whose rows were chosen by more than these rounds.
    std::vector<Row> beyond_chance(std::vector<Row> rows, const std::vector<SizeScores>& scores,
                                   std::size_t objective = 0,
                                   const std::set<std::size_t>& settled = {}) const;

  private:
    bool leads(std::size_t index, const RowCopy& one, const RowCopy& other,
               std::size_t objective) const;
};

/// Libc's time over a copy's under a workload, or that of the fastest of libc and the references.
using RatioOf = std::function<double(Workload)>;

/// Whether a set that stores past the caches may do so without a probe. It must not be clearly
/// slower than libc where destinations were cached, and must gain under a workload with a reader.
/// Without a reader most sets gain, as a later reader has to wait for memory instead.
bool may_set_past_caches(const Weights& counted, const RatioOf& ratio);

/// Whether a pipeline may copy a size without a probe. It may not where OperationRun::may_take
/// forbids it, nor where it may not store past the caches. A copy that outgrows the caches may
/// always store past them.
bool may_take_unprobed(const OperationRun& run, Entrant entrant, std::size_t size,
                       const Weights& weights, const RatioOf& ratio);

/// Whether a sensing copy was clearly slower than libc where destinations were cached, in the last
/// run-off of `race`. Both the mean of those workloads and most rounds must say so. Its probe takes
/// one state for the other there. `weights` of the objective.
bool loses_where_cached(const Race& race, Entrant entrant, std::size_t size,
                        const Weights& weights);

/// The row that an evaluated size lies in.
const Row& row_at(const std::vector<Row>& rows, std::size_t index);

} // namespace asterope
