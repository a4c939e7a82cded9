// The workload produce: the sources of a group of calls are written, all in one stretch that stays
// cached as far as it fits; then the copies of the group are timed, to slots as cold ones. A group
// is one call from 16 KiB up, and below as many as keep their sources in the first cache: the
// clock, read twice a group, costs tens of nanoseconds, as much as a copy of 128 bytes.
#include "timing/workloads/buffers.hpp"

#include <algorithm>
#include <array>

#include "timing/buffer_access.hpp"
#include "timing/clock.hpp"
#include "timing/placement.hpp"
#include "timing/workloads/workload_timer.hpp"

namespace asterope {

namespace {

/// What the sources of a group take together, at most: half of a small first cache, as the
/// destinations' lines come to stay there too.
constexpr std::size_t kGroupBytes = std::size_t{16} << 10;

double time_produce(Buffers& buffers, const WorkloadFacts&, const TrialTask& task) {
    struct Call {
        char *destination, *source;
    };
    std::array<Call, kGroupCalls> group;
    const std::size_t size = task.size, calls = task.calibration.calls;
    const std::size_t most = std::clamp<std::size_t>(kGroupBytes / size, 1, kGroupCalls);
    // Each source begins at its destination's place in the page, less kPhase: no aliasing here
    // either. So each has room for a page, the misalignment and itself.
    const std::size_t pitch = (size / 4096 + 2) * 4096;
    SlotPair& slots = buffers.slots(size);
    char* sources = buffers.arena.writable_source() + buffers.cold_bytes;
    const TimedCopy copy = task.copy;
    std::uint64_t elapsed = 0;
    for (std::size_t done = 0; done < calls;) {
        const std::size_t count = std::min(most, calls - done);
        for (std::size_t i = 0; i < count; ++i, ++done) {
            const Misalignment past = misalignment(task.round + done);
            const std::size_t at = slots.take().destination;
            group[i] = {buffers.arena.destination() + kPhase + at + past.destination,
                        sources + i * pitch + at % 4096 + past.source};
            write_source(group[i].source, size, buffers.written);
            buffers.written += size / 8 + 1;
        }
        const std::uint64_t begin = ticks();
        for (std::size_t i = 0; i < count; ++i) {
            copy.function(group[i].destination, group[i].source, size, copy.distance);
        }
        elapsed += ticks() - begin;
    }
    return seconds_between(0, elapsed) / static_cast<double>(calls);
}

} // namespace

const WorkloadTimer workloads::produce = {time_produce};

} // namespace asterope
