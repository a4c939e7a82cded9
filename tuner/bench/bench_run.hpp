// Times the jobs of a command and prints their tables, of suites or of an application.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/command_line.hpp"
#include "bench/routine.hpp"
#include "bench/suite.hpp"
#include "machine/machine.hpp"
#include "run/run_timings.hpp"
#include "timing/timings_by.hpp"

namespace asterope {

class BenchRun {
  public:
    BenchRun(const Machine& machine, Contenders contenders, int rounds)
        : rounds_(rounds), machine_(machine), contenders_(std::move(contenders)) {}
    /// A run of libc's copy and the routine, which it loads and proves: throws as
    /// routine_contender().
    explicit BenchRun(const RoutineOptions& options);

    const Machine& machine() const { return machine_; }
    void add(const Contender& contender) { contenders_.push_back(contender); }

    /// Pins this process to `cpu`, or to the last CPU allowed if negative. Returns that CPU. Starts
    /// the clock. If not `one_process`, a process on another CPU is timed too. Time stamp counters
    /// may differ between CPUs, so the system's clock is read then.
    int start(int cpu, bool one_process = true);

    /// Adds to the plan. `cost`: expected_cost() of a job, or of several.
    void plan(double cost) { timings_.progress.plan("", cost * rounds_); }
    /// About the cost of a round of the job, in the unit of Job::sample_cost.
    double expected_cost(const Job& job) const;
    /// Prints the table's header; without a table, neither header nor rows are printed.
    void begin(std::shared_ptr<Table> table);
    /// Times all copies of the job in paired rounds and prints the rows. libc runs twice in each
    /// round. Both entrants have the same cache effect, so they stand side by side, and the floor
    /// compares neighbours. Returns a cell for each label.
    std::vector<Cell> measure(const Job& job);
    void end(); ///< ends the table

    DisturbanceCounts noise() const { return timings_.disturbed_rounds().facts(); }
    /// Warns of disturbances; to be called when the rest has been printed.
    void warn() const;

  private:
    void print(const std::string& text);

    int rounds_;
    Machine machine_;
    Contenders contenders_;
    std::shared_ptr<Table> table_;
    RunTimings timings_{false};
    std::optional<TimingsBy> source_; ///< where their figures come from
};

/// Throws BadInput if `bytes` exceeds `most`, the bytes that may be taken. The message begins with
/// `needs`, such as "--file 1 TiB is".
void require_memory(std::size_t bytes, const std::string& needs, std::size_t most);

/// The number of copies of `each` bytes that move `bytes` in all; four at least.
unsigned times_for(std::size_t bytes, std::size_t each);

/// Bytes of an application's copies that are timed in one turn of one of them.
inline constexpr std::size_t kTimedBytes = std::size_t{32} << 20;

/// Does the work of a command in a child process, which notes interrupts. Returns the exit code.
/// The parent names a copy that crashes or hangs.
int in_child_process(const RoutineOptions& routine, const std::function<int()>& work);

/// The subcommands that time copies inside applications.
Subcommand add_cache_command(CLI::App& app);
Subcommand add_locality_command(CLI::App& app);
Subcommand add_messages_command(CLI::App& app);

} // namespace asterope
