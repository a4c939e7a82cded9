// The searches of one operation in a run, step by step, on figures from wherever they come.
#pragma once

#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/progress.hpp"
#include "machine/machine.hpp"
#include "profile/make_profile.hpp"
#include "run/plan.hpp"
#include "run/run_timings.hpp"
#include "run/time_spent.hpp"
#include "search/aliased_search.hpp"
#include "search/contest.hpp"
#include "search/sensing_search.hpp"
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
    std::optional<ExamFacts> exam;
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
    /// At last the exam: `build` compiles the routine of what was found, or returns null where that
    /// is not to be had. Without it figures of an exam can only come from a log.
    using BuildRoutine = std::function<CopyFunction(const Findings&)>;
    Findings run(const BuildRoutine& build = nullptr);

  private:
    /// The contest at one size, whose figures winners are chosen from later. The race refers to the
    /// random numbers, so both stay where they are.
    struct Contest {
        std::unique_ptr<std::mt19937_64> random;
        std::unique_ptr<Race> race;
        std::vector<SizeResult> results; ///< by objective
    };
    /// A probe that tells cached from uncached data here, at these evaluated sizes.
    struct UsableProbe {
        const asterope_copy* probe;
        Threshold threshold;
        std::vector<std::size_t> indices = {};
    };
    /// A sensing copy that is timed, and how it did by evaluated size.
    struct TimedSensing {
        SensingCopy copy;
        asterope_sensing arguments; ///< the copy is handed their address
        TimedRowCopy row;
        std::vector<std::size_t> indices; ///< the evaluated sizes at which its probe holds
        std::map<std::size_t, Finalist> finalists = {};
    };

    /// Sensing copies timed beside pipelines at one size; `entrants` as the race numbers them.
    struct SensingRace {
        std::unique_ptr<std::mt19937_64> random;
        std::unique_ptr<Race> race;
        std::vector<std::pair<RowCopy, const asterope_copy*>> entrants; ///< probe; null: none
    };

    void calibrate();
    void plan(Step step, double seconds) { progress_.plan(title_of(step), seconds); }
    void over(std::initializer_list<Step> steps);
    void plan_later_steps(std::size_t size, Workload workload, double trial);
    void calibrate(std::size_t size);
    /// What the log calls the part of a step of this operation.
    std::string logged(Step step, std::size_t size = 0, const std::string& objective = {}) const;
    std::mt19937_64 enter(Step step, std::size_t size = 0, const std::string& objective = {});
    /// On the progress line.
    void label(const std::string& text);
    /// As a phase of the account of time.
    void account(Step phase);
    /// Both.
    void show(Step step);
    std::vector<std::size_t> order_of_sizes() const;
    void search_sizes(Findings& findings);
    bool searches_overlapping() const;
    void allow(double share);
    void search_what_hands_over(std::size_t index, Findings& findings);
    Found search_one_size(std::size_t index);
    std::vector<std::vector<Entrant>> winners_around(std::size_t index) const;
    std::vector<Entrant> inherited(std::size_t index, const Rigor& rigor) const;
    std::vector<TimedCopy> all_small_copies(const Candidate& large) const;
    SizeResult small_copies(const Candidate& large);
    SizeResult overlapping_copies();
    void find_rows(Findings& findings);
    Contest contest(std::size_t size);
    void crown(std::size_t index, std::size_t objective, std::size_t contestant,
               PipelineFacts& facts) const;
    void take_rows(PipelineFacts& facts);
    RowRules row_rules() const;
    bool leads(std::size_t index, const RowCopy& one, const RowCopy& other,
               std::size_t objective = 0) const;
    std::vector<Row> beyond_chance(std::vector<Row> rows, std::size_t objective,
                                   const std::set<std::size_t>& settled = {}) const;
    std::vector<TimedRowCopy> timed_rows() const;
    TimedCopy copy_of(const RowCopy& row) const;
    const Row& row_at(std::size_t index) const;
    void time_sensing(LeftOut& left_out);
    std::vector<std::size_t> sizes_to_sense() const;
    Entrant best_contestant(std::size_t index, bool non_temporal) const;
    bool may_take(std::size_t size, Entrant entrant) const;
    std::vector<UsableProbe> usable_probes(const std::vector<std::size_t>& sizes);
    Readings readings_at(std::size_t index, const asterope_copy& probe);
    std::optional<ProbeSeconds> cost_of_probe(const std::vector<UsableProbe>& probes,
                                              const std::vector<std::size_t>& sizes);
    void add_sensing_copies(const std::vector<Row>& rows, const std::vector<UsableProbe>& probes);
    void time_sensing_at(std::size_t index, const std::vector<std::size_t>& pipelines);
    void keep_best_probes();
    std::map<Entrant, double> gains_above_small(Entrant winner);
    void find_bound(Findings& findings);
    void find_boundaries(Findings& findings);
    /// What an exam found at one size.
    struct ExamCell {
        double score = 0;
        std::size_t count = 0; ///< workloads
        std::vector<ExamLoss> losses = {};
    };
    struct Exam {
        std::vector<std::string> copies;       ///< what copied each size
        std::map<std::size_t, ExamCell> cells; ///< by size; 0: mixes of small copies
        ExamFacts facts() const;
        double score() const;
    };
    void examine(Findings& findings, const BuildRoutine& build);
    std::vector<std::string> copies_at(const PipelineFacts& pipelines,
                                       const std::vector<std::size_t>& sizes) const;
    Exam examine_once(const PipelineFacts& pipelines, const TimedCopy& routine, int attempt,
                      const Exam* last);
    bool choose_anew(Findings& findings, const Exam& exam);
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
    Progress progress_;
    std::map<std::size_t, Found> found_; ///< by index into the plan's sizes
    std::vector<Entrant> contestants_;
    std::vector<double> pipeline_prices_; ///< by contestant
    std::vector<Contest> contests_;       ///< by evaluated size
    std::vector<SizeScores> scores_;      ///< by evaluated size, of the routine's own objective
    std::deque<TimedSensing> sensing_;    ///< arguments are referred to
    std::map<std::size_t, SensingRace> sensing_races_; ///< by evaluated size
    std::vector<Row> rows_; ///< the routine's own; empty: each size has its own winner
};

} // namespace asterope
