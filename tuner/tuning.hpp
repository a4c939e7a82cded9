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
    std::string sizes = "128,256,512,1K,2K,4K,8K,16K,32K,64K,128K,256K,512K,1M,2M,4M,8M,16M,32M";
    std::string space = "paper";
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
