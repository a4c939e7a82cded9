// The workload overlapping: moves between buffers that overlap, of several sizes by several
// shifts; the geometric mean of their times.
#include "timing/workloads/overlapping.hpp"

#include <cmath>

#include "machine/cpu.hpp"
#include "timing/clock.hpp"
#include "timing/placement.hpp"
#include "timing/workloads/workload_timer.hpp"

namespace asterope {

namespace {

std::size_t calls_of(const Overlap& overlap) {
    return kOverlapTrialBytes / overlap.size + 1;
}

void run(CopyFunction move, char* source, const Overlap& overlap, std::uint64_t first,
         std::size_t calls) {
    for (std::uint64_t i = first; i != first + calls; ++i) {
        char* from = source + misalignment(i).source;
        move(from + overlap.shift, from, overlap.size, 0);
    }
}

} // namespace

std::vector<Overlap> overlaps_of(const std::vector<std::size_t>& sizes) {
    std::vector<Overlap> overlaps;
    for (const std::size_t size : sizes) {
        for (const std::ptrdiff_t shift : kShifts) {
            if (static_cast<std::size_t>(shift) >= size) continue;
            overlaps.push_back({size, shift});
            overlaps.push_back({size, -shift});
        }
    }
    return overlaps;
}

double time_overlap(const Arena& arena, CopyFunction move, const Overlap& overlap,
                    std::uint64_t round) {
    clean_vector_state();
    const std::size_t calls = calls_of(overlap), shift = std::abs(overlap.shift);
    const std::size_t room = (overlap.size + shift + kRoaming + 64 + 4095) / 4096 * 4096;
    char* source = arena.destination() + arena.bytes() - room + roam(round);
    if (overlap.shift < 0) source += shift;
    run(move, source, overlap, round, calls / 8 + 1);
    const std::uint64_t begin = ticks();
    run(move, source, overlap, round, calls);
    return seconds_between(begin, ticks()) / static_cast<double>(calls);
}

namespace {

double time_overlapping(Buffers& buffers, const WorkloadFacts&, const TrialTask& task) {
    const std::vector<Overlap> overlaps = overlaps_of(kOverlapSizes);
    double logs = 0;
    for (const Overlap& overlap : overlaps) {
        logs += std::log(time_overlap(buffers.arena, task.copy.function, overlap, task.round));
    }
    return std::exp(logs / static_cast<double>(overlaps.size()));
}

std::size_t calls_of_all() {
    std::size_t calls = 0;
    for (const Overlap& overlap : overlaps_of(kOverlapSizes)) calls += calls_of(overlap);
    return calls;
}

} // namespace

const WorkloadTimer workloads::overlapping = {time_overlapping, calls_of_all};

} // namespace asterope
