// The searches of one run, step by step, on figures from wherever they come.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "machine/machine.hpp"
#include "profile/make_profile.hpp"
#include "run/plan.hpp"
#include "run/run_timings.hpp"
#include "run/time_spent.hpp"
#include "search/aliased_search.hpp"
#include "search/contest.hpp"
#include "search/spaces.hpp"
#include "search/step.hpp"
#include "search/threads_search.hpp"
#include "timing/budget.hpp"
#include "timing/disturbed_rounds.hpp"

namespace asterope {

/// What a run found. What the time budget did not reach is not there, and is told.
struct Findings {
    PipelineFacts pipelines;
    std::optional<SizeResult> small, overlapping;
    std::vector<AliasedSize> aliased;
    std::vector<SharedSize> shared;
    LeftOut left_out;
    DisturbedRounds noise;
    std::size_t trials = 0;
    double recorded_seconds = 0; ///< see RunTimings
};

/// Every step draws its random numbers by its own name, and depends on the others by what they
/// found alone: so a run that was cut short in one step goes on in it later, whatever was done
/// since.
class SearchSteps {
  public:
    /// All of these must outlive it. `machine`: of the figures. `references`: the plan's, to be
    /// timed.
    SearchSteps(const Plan& plan, const Spaces& spaces, const Machine& machine,
                std::vector<TimedCopy> references, std::uint64_t seed, bool quiet,
                RunTimings& timings, Budget& budget, TimeSpent& spent);

    /// Calibration; the size that small copies hand over to, the small copies and those of
    /// overlapping buffers; the other sizes from coarse to fine; the rows for all sizes at once;
    /// where the rows change places; where buffers alias; copies over threads, whose pool must have
    /// been started where anything is timed. What matters most comes first, as the time budget may
    /// end at any moment. Throws Failure where it ends before the first size is done.
    Findings run();

  private:
    struct SizeFound {
        Found found;
        std::optional<SensingResult> sensing;
    };

    /// The contest at one size, whose figures winners are chosen from later.
    struct Contest;

    double calibrate();
    void calibrate(std::size_t size);
    std::mt19937_64 enter(Step step, std::size_t size = 0, const std::string& objective = {});
    /// As a phase of the account of time, and on the progress line.
    void show(Step step);
    std::vector<std::size_t> order_of_sizes() const;
    void search_sizes(Findings& findings);
    void search_what_hands_over(std::size_t index, Findings& findings);
    SizeFound search_one_size(std::size_t index);
    std::vector<std::vector<Entrant>> winners_around(std::size_t index) const;
    std::vector<Entrant> inherited(std::size_t index, const Rigor& rigor) const;
    std::optional<SensingResult> sensing(std::size_t size, const Found& found);
    std::vector<SensingCopy> sensing_copies(std::size_t size, const Found& found);
    ProbeTicks read(const asterope_copy& probe, Entrant copy, std::size_t size, Workload workload);
    SizeResult small_copies(const Candidate& large);
    SizeResult overlapping_copies();
    void find_rows(Findings& findings);
    Contest contest(std::size_t size, const std::vector<Entrant>& contestants);
    void find_boundaries(Findings& findings);
    void aliased_copies(Findings& findings);
    void shared_copies(Findings& findings);
    SharedSize share(std::size_t size, const PipelineFacts& pipelines);
    const Candidate& candidate(Entrant entrant) const;
    Entrant plain_copy() const;
    const TimedCopy& copy(Entrant entrant) const {
        return copies_[static_cast<std::size_t>(entrant)];
    }
    /// Those whose copies these are, beside libc's of that size and the references.
    TimedCopies timed(const std::vector<TimedCopy>& copies, std::size_t size) const;

    const Plan& plan_;
    const Spaces& spaces_;
    const std::map<std::string, std::size_t> libc_thresholds_;
    const std::size_t last_cache_bytes_;
    const std::vector<TimedCopy> references_;
    const std::uint64_t seed_;
    const std::vector<Objective> objectives_;
    const std::vector<TimedCopy> copies_; ///< of the pipelines
    RunTimings& timings_;
    Budget& budget_;
    TimeSpent& spent_;
    std::map<std::pair<std::size_t, Workload>, Calibration> calibrations_;
    Progress progress_;                      ///< after calibrations_: its total comes from them
    std::map<std::size_t, SizeFound> found_; ///< by index into the plan's sizes
    bool sensing_left_out_ = false;
};

} // namespace asterope
