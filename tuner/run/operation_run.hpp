// One operation of a run: its search, the input of its steps, and their findings.
#pragma once

#include <initializer_list>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "machine/machine.hpp"
#include "profile/make_profile.hpp"
#include "run/plan.hpp"
#include "run/run_timings.hpp"
#include "search/spaces.hpp"
#include "timing/step.hpp"

namespace asterope {

/// One operation of a run.
struct OperationSearch {
    Plan plan;
    Spaces spaces;
    std::vector<TimedCopy> references; ///< the plan's, to be timed
    Findings findings = {};
};

/// The input that all steps of an operation share. Every step draws its random numbers by its own
/// name, and depends on the others by their findings alone. So a run that was cut short in one step
/// goes on in it later. A step that had to choose from fewer findings is timed anew, see
/// RunTimings::keep.
class OperationRun {
  public:
    /// All of these must outlive it. `source` has the figures, which are of `machine`.
    OperationRun(const OperationSearch& search, const Machine& machine, std::uint64_t seed,
                 RunTimings& timings, Timings& source);

    const Plan& plan;
    const Spaces& spaces;
    const std::vector<Objective> objectives; ///< the first is the routine's own
    const std::vector<TimedCopy> copies;     ///< of the pipelines
    RunTimings& timings;
    Progress& progress;

    const Weights& weights() const { return objectives.front().weights; }
    const Candidate& candidate(Entrant entrant) const { return spaces.space[entrant.index()]; }
    const TimedCopy& copy(Entrant entrant) const { return copies[entrant.index()]; }
    /// Whether the operation has copies of that kind.
    bool has(std::string_view kind) const {
        return find_kind(*facts_of(plan.operation).space, kind) != nullptr;
    }
    /// The plain copy, or kLibc where it copies wrongly.
    Entrant plain_copy() const { return find_plain_copy(spaces.space, spaces.entrants); }
    /// The timings of these copies, beside libc's of that size and the references.
    TimedCopies timed(const std::vector<TimedCopy>& copies, std::size_t size) const;
    /// See outgrows(). A copy that just fills the last cache outgrows it as well, as code and page
    /// tables take a part of it. Otherwise chance decided in each run whether copies of 16 MiB
    /// stored past 32 MiB of cache.
    bool outgrows_caches(std::size_t size) const;
    /// Whether a candidate may take a size without a probe. A set that stores past the caches makes
    /// its next destination uncached. So only sizes from the last cache's on take it without a
    /// probe. Elsewhere a probe and its call site decide.
    bool may_take(Entrant entrant, std::size_t size) const;

    /// A part of a step of this operation.
    LoggedStep logged(Step step, std::size_t size = 0, const std::string& part = {}) const;
    void enter(Step step, std::size_t size = 0, const std::string& part = {});
    /// The random numbers of a step, the same in each run of one seed.
    std::mt19937_64 random(Step step, std::size_t size = 0) const;
    /// Fixes the calls of each sample at a size.
    void calibrate(std::size_t size);

    /// Enters the step on the progress line, and as a phase of the account of time.
    void show(Step step);
    /// Enters the phase in the account of time alone.
    void account(Step phase);
    /// Marks these steps as done, with all that was planned for them.
    void over(std::initializer_list<Step> steps);

    /// Allows the next steps this share of the operation's part of the budget.
    void allow(double share) { timings.budget.allow(share); }
    /// Calls `find`. Where the budget ends in it, the step is added to `left_out`, and the answer
    /// is false.
    template <class Find> static bool within_budget(LeftOut& left_out, Step step, Find find) {
        try {
            find();
            return true;
        } catch (const BudgetSpent&) {
            left_out.steps.insert(step);
            return false;
        }
    }

  private:
    const LibcThresholds libc_thresholds_;
    const std::size_t last_cache_bytes_;
    const std::vector<TimedCopy>& references_;
    const std::uint64_t seed_;
};

} // namespace asterope
