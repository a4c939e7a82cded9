// The calls that the workloads of small copies make, and a trial of them.
#include "timing/workloads/small_calls.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "timing/buffer_access.hpp"
#include "timing/clock.hpp"

namespace asterope {

void refuse_undrawable(const SmallCalls& small) {
    const auto& pairs = small.statistics.sizes.pairs();
    const auto drawable = [&](const auto& pair) {
        return pair.first <= small.largest && pair.second > 0;
    };
    if (small.weighting == Weighting::calls && std::ranges::none_of(pairs, drawable)) {
        throw BadInput("distribution " + small.statistics.name + " has no size of up to " +
                       std::to_string(small.largest) + " bytes");
    }
}

double time_sequence(CallSequence& sequence, const TimedCopy& copy, Weighting weighting,
                     bool read) {
    if (sequence.next + sequence.warm + sequence.timed > sequence.calls.size()) sequence.next = 0;
    const std::size_t first = sequence.next;
    const std::size_t begin_timed = first + sequence.warm, end_timed = begin_timed + sequence.timed;
    sequence.next = end_timed;
    const char* source = sequence.source;
    char* destination = sequence.destination;
    const auto function = small_function(copy);
    const SecondArgument second(copy);
    std::uint64_t sum = 0;
    const auto run = [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
            const CallSequence::Call& call = sequence.calls[i];
            char* to_here = destination + call.destination;
            function(to_here, second(source + call.source), call.size, copy.distance, copy.large);
            if (read) sum += read_copy(to_here, call.size);
        }
    };
    // The first part brings copy and working set into their caches. Its calls are not repeated.
    run(first, begin_timed);
    const std::uint64_t begin = ticks();
    run(begin_timed, end_timed);
    const double seconds = seconds_between(begin, ticks());
    keep(sum);
    if (weighting == Weighting::calls) return seconds / static_cast<double>(sequence.timed);
    double bytes = 0;
    for (std::size_t i = begin_timed; i < end_timed; ++i) {
        bytes += static_cast<double>(sequence.calls[i].size);
    }
    return seconds / bytes * sequence.mean_bytes;
}

} // namespace asterope
