// A copy cut in parts, one for each thread of a small pool.
#pragma once

#include <cstddef>

#include "timing/workload.hpp"

namespace asterope::peers {

/// Where the threaded peers begin to use threads, in bytes; the article's smallest size.
inline constexpr std::size_t kLeastOverThreads = std::size_t{32} << 10;

/// Copies in equal parts, by as many threads as this process may use CPUs, the calling one
/// included; at least two. "Going faster than memcpy" starts std::threads for every copy. Here they
/// are started once, when they are first needed, and wait: the stronger opponent.
///
/// Below kLeastOverThreads, where no thread can be started, and while another copy has the pool, it
/// copies alone. A forked child starts a pool of its own.
///
/// The threads keep the CPU affinity of the thread that starts them: make the first copy of
/// kLeastOverThreads before pinning anything to one CPU.
void* copy_over_threads(CopyFunction copy, void* destination, const void* source,
                        std::size_t bytes);

/// The same as a CopyFunction.
template <CopyFunction copy>
void* threaded(void* destination, const void* source, std::size_t bytes, std::size_t) {
    return copy_over_threads(copy, destination, source, bytes);
}

} // namespace asterope::peers
