// The workloads fixed_walk and fixed_walk_read: one small size, one copy right behind the other
// through memory that is in no cache, for each of several sizes; the geometric mean of their times.
// A copy that touches more than its own bytes meets lines here that nobody has asked for yet.
#include <algorithm>
#include <cmath>

#include "machine/cpu.hpp"
#include "timing/buffer_access.hpp"
#include "timing/clock.hpp"
#include "timing/placement.hpp"
#include "timing/workloads/workload_timer.hpp"

namespace asterope {

namespace {

constexpr std::size_t kLargest = 64; ///< larger ones are a line each, and more
/// What one trial copies of each size: as many lines that where the walk begins does not count.
constexpr std::size_t kWalkedBytes = 8192, kLeastCalls = 400;

std::size_t calls_of(std::size_t size) {
    return std::max(kLeastCalls, kWalkedBytes / size);
}

double time_walked_size(Buffers& buffers, const TimedCopy& copy, std::size_t size, bool read,
                        std::uint64_t round) {
    clean_vector_state();
    const Arena& arena = *buffers.small.arena;
    const Misalignment past = misalignment(round);
    const char* source = arena.source() + past.source;
    char* destination = arena.destination() + kPhase + past.destination;
    WalkPair walk = buffers.walk(arena, size);
    const auto function = small_function(copy);
    const SecondArgument second(copy);
    std::uint64_t sum = 0;
    const auto run = [&](std::size_t count) {
        WalkPair next = walk; // a copy of its own may stay in registers
        for (std::size_t i = 0; i < count; ++i) {
            char* to_here = destination + next.destination.take();
            const char* from_here = source + next.source.take();
            function(to_here, second(from_here), size, copy.distance, copy.large);
            if (read) sum += read_copy(to_here, size);
        }
        walk = next;
    };
    const std::size_t calls = calls_of(size);
    run(calls / 8);
    const std::uint64_t begin = ticks();
    run(calls);
    const double seconds = seconds_between(begin, ticks());
    keep(sum);
    buffers.took(arena, walk);
    return seconds / static_cast<double>(calls);
}

double time_fixed_walk(Buffers& buffers, const WorkloadFacts& facts, const TrialTask& task) {
    if (task.size) return time_walked_size(buffers, task.copy, task.size, facts.reads, task.round);
    double logs = 0;
    for (const std::size_t size : walked_sizes()) {
        logs += std::log(time_walked_size(buffers, task.copy, size, facts.reads, task.round));
    }
    return std::exp(logs / static_cast<double>(walked_sizes().size()));
}

std::size_t calls_of_a_trial() {
    std::size_t calls = 0;
    for (const std::size_t size : walked_sizes()) calls += calls_of(size);
    return calls;
}

} // namespace

const std::vector<std::size_t>& walked_sizes() {
    static const std::vector<std::size_t> sizes = [] {
        std::vector<std::size_t> all = fixed_sizes();
        std::erase_if(all, [](std::size_t size) { return size > kLargest; });
        return all;
    }();
    return sizes;
}

const WorkloadTimer workloads::fixed_walk = {time_fixed_walk, calls_of_a_trial};

} // namespace asterope
