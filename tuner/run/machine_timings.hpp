// The figures of this machine, now, as a search asks for them: of copies in its buffers.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "machine/machine.hpp"
#include "run/plan.hpp"
#include "timing/arena.hpp"
#include "timing/budget.hpp"
#include "timing/sample_watch.hpp"
#include "timing/stopwatch.hpp"
#include "timing/timings.hpp"

namespace asterope {

/// Throws Interrupted between samples when the user asked to stop, and BudgetSpent when the time is
/// over. Throws Failure where the clock cannot be trusted at all.
class MachineTimings : public Timings {
  public:
    /// Times the operations of these plans in the same memory. The plans differ in sizes and
    /// statistics alone, and each step is of one plan. `budget` must outlive it. Throws Failure
    /// where the memory does not suffice.
    MachineTimings(const std::vector<Plan>& plans, const Machine& machine, std::uint64_t seed,
                   int cpu, const Budget& budget);
    /// Times all operations.
    MachineTimings(std::size_t largest_size, const Machine& machine, int cpu, const Budget& budget);

    Sample sample(const SampleRequest& asked) override;
    RoundEnd round_ended() override { return {watch_.end_round()}; }
    void enter(const LoggedStep& step, std::size_t known = 0) override;
    ProbeTicks readings(const ProbeRequest& asked) override;
    Calibration calibration(std::size_t size, Workload workload,
                            const std::optional<Calibration>& known = std::nullopt) override;

  private:
    void throw_if_over() const;

    SampleWatch watch_;
    Arena arena_;
    std::optional<Arena> small_arena_; ///< of the small copies, where the source is mapped
    std::map<Operation, Stopwatch> stopwatches_;
    Stopwatch* stopwatch_; ///< of the present step's operation
    const Budget& budget_;
};

} // namespace asterope
