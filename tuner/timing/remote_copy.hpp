// glibc's memcpy with its tunables set. It is timed in another process, as tunables are read only
// when a process starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/child_process.hpp"
#include "base/descriptor.hpp"
#include "timing/disturbance_monitor.hpp"
#include "timing/stopwatch.hpp"

namespace asterope {

/// The thresholds as GLIBC_TUNABLES has them: "glibc.cpu.x86_rep_movsb_threshold=1024:...".
std::string tunables_text(const LibcThresholds& thresholds);

/// The value of GLIBC_TUNABLES for these thresholds, with all others that this environment sets.
std::string tunables_variable(const LibcThresholds& thresholds);

/// The settings that the other process shares with this one: see Arena and Stopwatch.
struct RemoteSetup {
    int cpu; ///< it is pinned to
    std::size_t arena_bytes, largest_size, cache_bytes;
    int patience = 60; ///< seconds until a process that does not answer counts as hanging
};

/// This very program, started again with GLIBC_TUNABLES. It times libc's memcpy in its own arena on
/// request, while this one waits. It ends with the object, and with this process.
class RemoteCopy {
  public:
    /// Throws BadInput where glibc does not know a threshold or does not take its value. Throws
    /// Failure where the process does not start or lacks memory. Call it after threads were
    /// started.
    RemoteCopy(const LibcThresholds& thresholds, const RemoteSetup& setup);

    /// Seconds a call of one sample, as Stopwatch::time gives them. Another copy ran in between. So
    /// where nothing is cached, each sample begins with untimed copies until libc's have settled
    /// the caches. Throws Failure where the process died or hangs.
    double time(std::size_t size, Workload workload, std::uint64_t round,
                const Calibration& calibration);

    /// The disturbances of the last sample there.
    std::vector<Disturbance> disturbances() const;

    /// The calibration that Stopwatch::calibrate finds there.
    Calibration calibrate(std::size_t size, Workload workload);

    /// The thresholds that hold in the other process, asked for or not. The stop of `rep movsb`
    /// (kRepMovsbStopThreshold) is among them where it is known, also of a glibc that has no
    /// tunable for it.
    const LibcThresholds& thresholds() const { return thresholds_; }

    pid_t process() const { return process_->pid(); }

    /// The main loop of the other process: it answers requests until the socket closes.
    static void serve(int socket);

  private:
    struct Request;
    struct Answer;
    /// Throws Failure where the process has ended: "the process" and `gone`.
    template <class Message>
    Answer ask(const Message& message,
               const std::string& gone = "that timed glibc's tunables has died");

    Descriptor socket_;
    std::optional<ChildProcess> process_;
    int patience_;
    LibcThresholds thresholds_;
    unsigned disturbances_ = 0; ///< a bit each
};

/// First in main: where the program was started to serve a RemoteCopy, does so until that is gone
/// and returns the exit code.
std::optional<int> serve_samples(int argc, char** argv);

} // namespace asterope
