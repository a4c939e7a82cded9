// A suite is a table and its jobs. Each job times copies for one cell or several.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/cell.hpp"
#include "bench/contender.hpp"
#include "bench/table.hpp"
#include "machine/machine.hpp"
#include "timing/arena.hpp"
#include "timing/distribution.hpp"
#include "timing/fresh_memory.hpp"
#include "timing/stopwatch.hpp"
#include "timing/workload.hpp"

namespace asterope {

/// About the speed of a copy, for estimates of time.
inline constexpr double kBytesPerSecond = 8e9;

/// The seconds of each part of a sample, the whole first.
using PartSeconds = std::vector<double>;

/// Copies that are timed in the same rounds. Most jobs have one label and one cell. An
/// application's job may have one for the whole sample and one for each part.
struct Job {
    std::string suite, workload;
    std::vector<std::string> labels; ///< of the cells, the whole's first
    std::size_t size = 0;            ///< bytes a call; 0 where calls are of many sizes
    int threads = 1;
    std::string weighting = ""; ///< "calls" or "bytes" of a mix
    bool moves = false;         ///< buffers overlap: copies without a memmove take no part
    /// Disturbed rounds are counted, and timed again. False where others copy, too: the monitor
    /// sees this thread alone.
    bool watched = true;
    /// About the relative cost of a sample, with its untimed parts. It serves the progress line
    /// alone, so any unit common to all jobs will do.
    double sample_cost = 0;
    /// Prepares the first sample; may be empty.
    std::function<void()> prepare = nullptr;
    /// Takes one sample of the contender. Returns a time for each label, as CopyResult::seconds.
    /// `cache_effect`: see Stopwatch::time; each contender has its own.
    std::function<PartSeconds(const Contender& contender, std::uint64_t round, int cache_effect)>
        time = nullptr;
};

struct Suite {
    std::shared_ptr<Table> table;
    std::vector<Job> jobs;
};

/// The input of suites. It outlives them, and so do the objects that it refers to.
struct Setting {
    const Machine& machine;
    const Contenders& contenders;
    const CallStatistics& statistics;       ///< for mixes
    const std::vector<Workload>& workloads; ///< of the suite `sizes`
    Operation operation = Operation::copy;
    bool with_peers() const { return contenders.size() > 2; }
    /// `cache_effect`: see Stopwatch::time.
    TimedCopy timed(const Contender& contender, int cache_effect = 0) const;
};

/// Returns `job` with its `time` and `sample_cost` set: the stopwatch's samples under a workload,
/// of about `seconds` each.
Job stopwatch_job(Job job, const Setting& setting, const std::shared_ptr<Stopwatch>& stopwatch,
                  Workload workload, double seconds);

/// Where the calls of one sample go, again and again.
struct RepeatedCall {
    char* destination;
    const char* source;
    std::shared_ptr<FreshMemory> memory = nullptr; ///< where the destination is, if it is fresh
};
/// Returns `job` with its functions and `sample_cost` set. A sample makes as many RepeatedCalls as
/// libc makes in about `seconds`, but at least `least_calls`. Untimed calls come first.
Job repeated_job(Job job, const Setting& setting, double seconds, std::size_t least_calls,
                 std::function<RepeatedCall(std::uint64_t round)> place);

/// A table for these jobs: of libc and the routine, or with a column for each that takes part in
/// some job.
Suite suite_of(const std::string& title, const Setting& setting, std::vector<Job> jobs);

/// Calls on one buffer whose first, untimed calls touched its pages. Then blocks of calls on cached
/// buffers alternate with blocks on sources just written (for memset: on uncached buffers). Then
/// buffers across a page's end, and unpredictable small sizes, all equally likely.
std::vector<Suite> state_suites(const Setting& setting, const Arena& arena,
                                const std::vector<std::size_t>& sizes);

/// A suite that can be asked for.
struct NamedSuite {
    const char* name;
    /// Its tables, of ascending sizes. Null: see thread_suites().
    std::vector<Suite> (*make)(const Setting& setting, const Arena& arena,
                               const std::vector<std::size_t>& sizes);
    const char* sizes;   ///< used without --sizes
    bool takes_profiles; ///< a profile's sizes replace the default sizes
    bool of_sets; ///< it needs no source, and no function of the routine that only copies have
};

extern const std::array<NamedSuite, 9> kSuites; ///< in the order in which they run

/// Whether the contender takes part. Where buffers overlap, those with a memmove do. Elsewhere
/// Contender::workloads decides, and threaded copies do only where one thread copies.
bool takes_part(const Contender& contender, const Job& job);

} // namespace asterope
