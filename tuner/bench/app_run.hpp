// What the applications of asterope-bench have in common: libc's copy and the verified routine take
// turns in them, and each has a table.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "bench/contender.hpp"
#include "bench/routine.hpp"
#include "bench/suite.hpp"
#include "bench/table.hpp"
#include "machine/machine.hpp"
#include "timing/monitored_rounds.hpp"

namespace asterope {

/// One of these for a whole command.
class AppRun {
  public:
    /// Loads the routine and proves that it copies right: throws as routine_contender().
    explicit AppRun(const RoutineOptions& options);

    const Machine& machine() const { return machine_; }
    const Contenders& contenders() const { return contenders_; } ///< libc and the routine
    int rounds() const { return rounds_; }

    /// Throws BadInput where `needs` ("--file 1 TiB is"), which is so many bytes, is more than may
    /// be taken; `bytes_that_may_be_taken()`: half of all where the system does not say.
    void require_memory(std::size_t bytes, const std::string& needs) const;
    /// The same where `most` may be taken.
    static void require_memory(std::size_t bytes, const std::string& needs, std::size_t most);
    std::size_t bytes_that_may_be_taken() const;

    /// Starts the clock, and notes interrupts from now on. `cpu`: to be pinned to, negative: the
    /// last one allowed; none: processes of its own copy, whose counters are of other CPUs. Returns
    /// the CPU.
    int start(std::optional<int> cpu);

    /// Prints the table's header; `trials`: in all, of one copy each, or what each of them counts
    /// in Job::trial_seconds.
    void begin(std::unique_ptr<Table> table, double trials);
    /// Times libc's copy, the routine and libc's copy again, prints the rows and returns them.
    std::vector<Cell> measure(const Job& job);
    std::vector<Cell> measure(const Job& job, const Contenders& contenders);
    /// What disturbed all that; to be called when the rest has been printed.
    void warn() const;

  private:
    int rounds_;
    Machine machine_;
    Contenders contenders_;
    std::unique_ptr<Table> table_;
    std::optional<Progress> progress_;
    std::optional<MonitoredRounds> watched_;
};

/// How many times to do what moves `each` bytes so that it moves `bytes`; four times at least.
unsigned times_for(std::size_t bytes, std::size_t each);

/// How many bytes a copy moves, untimed, before its turn is timed: as many as the last cache holds,
/// so that none of what another copy left is written back in this one's turn. At most 64 MiB: a
/// shared cache may be said to be larger than what this machine has of it.
std::size_t settling_bytes_of(const Machine& machine);

/// Bytes of an application's copies that are timed in one turn of one of them.
inline constexpr std::size_t kTimedBytes = std::size_t{32} << 20;

} // namespace asterope
