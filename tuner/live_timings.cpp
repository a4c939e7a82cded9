// Timings from the machine: the stopwatch, the trial log and the progress line behind one call.
#include "live_timings.hpp"

#include "libc_copy.hpp"

namespace asterope {

double LiveTimings::seconds(std::size_t size, Workload workload, Entrant entrant,
                            std::uint64_t round) {
    throw_if_interrupted();
    const Candidate* candidate = entrant < 0 ? nullptr : &space_[static_cast<std::size_t>(entrant)];
    const double seconds = candidate ? stopwatch_.time(candidate->variant->copy,
                                                       candidate->distance(), size, workload, round)
                                     : stopwatch_.time(libc_copy(), 0, size, workload, round);
    const std::size_t calls = stopwatch_.calls(size, workload);
    if (log_) {
        log_->write(size, workload, candidate ? candidate->name() : "libc", round, calls, seconds);
    }
    ++trials_;
    progress_.advance(stopwatch_.trial_seconds(size, workload));
    return seconds;
}

} // namespace asterope
