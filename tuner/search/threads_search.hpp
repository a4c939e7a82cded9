// Finds out from which size on several threads copy faster than one, how many, in which chunks.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "search/race.hpp"
#include "search/search.hpp"
#include "space/candidates.h"

namespace asterope {

/// Bytes from which on copies over threads are tried: less is copied before anybody has come.
inline constexpr std::size_t kSharedMinimum = std::size_t{256} << 10;

/// How a copy is shared among threads.
struct ThreadShare {
    unsigned threads = 1;  ///< the caller included; 1: it copies alone
    std::size_t chunk = 0; ///< bytes that each copies at a time; 0: an even share for each
    bool operator==(const ThreadShare&) const = default;
};

/// "threads 2 chunk 1 MiB"; "threads 2 even".
std::string share_name(const ThreadShare& share);

/// All that is tried for `size` bytes where there may be `most` threads: fewest threads first, and
/// of as many the even share first. Powers of two and `most`: what lies in between differs by less
/// than they do from one another. No chunk that would leave a thread without one.
std::vector<ThreadShare> shares_for(std::size_t size, unsigned most);

/// What was found at one size.
struct SharedSize {
    std::size_t size; ///< bytes
    ThreadShare best; ///< the best copy over threads
    bool taken;       ///< it beats one thread by more than the noise
    double ratio;     ///< one thread's time over its own: weighted geometric mean
    /// Of Measured, `libc_seconds` are those of one thread, and so in the ratio.
    std::map<Workload, Measured> workloads;
    std::map<Workload, Estimate> noise_floor; ///< one thread's time over one thread's
    int rounds;
};

/// In `timings`, entrant 0 is the routine's copy of `size` by one thread, the others are `shares`,
/// from 1 on. No libc: what is compared is one thread with several. Ties, and what
/// noise hides, go to one thread, then to the fewest; a loss to one thread counts several times,
/// see utility().
SharedSize search_shares(const std::vector<ThreadShare>& shares, std::size_t size,
                         const Weights& weights, const Rigor& rigor, std::mt19937_64& random,
                         const TimedCopies& timings);

} // namespace asterope
