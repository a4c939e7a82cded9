// The suite on several threads: all copy at once, each with its own buffers and CPU.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "bench/suite.hpp"
#include "timing/arena.hpp"
#include "timing/stopwatch.hpp"

namespace asterope {

/// Threads that take the same sample at the same time. The calling thread is one of them.
class Team {
  public:
    /// Starts a thread for each of `cpus` but the first: the calling thread is pinned to that
    /// already. Each touches its own arena of `arena_bytes` a side. Throws Failure where memory,
    /// threads or CPUs do not suffice.
    Team(const std::vector<int>& cpus, std::size_t arena_bytes, std::size_t largest_size,
         std::size_t cache_bytes);
    ~Team() { over_ = true; }
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    /// Fixes the calls of a sample, so that libc takes long enough for the threads to overlap.
    void calibrate(std::size_t size, Workload workload);

    /// Seconds between two successive ends of calls, of any thread: 1 / (calls a second of all).
    double time(const TimedCopy& copy, Workload workload, std::size_t size, std::uint64_t round);

  private:
    struct Task {
        TimedCopy copy;
        Workload workload;
        std::size_t size;
        std::uint64_t round;
    };
    /// The data of one thread, on its own cache lines.
    struct alignas(128) Member {
        std::unique_ptr<Arena> arena;
        std::unique_ptr<Stopwatch> stopwatch;
        double seconds = 0;
        std::exception_ptr error;
    };
    void take_turn(Member& member);

    std::vector<std::unique_ptr<Member>> members_; ///< the calling thread's first
    Task task_{};
    std::atomic<bool> over_ = false;
    std::atomic<std::uint64_t> begun_ = 0;             ///< samples
    std::atomic<std::size_t> arrived_ = 0, ended_ = 0; ///< threads, of all samples together
    std::vector<std::jthread> threads_;                ///< last: they use all of the above
};

/// 1, 2, 4, ... and all of `cpus`.
std::vector<int> thread_counts(std::size_t cpus);

/// Sizes by workloads for each number of threads. `cpus`: those to use, the calling thread's first.
/// Sizes that do not fit in the memory for so many threads are left out.
std::vector<Suite> thread_suites(const Setting& setting, const std::vector<int>& cpus,
                                 const std::vector<std::size_t>& sizes);

} // namespace asterope
