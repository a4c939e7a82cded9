// The usual sizes of caches, and one sample of a sequence of calls.
#include "timing/workloads/small_calls.hpp"

#include <algorithm>

namespace asterope {

std::size_t cache_bytes(const std::vector<Cache>& caches, int level) {
    std::size_t bytes = 0;
    for (const Cache& cache : caches) {
        if (cache.level <= level) bytes = std::max(bytes, cache.bytes);
    }
    return bytes ? bytes : std::size_t{32} << (10 + 5 * (level - 1)); // 32 KiB, 1 MiB, 32 MiB
}

double time_sequence(CallSequence& sequence, const TimedCopy& copy, Weighting weighting,
                     bool read) {
    if (sequence.next + sequence.warm + sequence.timed > sequence.calls.size()) sequence.next = 0;
    // A program does not have this list of calls, so the sample must not wait for it. When it came
    // from memory, mixes in the first cache took 12 ns a call in one sample and 35 in the next.
    std::uint32_t listed = 0;
    for (std::size_t i = 0; i < sequence.warm + sequence.timed; ++i) {
        listed += sequence.calls[sequence.next + i].size;
    }
    keep(listed);
    SmallCaller call(copy, read);
    // Untimed calls bring the copy and the working set into their caches. No call is repeated.
    const auto run = [&](std::size_t count) {
        for (const std::size_t end = sequence.next + count; sequence.next < end; ++sequence.next) {
            const CallSequence::Call& one = sequence.calls[sequence.next];
            call(sequence.destination + one.destination, sequence.source + one.source, one.size);
        }
    };
    const double seconds = time_calls(run, sequence.warm, sequence.timed);
    if (weighting == Weighting::calls) return seconds;
    double bytes = 0;
    for (std::size_t i = sequence.next - sequence.timed; i < sequence.next; ++i) {
        bytes += static_cast<double>(sequence.calls[i].size);
    }
    return seconds * static_cast<double>(sequence.timed) / bytes * sequence.mean_bytes;
}

} // namespace asterope
