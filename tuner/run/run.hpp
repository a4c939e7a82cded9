// One operation of a run: what is searched, what its steps are given, and what they find.
#pragma once

#include <initializer_list>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "machine/machine.hpp"
#include "profile/make_profile.hpp"
#include "run/plan.hpp"
#include "run/session.hpp"
#include "search/spaces.hpp"
#include "search/step.hpp"

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
/// Session::keep.
class Run {
  public:
    /// All of these must outlive it. `machine`: of the figures, which `source` has.
    Run(const OperationSearch& search, const Machine& machine, std::uint64_t seed, Session& session,
        Timings& source);

    const Plan& plan;
    const Spaces& spaces;
    const std::vector<Objective> objectives; ///< the first is the routine's own
    const std::vector<TimedCopy> copies;     ///< of the pipelines
    Session& session;
    Progress& progress;

    const Weights& weights() const { return objectives.front().weights; }
    const Candidate& candidate(Entrant entrant) const {
        return spaces.space[static_cast<std::size_t>(entrant)];
    }
    const TimedCopy& copy(Entrant entrant) const {
        return copies[static_cast<std::size_t>(entrant)];
    }
    /// Whether the operation has copies of that kind.
    bool has(std::string_view kind) const {
        return find_kind(*facts_of(plan.operation).space, kind) != nullptr;
    }
    /// The plain copy, or kLibc where it copies wrongly.
    Entrant plain_copy() const { return find_plain_copy(spaces.space, spaces.entrants); }
    /// Those whose copies these are, beside libc's of that size and the references.
    TimedCopies timed(const std::vector<TimedCopy>& copies, std::size_t size) const;
    /// See outgrows(). A copy that just fills the last cache outgrows it as well, as code and page
    /// tables take a part of it. From run to run, copies of 16 MiB with 32 MiB of cache stored past
    /// it or not by chance.
    bool outgrows_caches(std::size_t size) const;
    /// A set that stores past the caches finds its destination uncached the next time because of
    /// that: no state of the caches can be what chooses it, so the size does.
    bool may_take(Entrant entrant, std::size_t size) const;

    /// The log's name of a part of a step of this operation.
    std::string logged(Step step, std::size_t size = 0, const std::string& part = {}) const;
    std::mt19937_64 enter(Step step, std::size_t size = 0, const std::string& part = {});
    /// Fixes the calls of each trial at a size.
    void calibrate(std::size_t size);

    /// On the progress line, and as a phase of the account of time.
    void show(Step step);
    /// As a phase alone.
    void account(Step phase);
    /// Marks these steps as done, with all that was planned for them.
    void over(std::initializer_list<Step> steps);

    /// So much of what this operation may spend of the budget.
    void allow(double share) { session.budget.allow(plan.budget_share * share); }
    /// Does what `find` does, as far as the budget allows: where that ends, the step is among what
    /// was left out, and the answer is false.
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
    const std::map<std::string, std::size_t> libc_thresholds_;
    const std::size_t last_cache_bytes_;
    const std::vector<TimedCopy>& references_;
    const std::uint64_t seed_;
};

} // namespace asterope
