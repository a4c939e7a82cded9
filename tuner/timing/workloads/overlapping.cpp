// The workloads overlapping and overlapping_pages: moves between buffers that overlap, of several
// sizes by several shifts; the geometric mean of their times.
#include "timing/workloads/overlapping.hpp"

#include "base/statistics.hpp"
#include "timing/placement.hpp"
#include "timing/repeated_copy.hpp"
#include "timing/workloads/workload_timer.hpp"

namespace asterope {

namespace {

std::size_t calls_of(const Overlap& overlap) {
    return kOverlapSampleBytes / overlap.size + 1;
}

} // namespace

std::vector<Overlap> overlaps_of(const std::vector<std::size_t>& sizes,
                                 std::span<const std::ptrdiff_t> shifts) {
    std::vector<Overlap> overlaps;
    for (const std::size_t size : sizes) {
        for (const std::ptrdiff_t shift : shifts) {
            if (static_cast<std::size_t>(shift) >= size) continue;
            overlaps.push_back({size, shift});
            overlaps.push_back({size, -shift});
        }
    }
    return overlaps;
}

double time_overlap(const Arena& arena, CopyFunction move, const Overlap& overlap,
                    std::uint64_t round) {
    const std::size_t shift = std::abs(overlap.shift);
    const std::size_t room = (overlap.size + shift + kRoaming + 64 + 4095) / 4096 * 4096;
    char* source = arena.destination() + arena.bytes() - room + roam(round);
    if (overlap.shift < 0) source += shift;
    return time_calls(
        [&](std::size_t calls) {
            for (std::uint64_t i = round; i != round + calls; ++i) {
                char* from = source + misalignment(i).source;
                move(from + overlap.shift, from, overlap.size, 0);
            }
        },
        calls_of(overlap));
}

namespace {

template <const auto& kOf>
double time_overlapping(Buffers& buffers, const WorkloadFacts&, const SampleTask& task) {
    GeometricMean mean;
    for (const Overlap& overlap : overlaps_of(kOverlapSizes, kOf)) {
        mean.add(time_overlap(buffers.arena, task.copy.function, overlap, task.round));
    }
    return mean.mean();
}

template <const auto& kOf> std::size_t calls_of_all(const WorkloadFacts&) {
    std::size_t calls = 0;
    for (const Overlap& overlap : overlaps_of(kOverlapSizes, kOf)) calls += calls_of(overlap);
    return calls;
}

} // namespace

const WorkloadTimer workloads::overlapping = {time_overlapping<kShifts>, calls_of_all<kShifts>};
const WorkloadTimer workloads::overlapping_pages = {time_overlapping<kPageShifts>,
                                                    calls_of_all<kPageShifts>};

} // namespace asterope
