// Timings as a race asks for them, from figures; the progress line and the noise see them pass.
#pragma once

#include <functional>
#include <string>

#include "base/progress.hpp"
#include "search/race.hpp"
#include "timing/disturbed_rounds.hpp"
#include "timing/time_spent.hpp"
#include "timing/trial_source.hpp"

namespace asterope {

/// Who the entrants of a race are.
struct Entrants {
    /// Times a trial, where it must be measured.
    std::function<double(Instruments&, std::size_t size, Workload, Entrant, std::uint64_t round)>
        seconds;
    std::function<std::string(Entrant)> name;                     ///< of candidates, not of libc
    std::function<std::size_t(std::size_t size, Workload)> calls; ///< in one trial
    /// See Timings::cache_effect; none: all are of one.
    std::function<int(std::size_t size, Entrant)> cache_effect = nullptr;
};

/// What all races of a run share.
struct RaceContext {
    TrialSource& figures;
    DisturbedRounds& noise;
    Progress& progress;
    TimeSpent& spent;
    std::size_t trials = 0;      ///< so far, those of earlier runs included
    double recorded_seconds = 0; ///< that the trials of earlier runs took then
};

class SearchTimings : public Timings {
  public:
    /// `by_stage`: screening and run-off are phases of their own; otherwise the one that was
    /// entered goes on.
    SearchTimings(Entrants field, RaceContext& context, bool by_stage)
        : field_(std::move(field)), context_(context), by_stage_(by_stage) {}

    double seconds(std::size_t size, Workload workload, Entrant entrant,
                   std::uint64_t round) override;
    int cache_effect(std::size_t size, Entrant entrant) const override {
        return field_.cache_effect ? field_.cache_effect(size, entrant) : 0;
    }
    bool disturbed() override;
    void enter(Stage stage) override;

  private:
    Entrants field_;
    RaceContext& context_;
    bool by_stage_;
    double round_seconds_ = 0; ///< that the trials of this round took, all in all
};

} // namespace asterope
