// Times moves between buffers that overlap.
#include "timing/overlap_stopwatch.hpp"

#include <cmath>

#include "machine/cpu.hpp"
#include "timing/clock.hpp"

namespace asterope {

namespace {

std::size_t calls_of(const Overlap& overlap) {
    return OverlapStopwatch::kTrialBytes / overlap.size + 1;
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

double OverlapStopwatch::time(CopyFunction move, const Overlap& overlap,
                              std::uint64_t round) const {
    clean_vector_state();
    // Each round has its place in the page, as in the hot workload.
    const std::size_t place = round * 27 % 64 * 64;
    const std::size_t calls = calls_of(overlap), shift = std::abs(overlap.shift);
    const std::size_t room = (overlap.size + shift + 4096 + 64 + 4095) / 4096 * 4096;
    char* source = arena_.destination() + arena_.bytes() - room + place;
    if (overlap.shift < 0) source += shift;
    run(move, source, overlap, round, calls / 8 + 1);
    const std::uint64_t begin = ticks();
    run(move, source, overlap, round, calls);
    return seconds_between(begin, ticks()) / static_cast<double>(calls);
}

double OverlapStopwatch::time(CopyFunction move, std::uint64_t round) const {
    const std::vector<Overlap> overlaps = overlaps_of(kSizes);
    double logs = 0;
    for (const Overlap& overlap : overlaps) logs += std::log(time(move, overlap, round));
    return std::exp(logs / static_cast<double>(overlaps.size()));
}

std::size_t OverlapStopwatch::calls() {
    std::size_t calls = 0;
    for (const Overlap& overlap : overlaps_of(kSizes)) calls += calls_of(overlap);
    return calls;
}

} // namespace asterope
