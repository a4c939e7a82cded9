// What a search is asked for, as far as it decides what is found: with other options it is another
// search.
#pragma once

#include <string>
#include <vector>

#include "search/objective.hpp"
#include "search/standing.hpp"
#include "space/operation.hpp"

namespace asterope {

/// A copy that winners are judged by besides libc. `hash`: of its library and symbol.
struct NamedReference {
    std::string name, hash;
    bool operator==(const NamedReference&) const = default;
};

struct SearchOptions {
    std::string rigor = "standard";
    std::string workload = "balanced"; ///< its name, as given: balanced where weights were given
    Weights weights;                   ///< that it comes to
    std::string weights_given;         ///< as given; empty where a workload was named
    std::vector<std::size_t> sizes;
    std::string space = "extended";
    bool sensing = true;  ///< whether copies that sense were asked for
    std::size_t rows = 8; ///< of the routine, at most
    unsigned threads = 0;
    Weights small_weights;
    std::string distribution; ///< the name of its call statistics
    std::string distribution_hash, source_map;
    bool interleave = false; ///< buffers over the NUMA nodes, not on that of the CPU
    std::vector<std::string> without;
    std::vector<NamedReference> references, set_references;
    std::vector<Operation> operations;
    std::vector<std::size_t> set_sizes; ///< none where memset is not tuned
    Standing standing, set_standing;    ///< what the profile that stood took
};

} // namespace asterope
