// Timings: where a search's figures come from, be it the machine, a log, several logs, or a test
// that knows the truth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "timing/disturbance_monitor.hpp"
#include "timing/entrant.hpp"
#include "timing/step.hpp"
#include "timing/timed_copy.hpp"
#include "timing/workload.hpp"

namespace asterope {

/// Which sample is asked for.
struct SampleRequest {
    const TimedCopy& copy;
    Entrant entrant;
    std::size_t size; ///< bytes; 0 where the workload mixes sizes
    Workload workload;
    std::uint64_t round; ///< samples of one round are taken under equal conditions
};

struct Sample {
    double ns;             ///< a call; in whole thousandths where it is written to a log
    double us = 0;         ///< the whole sample, with its untimed parts; in whole tenths
    bool recorded = false; ///< not measured in this run
    /// Seconds of the whole and of each part, where the source times parts: see Series.
    std::vector<double> parts = {};

    double seconds() const { return ns * 1e-9; }
};

/// Which readings of a probe are asked for, in front of a copy: in ticks.
struct ProbeRequest {
    const asterope_copy& probe;
    const TimedCopy& copy;
    std::size_t size; ///< bytes
    Workload workload;
    std::size_t least; ///< how many readings at least
};

/// The readings of a probe, in ticks of the time stamp counter, one value a reading.
struct ProbeTicks {
    std::vector<double> source = {};
    std::vector<double> destination = {}; ///< empty for a probe of the source alone
    bool operator==(const ProbeTicks&) const = default;
};

/// A round of samples has ended. Samples of one round are compared with one another.
struct RoundEnd {
    std::vector<Disturbance> disturbances = {}; ///< the disturbances that hit it
    bool again = false;                         ///< it is to be timed again
    bool watched = true;                        ///< false: nobody looked for disturbances
};

/// A search asks for figures in an order that depends on nothing but its options, its seed and the
/// figures it got. So the figures of an earlier run can be served again, one by one. The search
/// then comes to the same end: that is how a run is resumed and replayed (RunTimings).
class Timings {
  public:
    virtual ~Timings() = default;

    virtual Sample sample(const SampleRequest& asked) = 0;

    /// Ends a round. May say that it is to be timed again, but not for ever.
    virtual RoundEnd round_ended() { return {}; }

    /// Names the stage of the search that the next samples are for. The account of time needs it.
    enum class Stage { screening, run_off };
    virtual void enter(Stage) {}

    /// From now on all figures belong to this step of the search, which is entered once. The first
    /// `known` of them are not asked for.
    virtual void enter(const LoggedStep&, std::size_t known = 0) { (void)known; }

    /// Whether this copy can be timed in that step; without a name, whether any can. Of several
    /// machines, some may not have timed it.
    virtual bool has(const LoggedStep& step, const std::string& copy = {}) const {
        return (void)step, (void)copy, true;
    }

    virtual ProbeTicks readings(const ProbeRequest&) { return {}; }

    /// The number of calls of a sample, and libc's seconds. `known`: from an earlier run, only to
    /// be taken over.
    virtual Calibration calibration(std::size_t, Workload,
                                    const std::optional<Calibration>& known = std::nullopt) {
        return known.value_or(Calibration{1, 1e-6});
    }
};

} // namespace asterope
