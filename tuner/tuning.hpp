// The tuning run: verifies, times, searches, writes the profile and renders the routine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace asterope {

/// What the user asks for, as given; the defaults are those of the command line.
struct TuningRequest {
    std::string output = "asterope-profile.json";
    std::string rigor = "standard";
    std::string workload = "balanced";
    std::string weights; ///< of a mix of workloads; empty: none given
    std::string sizes;   ///< empty: default_sizes()
    std::string space = "extended";
    bool no_sensing = false;
    std::string source_map;         ///< FILE[:OFFSET[:LENGTH]] to map the sources from; empty: none
    std::string small = "balanced"; ///< what small copies are tuned for
    std::string distribution;       ///< a file of call statistics; empty: the fleet's
    std::vector<std::string> without;
    std::string log; ///< empty: none
    int cpu = -1;    ///< negative: the last one allowed
    std::uint64_t seed = 1;
    bool quiet = false, no_generate = false;
};

/// Throws BadInput for what cannot be used, before anything is timed; Failure for what goes wrong
/// later; Interrupted. A profile that existed before is replaced whole, or not touched.
void tune(const TuningRequest& request);

} // namespace asterope
