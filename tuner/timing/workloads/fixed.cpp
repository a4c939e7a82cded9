// The workloads fixed and fixed_read: one small size again and again, for each of several sizes.
// fixed_walk and fixed_walk_read: one copy right behind the other through uncached memory. There a
// copy that touches more than its own bytes waits for lines that it would not need yet. The result
// is the geometric mean of all sizes' times.
#include <algorithm>

#include "base/statistics.hpp"
#include "timing/placement.hpp"
#include "timing/workloads/workload_timer.hpp"

namespace asterope {

namespace {

constexpr std::size_t kCallsOfEach = 400; ///< in one sample, at least

/// Larger sizes are mostly whole lines, as the pipelines' sizes are. Sizes up to here decide the
/// registers of a small copy.
constexpr std::size_t kLargestWalked = 128;
/// Bytes through which one sample walks at each size: so many that its first line does not count.
constexpr std::size_t kWalkedBytes = 8192;

std::size_t calls_of(const WorkloadFacts& facts, std::size_t size) {
    return facts.walks ? std::max(kCallsOfEach, kWalkedBytes / size) : kCallsOfEach;
}

double time_fixed_size(Buffers& buffers, const WorkloadFacts& facts, const SampleTask& task,
                       std::size_t size) {
    const Arena& arena = *buffers.small.arena;
    const std::size_t place = roam(task.round);
    const char* source = arena.source() + place;
    char* destination = arena.destination() + kPhase + place;
    SmallCaller call(task.copy, facts.reads);
    const auto run = [&](std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const Misalignment past = misalignment(task.round + i);
            call(destination + past.destination, source + past.source, size);
        }
    };
    return time_calls(run, calls_of(facts, size) / 8, calls_of(facts, size));
}

double time_walked_size(Buffers& buffers, const WorkloadFacts& facts, const SampleTask& task,
                        std::size_t size) {
    const Arena& arena = *buffers.small.arena;
    const Misalignment past = misalignment(task.round);
    const char* source = arena.source() + past.source;
    char* destination = arena.destination() + kPhase + past.destination;
    SmallCaller call(task.copy, facts.reads);
    return buffers.walk(arena, size, [&](WalkPair& walk) {
        const auto run = [&](std::size_t count) {
            WalkPair next = walk; // a copy of its own may stay in registers
            for (std::size_t i = 0; i < count; ++i) {
                char* to = destination + next.destination.take();
                call(to, source + next.source.take(), size);
            }
            walk = next;
        };
        return time_calls(run, calls_of(facts, size) / 8, calls_of(facts, size));
    });
}

const std::vector<std::size_t>& sizes_of(const WorkloadFacts& facts) {
    return facts.walks ? walked_sizes() : fixed_sizes();
}

double time_fixed(Buffers& buffers, const WorkloadFacts& facts, const SampleTask& task) {
    const auto time_size = facts.walks ? time_walked_size : time_fixed_size;
    if (task.size) return time_size(buffers, facts, task, task.size);
    GeometricMean mean;
    for (const std::size_t size : sizes_of(facts)) mean.add(time_size(buffers, facts, task, size));
    return mean.mean();
}

std::size_t calls_of_a_sample(const WorkloadFacts& facts) {
    std::size_t calls = 0;
    for (const std::size_t size : sizes_of(facts)) calls += calls_of(facts, size);
    return calls;
}

} // namespace

const std::vector<std::size_t>& fixed_sizes() {
    static const std::vector<std::size_t> sizes = {1,  2,  3,  4,  6,  8,  12,  15,  16,  20,
                                                   24, 32, 40, 48, 64, 80, 100, 128, 192, 256};
    return sizes;
}

const std::vector<std::size_t>& walked_sizes() {
    static const std::vector<std::size_t> sizes = [] {
        std::vector<std::size_t> all = fixed_sizes();
        std::erase_if(all, [](std::size_t size) { return size > kLargestWalked; });
        return all;
    }();
    return sizes;
}

const WorkloadTimer workloads::fixed = {time_fixed, calls_of_a_sample};

} // namespace asterope
