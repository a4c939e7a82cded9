// The steps of the search of one operation, a file each in steps/.
#pragma once

#include <functional>

#include "run/contests.hpp"
#include "run/operation_run.hpp"
#include "search/small_search.hpp"

namespace asterope {

/// The shares of the time budget that may be spent by the end of the sizes, of the rows and of the
/// boundaries. The steps behind them are short, and each is worth more than the last size.
inline constexpr double kShareOfSizes = 0.75, kShareOfRows = 0.9, kShareOfBoundaries = 0.97;

/// Compiles the routine of the findings so far, and returns its function of this operation; null
/// where that is not possible.
using BuildRoutine = std::function<CopyFunction(Operation)>;

/// Runs all steps, into `findings`. The most important comes first, as the time budget may end at
/// any moment:
/// - The size that small copies hand over to, the small copies and those of overlapping buffers.
/// - The other sizes.
/// - The rows for all sizes at once, some with copies that sense.
/// - The bound of the small copies, and the sizes at which rows change.
/// - Buffers that alias.
/// - Copies over threads. Where anything is timed, their pool must have been started.
/// - Page stages.
/// - The exam, if `examines`. A log has its figures, so a replay needs no routine.
///
/// Throws BudgetSpent where the budget ends before the first size is done.
void run_steps(OperationRun& run, Findings& findings, bool examines,
               const BuildRoutine& build = nullptr);

/// About the seconds that rendering, compiling and loading the routine takes.
inline constexpr double kBuilding = 2;

/// Plans the steps of an operation whose samples are not calibrated yet. So the progress line
/// counts them while another operation is searched.
void plan_roughly(Progress& progress, const OperationSearch& search);

/// Fixes the calls of each sample, and plans the steps: all but those of overlapping buffers,
/// threads and page stages.
void calibrate_sizes(OperationRun& run);

/// Searches all sizes, from coarse to fine, and the small copies that hand over to them: see
/// find_small.
void search_sizes(OperationRun& run, Findings& findings);

/// One of the small copies, by its number.
const asterope_copy& small_at(const OperationRun& run, Entrant entrant);

/// Searches the small copies, which go on to `large`. `by_shape`: the best of each shape are
/// compared size by size, too, and the run's entry points may have copies of their own.
SmallResults find_small(OperationRun& run, const Candidate& large, bool by_shape = true);

/// Lets the small copies go as far as they are worth more than the rows' pipelines.
void find_bound(OperationRun& run, const Contests& contests, Findings& findings);

/// Searches the copies of buffers that overlap. Throws Failure if all of them copy wrongly.
void find_overlapping(OperationRun& run, Findings& findings);

/// Finds the rows of the routine, then those of each entry point by intent, from the same pipelines
/// and few more. Where time does not suffice, each size keeps its own winner. Returns the contests
/// that were timed for them.
Contests find_rows(OperationRun& run, Findings& findings);

/// Times copies behind a probe, as far as rows may want them, and adds them to the contests.
void time_sensing(OperationRun& run, Contests& contests, LeftOut& left_out);

/// Finds the sizes between evaluated ones at which rows, and winners of entry points, change
/// places.
void find_boundaries(OperationRun& run, const Contests& contests, Findings& findings);

/// Times copies of buffers that alias modulo 4096, beside the winners of each size.
void find_aliased(OperationRun& run, Findings& findings);

/// Times copies over threads, beside the routine's by one.
void find_shared(OperationRun& run, Findings& findings);

/// Times page stages of copies into fresh memory, beside the routine's copies without one.
void find_page_stages(OperationRun& run, Findings& findings);

/// Finds those three kinds of copies, which need the pipelines.
void find_other_kinds(OperationRun& run, Findings& findings);

/// Makes one choice a size between the routine's copy and other ways to carry it out, such as over
/// threads. `found`: by ascending size, as race_beside_first() returns them. Where it wins, the
/// best of the others is the runner-up. A choice ends at its size, and the next begins behind it.
/// The routine's copy goes on to where another wins.
std::vector<Choice> choices_beside(ChoiceKind kind, Operation operation, const CopyOf& copy_of,
                                   const std::vector<SizeResult>& found);

/// Examines the compiled routine beside libc, on fresh samples, at the evaluated sizes and between
/// them. Chooses rows that lose anew, and tells the losses that are left.
void examine(OperationRun& run, const Contests& contests, Findings& findings,
             const BuildRoutine& build);

} // namespace asterope
