// Timings from the machine: a stopwatch, the trial log and the progress line behind one call.
#include "live_timings.hpp"

namespace asterope {

double LiveTimings::seconds(std::size_t size, Workload workload, Entrant entrant,
                            std::uint64_t round) {
    throw_if_interrupted();
    const double seconds = field_.seconds(size, workload, entrant, round);
    const std::size_t calls = field_.calls(size, workload);
    if (log_) {
        log_->write(size, workload, entrant < 0 ? "libc" : field_.name(entrant), round, calls,
                    seconds);
    }
    ++trials_;
    progress_.advance(seconds * static_cast<double>(calls));
    return seconds;
}

} // namespace asterope
