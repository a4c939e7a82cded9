// The workload fetch: calls from other sources each, as cold, to one and the same buffer, which is
// cached if it fits, and read_copy of each: files and messages that are taken into a buffer and
// used there.
#include "timing/buffer_access.hpp"
#include "timing/clock.hpp"
#include "timing/placement.hpp"
#include "timing/workloads/workload_timer.hpp"

namespace asterope {

namespace {

double time_fetch(Buffers& buffers, const WorkloadFacts&, const TrialTask& task) {
    SlotPair& slots = buffers.slots(task.size);
    char* tail = buffers.arena.destination() + buffers.cold_bytes;
    const std::size_t calls = task.calibration.calls;
    std::uint64_t sum = 0;
    const auto call = [&](std::size_t i) {
        const Misalignment past = misalignment(task.round + i);
        const std::size_t from = slots.source.take();
        slots.destination.take(); // as cold: the two sides stay side by side
        // At the source's place in the page plus kPhase: no aliasing here either.
        char* to = tail + (from + kPhase) % 4096 + past.destination;
        task.copy.function(to, buffers.arena.source() + from + past.source, task.size,
                           task.copy.distance);
        sum += read_copy(to, task.size);
    };
    call(0);
    const std::uint64_t begin = ticks();
    for (std::size_t i = 1; i <= calls; ++i) call(i);
    const std::uint64_t end = ticks();
    buffers.sum_read += sum;
    return seconds_between(begin, end) / static_cast<double>(calls);
}

} // namespace

const WorkloadTimer workloads::fetch = {time_fetch};

} // namespace asterope
