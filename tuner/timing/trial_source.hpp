// TrialSource: all that a search learns of the machine, whether it is measured now or comes from a
// log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "timing/disturbance_monitor.hpp"
#include "timing/workload.hpp"

namespace asterope {

struct Instruments;

/// Which trial: `candidate` is its name, or "libc"; `size` in bytes, 0 for small copies.
struct TrialKey {
    std::size_t size;
    Workload workload;
    std::string candidate;
    std::uint64_t round;
    bool operator==(const TrialKey&) const = default;
};

/// In the units and to the digits that the log has, or a resumed run would see other figures.
struct Trial {
    double ns;             ///< a call, in whole thousandths
    double us;             ///< the whole trial, with what is not timed, in whole tenths
    bool recorded = false; ///< not measured in this run
};

/// Which readings of a probe: "source 4" in front of the copy of that name.
struct ProbeKey {
    std::size_t size;
    Workload workload;
    std::string probe, copy;
    bool operator==(const ProbeKey&) const = default;
};

/// A search asks for figures in an order that depends on nothing but its options, its seed and the
/// figures it got. So whoever has the figures of an earlier run can serve them again, one by one,
/// and the search comes to the same end: that is how a run is resumed (LoggingTrials) and replayed
/// (LoggedTrials).
class TrialSource {
  public:
    virtual ~TrialSource() = default;

    /// Whether there are any of this step: those of a log may be older than the step is.
    virtual bool has(const std::string&) const { return true; }

    /// From now on all figures belong to this step of the search, which is entered once. The first
    /// `known` of them are served by somebody else.
    virtual void enter(const std::string& step, std::size_t known = 0) = 0;

    /// `time` is what measures it, where it must be measured: seconds a call.
    virtual Trial trial(const TrialKey& key, const std::function<double(Instruments&)>& time) = 0;

    /// Ticks, as `read` finds them where they must be measured.
    virtual std::vector<double>
    readings(const ProbeKey& key, const std::function<std::vector<double>(Instruments&)>& read) = 0;

    /// How many calls a trial has. `known`: served by somebody else, only to be taken over.
    virtual Calibration calibration(std::size_t size, Workload workload,
                                    const std::optional<Calibration>& known = std::nullopt) = 0;

    /// Ends a round of trials: what disturbed it.
    virtual std::vector<Disturbance> round_ended() = 0;
};

} // namespace asterope
