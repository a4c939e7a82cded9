// The workloads cold and consume: a run of calls, each on another slot. Leaves out page faults.
#include "timing/buffer_access.hpp"
#include "timing/clock.hpp"
#include "timing/placement.hpp"
#include "timing/workloads/workload_timer.hpp"

namespace asterope {

namespace {

double time_cold(Buffers& buffers, const WorkloadFacts& facts, const TrialTask& task) {
    const bool read = facts.reads;
    SlotPair slots = buffers.slots(task.size); // a copy of its own may stay in registers
    const char* source = buffers.arena.source();
    char* destination = buffers.arena.destination() + kPhase;
    const TimedCopy copy = task.copy;
    const std::size_t calls = task.calibration.calls;
    std::uint64_t sum = 0;
    const std::uint64_t begin = ticks();
    for (std::size_t i = 0; i < calls; ++i) {
        const Misalignment past = misalignment(task.round + i);
        const std::size_t to = slots.destination.take(), slot = slots.source.take();
        const std::size_t from = slot + (to - slot) % 4096; // slot, where nothing is mapped
        char* to_here = destination + to + past.destination;
        copy.function(to_here, source + from + past.source, task.size, copy.distance);
        if (read) sum += read_copy(to_here, task.size);
    }
    const std::uint64_t end = ticks();
    buffers.slots(task.size) = slots;
    buffers.sum_read += sum;
    return seconds_between(begin, end) / static_cast<double>(calls);
}

} // namespace

const WorkloadTimer workloads::cold = {time_cold};

} // namespace asterope
