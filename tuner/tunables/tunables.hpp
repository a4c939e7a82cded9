// asterope-tune tunables: which GLIBC_TUNABLES make glibc's memcpy fastest on this machine.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "machine/machine.hpp"
#include "tunables/choice.hpp"

namespace asterope {

struct TunablesRequest {
    std::string rigor = "standard", workload = "balanced", weights;
    std::string sizes;  ///< empty: the default ones
    std::string output; ///< where the JSON goes; empty: nowhere
    int cpu = -1;       ///< negative: the last one allowed
    std::uint64_t seed = 1;
    bool quiet = false; ///< print the line alone
};

/// What can be set. Throws BadInput where this libc has no such tunables. `why`: why they could not
/// be listed.
Knobs knobs_of(const std::string& libc, const std::map<std::string, Tunable>& tunables,
               const std::string& why);

/// Of each of the processes that find the thresholds: what memory there is goes round.
RemoteSetup shared_setup(const Machine& machine, int cpu, const Knobs& knobs, std::size_t largest);

/// Prints the tables, the verdict and the line, and writes the file. Throws BadInput, Failure,
/// Interrupted.
void find_tunables(const TunablesRequest& request);

} // namespace asterope
