// The workload half_cached: as cold, but the first or the second half of each source, in turn, was
// just read, untimed. So does a program that looks into its data before it copies it.
#include "timing/buffer_access.hpp"
#include "timing/clock.hpp"
#include "timing/placement.hpp"
#include "timing/workloads/workload_timer.hpp"

namespace asterope {

namespace {

double time_half_cached(Buffers& buffers, const WorkloadFacts&, const SampleTask& task) {
    auto& slots = buffers.slots(task.size);
    const std::size_t half = task.size / 2, calls = task.calibration.calls;
    std::uint64_t elapsed = 0;
    for (std::size_t i = 0; i < calls; ++i) {
        const Misalignment past = misalignment(task.round + i);
        const auto [from, to] = slots.take();
        const char* source = buffers.arena.source() + from + past.source;
        char* destination = buffers.arena.destination() + kPhase + to + past.destination;
        buffers.sum_read += read_copy(source + (task.round + i) % 2 * half, half);
        const std::uint64_t begin = ticks();
        task.copy.function(destination, source, task.size, task.copy.argument);
        elapsed += ticks() - begin;
    }
    return seconds_between(0, elapsed) / static_cast<double>(calls);
}

} // namespace

const WorkloadTimer workloads::half_cached = {time_half_cached};

} // namespace asterope
