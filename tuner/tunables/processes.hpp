// Trials of memcpy under several settings of glibc's tunables, each in a process of its own.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/progress.hpp"
#include "timing/disturbed_rounds.hpp"
#include "timing/remote_copy.hpp"
#include "timing/timings.hpp"
#include "tunables/ways.hpp"

namespace asterope {

/// What a trial of so many bytes counts in Progress.
inline double trial_work(std::size_t size) {
    return 1 + static_cast<double>(size) / (1 << 20);
}

/// What a process counts until it is ready: its buffers are filled.
inline constexpr double kStartWork = 200;

/// Entrant i is the i-th of the settings. libc and libc again are two processes with the default:
/// how far they seem apart is what another process alone does.
class Processes : public Timings {
  public:
    /// Throws as RemoteCopy.
    Processes(const std::vector<LibcThresholds>& settings, const RemoteSetup& setup,
              Progress& progress, DisturbedRounds& rounds);

    Trial trial(const TrialRequest& asked) override;
    RoundEnd round_ended() override;
    /// As the default's process finds it, once.
    Calibration calibration(std::size_t size, Workload workload,
                            const std::optional<Calibration>& known = std::nullopt) override;

    /// What holds in an entrant's process.
    CopyThresholds thresholds(Entrant entrant) const {
        return copy_thresholds(process_of(entrant).thresholds());
    }
    /// The first of the settings that copies `size` bytes in this way; kLibc where none does.
    Entrant copying(Way way, std::size_t size) const;

  private:
    RemoteCopy& process_of(Entrant entrant) const {
        return *processes_[static_cast<std::size_t>(entrant - kLibcAgain)];
    }

    std::vector<std::unique_ptr<RemoteCopy>> processes_; ///< libc again's and libc's first
    Progress& progress_;
    DisturbedRounds& rounds_;
    std::map<std::pair<std::size_t, Workload>, Calibration> calibrations_;
    std::vector<Disturbance> hits_; ///< of this round, each once
    double round_seconds_ = 0;
};

} // namespace asterope
