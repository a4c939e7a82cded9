// glibc's memcpy with its tunables set: timed in a process of its own, as they are read only when a
// process starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <sys/types.h>

#include "timing/stopwatch.hpp"

namespace asterope {

/// Bytes by the name of a tunable, without "glibc.cpu." before it, as in Machine::libc_thresholds.
using LibcThresholds = std::map<std::string, std::size_t>;

/// As GLIBC_TUNABLES has it: "glibc.cpu.x86_rep_movsb_threshold=1024:...".
std::string tunables_text(const LibcThresholds& thresholds);

/// What the other process has in common with this one: see Arena and Stopwatch.
struct RemoteSetup {
    int cpu; ///< it is pinned to
    std::size_t arena_bytes, largest_size, cache_bytes;
};

/// This very program, started again with GLIBC_TUNABLES, which times libc's memcpy in an arena of
/// its own when asked, while this one waits. It ends with the object, and with this process.
class RemoteCopy {
  public:
    /// Throws BadInput where glibc does not know a threshold or does not take its value, Failure
    /// where the process does not come up or finds no memory. Call it once the clock runs and after
    /// threads were started.
    RemoteCopy(const LibcThresholds& thresholds, const RemoteSetup& setup);
    ~RemoteCopy();
    RemoteCopy(const RemoteCopy&) = delete;
    RemoteCopy& operator=(const RemoteCopy&) = delete;

    /// Seconds a call of one trial, as Stopwatch::time, of `calls` calls. What ran in between was
    /// another copy, so where nothing is cached each trial begins with untimed copies until
    /// the caches are as libc's leave them. Throws Failure where the process died.
    double time(std::size_t size, Workload workload, std::uint64_t round, std::size_t calls);

    pid_t process() const { return process_; }

  private:
    void end();

    pid_t process_;
    int socket_;
};

/// First in main: where the program was started to serve a RemoteCopy, does so until that is gone
/// and returns the exit code.
std::optional<int> serve_trials(int argc, char** argv);

} // namespace asterope
