// Samples of memcpy under several settings of glibc's tunables, a process for each.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "run/run_timings.hpp"
#include "timing/remote_copy.hpp"
#include "timing/timings.hpp"
#include "tunables/ways.hpp"

namespace asterope {

/// The planned seconds until a process is ready: its buffers are filled.
inline double start_seconds(const RemoteSetup& setup) {
    return 0.01 + static_cast<double>(setup.arena_bytes) / 2e9;
}

/// The steps of a measurement, as its progress names them.
inline constexpr const char *kStarting = "starting", *kRacing = "racing", *kComparing = "comparing";

/// Entrant i is the i-th of the settings. libc and libc again are two processes with the default:
/// their distance is the effect of another process alone.
class Processes : public Timings {
  public:
    /// Starts them, and is where the figures of `timings` come from then. Throws as RemoteCopy.
    Processes(const std::vector<LibcThresholds>& settings, const RemoteSetup& setup,
              RunTimings& timings);

    Sample sample(const SampleRequest& asked) override;
    RoundEnd round_ended() override;
    /// The calibration of the default's process, made once.
    Calibration calibration(std::size_t size, Workload workload,
                            const std::optional<Calibration>& known = std::nullopt) override;

    /// The thresholds that hold in an entrant's process.
    CopyThresholds thresholds(Entrant entrant) const {
        return copy_thresholds(process_of(entrant).thresholds());
    }
    /// The first of the settings that copies `size` bytes in this way; kLibc where none does.
    Entrant copying(Way way, std::size_t size) const;

  private:
    RemoteCopy& process_of(Entrant entrant) const {
        const std::size_t listed = entrant.is_listed() ? 2 + entrant.index() : 0;
        return *processes_[entrant == kLibc ? 1 : listed];
    }

    std::vector<std::unique_ptr<RemoteCopy>> processes_; ///< libc again's and libc's first
    std::map<std::pair<std::size_t, Workload>, Calibration> calibrations_;
    std::vector<Disturbance> hits_; ///< of this round, each once
};

} // namespace asterope
