// The workloads fixed and fixed_read: one small size again and again, for each of several sizes;
// the geometric mean of their times.
#include <cmath>

#include "machine/cpu.hpp"
#include "timing/buffer_access.hpp"
#include "timing/clock.hpp"
#include "timing/placement.hpp"
#include "timing/workloads/workload_timer.hpp"

namespace asterope {

namespace {

constexpr std::size_t kCallsOfEach = 400; ///< in one trial

double time_fixed_size(const Buffers& buffers, const TimedCopy& copy, std::size_t size, bool read,
                       std::uint64_t round) {
    clean_vector_state();
    const std::size_t place = roam(round);
    const char* source = buffers.small.arena->source() + place;
    char* destination = buffers.small.arena->destination() + place + kPhase;
    const auto function = small_function(copy);
    const SecondArgument second(copy);
    std::uint64_t sum = 0;
    const auto run = [&](std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const Misalignment past = misalignment(round + i);
            char* to_here = destination + past.destination;
            function(to_here, second(source + past.source), size, copy.distance, copy.large);
            if (read) sum += read_copy(to_here, size);
        }
    };
    run(kCallsOfEach / 8);
    const std::uint64_t begin = ticks();
    run(kCallsOfEach);
    const double seconds = seconds_between(begin, ticks());
    keep(sum);
    return seconds / static_cast<double>(kCallsOfEach);
}

double time_fixed(Buffers& buffers, const WorkloadFacts& facts, const TrialTask& task) {
    if (task.size) return time_fixed_size(buffers, task.copy, task.size, facts.reads, task.round);
    double logs = 0;
    for (const std::size_t size : fixed_sizes()) {
        logs += std::log(time_fixed_size(buffers, task.copy, size, facts.reads, task.round));
    }
    return std::exp(logs / static_cast<double>(fixed_sizes().size()));
}

} // namespace

const std::vector<std::size_t>& fixed_sizes() {
    static const std::vector<std::size_t> sizes = {1,  2,  3,  4,  6,  8,  12,  15,  16,  20,
                                                   24, 32, 40, 48, 64, 80, 100, 128, 192, 256};
    return sizes;
}

const WorkloadTimer workloads::fixed = {time_fixed,
                                        [] { return kCallsOfEach * fixed_sizes().size(); }};

} // namespace asterope
