// The workload bystander: cold copies. After each one the program reads other data of its own,
// which is timed, too. It reads a whole working set, half as large as the second cache. It also
// reads as many lines as were copied from a second one, a quarter of the last cache, which it goes
// through in turn. A copy's data in the caches drives that data out, which the copy's own time does
// not show.
#include <algorithm>

#include "timing/clock.hpp"
#include "timing/placement.hpp"
#include "timing/workloads/workload_timer.hpp"

namespace asterope {

namespace {

/// Loads each of the next `lines`. These loads do not wait for one another. Every line begins with
/// 1.
std::uint64_t read_lines(const char* at, Slots& set, std::size_t lines) {
    Slots next = set; // a copy of its own may stay in registers
    std::uint64_t sum = 0;
    for (; lines; --lines) sum += static_cast<unsigned char>(at[next.take()]);
    set = next;
    return sum;
}

double time_bystander(Buffers& buffers, const WorkloadFacts&, const SampleTask& task) {
    if (!buffers.other_data) buffers.other_data.emplace(buffers.small.caches);
    OtherData& other = *buffers.other_data;
    SlotPair& slots = buffers.slots(task.size);
    const auto read_near = [&] {
        return read_lines(other.memory.begin(), other.near, other.near.count);
    };
    const char* const far = other.memory.begin() + other.near.count * 64;
    const std::size_t far_lines = std::min(task.size / 64, other.far.count);
    std::uint64_t sum = read_near();
    const std::uint64_t begin = ticks();
    for (std::size_t i = 0; i < task.calibration.calls; ++i) {
        const Misalignment past = misalignment(task.round + i);
        const auto [from, to] = slots.take();
        task.copy.function(buffers.arena.destination() + kPhase + to + past.destination,
                           buffers.arena.source() + from + past.source, task.size,
                           task.copy.argument);
        sum += read_lines(far, other.far, far_lines) + read_near();
    }
    const std::uint64_t end = ticks();
    buffers.sum_read += sum;
    return seconds_between(begin, end) / static_cast<double>(task.calibration.calls);
}

} // namespace

const WorkloadTimer workloads::bystander = {time_bystander};

} // namespace asterope
