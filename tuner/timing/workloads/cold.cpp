// The workloads cold and consume: a run of calls, each on another slot; cold_walk and consume_walk:
// on one block after the other. They leave out page faults.
#include <type_traits>

#include "timing/buffer_access.hpp"
#include "timing/clock.hpp"
#include "timing/placement.hpp"
#include "timing/workloads/workload_timer.hpp"

namespace asterope {

namespace {

/// Makes so many calls. Returns the sum of their readers.
template <class Place>
std::uint64_t run_calls(const Buffers& buffers, const WorkloadFacts& facts, const SampleTask& task,
                        Sides<Place>& places, std::size_t calls) {
    // A walk has one misalignment a sample, as its stride is constant; the stride itself moves it
    // on.
    constexpr std::size_t kTurns = std::is_same_v<Place, Walk> ? 0 : 1;
    const bool read = facts.reads;
    const char* source = buffers.arena.source();
    char* destination = buffers.arena.destination() + kPhase;
    const TimedCopy copy = task.copy;
    const SecondArgument second(copy);
    Sides<Place> next = places; // a copy of its own may stay in registers
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < calls; ++i) {
        const Misalignment past = misalignment(task.round + i * kTurns);
        const auto [from, to] = next.take();
        char* to_here = destination + to + past.destination;
        copy.function(to_here, second(source + from + past.source), task.size, copy.argument);
        if (read) sum += read_copy(to_here, task.size);
    }
    places = next;
    return sum;
}

template <class Place>
double time_places(Buffers& buffers, const WorkloadFacts& facts, const SampleTask& task,
                   Sides<Place>& places) {
    if (facts.walks) buffers.sum_read += run_calls(buffers, facts, task, places, kLeadIn);
    const std::size_t calls = task.calibration.calls;
    const std::uint64_t begin = ticks();
    const std::uint64_t sum = run_calls(buffers, facts, task, places, calls);
    const std::uint64_t end = ticks();
    buffers.sum_read += sum;
    return seconds_between(begin, end) / static_cast<double>(calls);
}

double time_cold(Buffers& buffers, const WorkloadFacts& facts, const SampleTask& task) {
    if (!facts.walks) return time_places(buffers, facts, task, buffers.slots(task.size));
    return buffers.walk(buffers.arena, walked_stride(task.size),
                        [&](WalkPair& walk) { return time_places(buffers, facts, task, walk); });
}

} // namespace

const WorkloadTimer workloads::cold = {time_cold};

} // namespace asterope
