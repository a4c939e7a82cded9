// Figures measured on this machine, now.
#pragma once

#include <optional>

#include "machine/machine.hpp"
#include "run/plan.hpp"
#include "timing/arena.hpp"
#include "timing/budget.hpp"
#include "timing/disturbance_monitor.hpp"
#include "timing/stopwatch.hpp"
#include "timing/trial_source.hpp"

namespace asterope {

/// What trials are timed with: memory and a stopwatch.
struct Instruments {
    /// Throws Failure where there is too little memory.
    Instruments(const Plan& plan, const Machine& machine, std::uint64_t seed);

    Arena arena;
    std::optional<Arena> small_arena; ///< of the small copies, where the source is mapped
    Stopwatch stopwatch;
};

/// Throws Interrupted between trials when the user asked to stop, BudgetSpent when there is no time
/// left, and Failure where the clock cannot be trusted at all.
class MachineTrials : public TrialSource {
  public:
    /// `budget` must outlive it.
    MachineTrials(const Plan& plan, const Machine& machine, std::uint64_t seed, int cpu,
                  const Budget& budget);

    void enter(const std::string& step, std::size_t known = 0) override;
    Trial trial(const TrialKey& key, const std::function<double(Instruments&)>& time) override;
    std::vector<double>
    readings(const ProbeKey& key,
             const std::function<std::vector<double>(Instruments&)>& read) override;
    Calibration calibration(std::size_t size, Workload workload,
                            const std::optional<Calibration>& known = std::nullopt) override;
    std::vector<Disturbance> round_ended() override;

  private:
    void throw_if_over() const;

    Instruments instruments_;
    DisturbanceMonitor monitor_;
    const Budget& budget_;
    bool in_round_ = false;
};

} // namespace asterope
