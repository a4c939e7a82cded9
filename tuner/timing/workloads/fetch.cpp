// The workload fetch: each call has another source, as in cold. All copy to the same buffer, which
// is cached if it fits, and read_copy reads each copy. So programs take files and messages into a
// buffer and use them there. fetch_walk takes one source after the other, as cold_walk does. In
// lookup, a look-up comes before each call, and the call waits for its result.
#include <type_traits>

#include "timing/buffer_access.hpp"
#include "timing/clock.hpp"
#include "timing/placement.hpp"
#include "timing/workloads/look_up.hpp"
#include "timing/workloads/workload_timer.hpp"

namespace asterope {

namespace {

/// `ready(i)` is called before the i-th call and returns 0, as soon as the source is known.
template <class Place, class Ready>
double time_fetches(Buffers& buffers, const SampleTask& task, Sides<Place>& places,
                    const Ready& ready) {
    constexpr bool kWalks = std::is_same_v<Place, Walk>; // see cold.cpp
    char* tail = buffers.arena.destination() + buffers.cold_bytes;
    std::uint64_t sum = 0;
    const auto call = [&](std::size_t i) {
        const Misalignment past = misalignment(task.round + (kWalks ? 0 : i));
        const std::size_t from = places.take().source + ready(i);
        // At the source's place in the page plus kPhase: no aliasing here either.
        char* to = tail + (from + kPhase) % 4096 + past.destination;
        task.copy.function(to, buffers.arena.source() + from + past.source, task.size,
                           task.copy.argument);
        sum += read_copy(to, task.size);
    };
    const std::size_t untimed = kWalks ? kLeadIn : 1, calls = task.calibration.calls;
    for (std::size_t i = 0; i < untimed; ++i) call(i);
    const std::uint64_t begin = ticks();
    for (std::size_t i = untimed; i < untimed + calls; ++i) call(i);
    const std::uint64_t end = ticks();
    buffers.sum_read += sum;
    return seconds_between(begin, end) / static_cast<double>(calls);
}

double time_fetch(Buffers& buffers, const WorkloadFacts& facts, const SampleTask& task) {
    const auto known = [](std::size_t) { return std::size_t{0}; };
    if (!facts.walks) return time_fetches(buffers, task, buffers.slots(task.size), known);
    return buffers.walk(buffers.arena, walked_stride(task.size),
                        [&](WalkPair& walk) { return time_fetches(buffers, task, walk, known); });
}

/// The destination's slots are the table: no source of this sample lies there. Each look-up has a
/// key of its own that is known beforehand. So it may begin while the copy before it still runs.
/// The copy behind it cannot begin before the look-up has ended.
double time_lookup(Buffers& buffers, const WorkloadFacts&, const SampleTask& task) {
    const char* table = buffers.arena.destination();
    const std::size_t lines = buffers.slot_bytes / 64;
    const auto look = [&](std::size_t) {
        return nothing_of(look_up(table, lines, ++buffers.looked_up));
    };
    return time_fetches(buffers, task, buffers.slots(task.size), look);
}

} // namespace

const WorkloadTimer workloads::fetch = {time_fetch};
const WorkloadTimer workloads::lookup = {time_lookup};

} // namespace asterope
