// Finds the copy for buffers that overlap.
#include "search/overlapping_search.hpp"

#include "base/error.hpp"

namespace asterope {

SizeResult search_overlapping(std::size_t count, const Rigor& rigor, std::mt19937_64& random,
                              const TimedCopies& timings) {
    if (count == 0) throw Failure("no copy for overlapping buffers copies right on this machine");
    const std::vector<Entrant> everybody = all_entrants(count);
    // One of them is taken, whatever libc does.
    Race race(0, {{Workload::overlapping, 1}}, random, timings);
    // Few copies and short trials: rounds are cheap, and few of them leave ties to chance.
    return race.run_off(everybody, 4 * rigor.rounds, 0);
}

} // namespace asterope
