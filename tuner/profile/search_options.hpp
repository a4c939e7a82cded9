// The options of a search that decide its findings: with other options it is another search.
#pragma once

#include <array>
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

/// The options of one operation.
struct OperationOptions {
    std::vector<std::size_t> sizes;         ///< none where it is not tuned
    std::vector<NamedReference> references; ///< by which its winners are judged besides libc
    Standing standing;                      ///< the copies of the standing profile
};

struct SearchOptions {
    std::string rigor = "standard";
    std::string workload = "balanced"; ///< its name, as given: balanced where weights were given
    Weights weights;                   ///< that it comes to
    std::string weights_given;         ///< as given; empty where a workload was named
    std::string space = "extended";
    bool sensing = true;  ///< whether copies that sense were asked for
    std::size_t rows = 8; ///< of the routine, at most
    unsigned threads = 0;
    Weights small_weights;
    std::string distribution; ///< the name of its call statistics
    std::string distribution_hash, source_map;
    bool interleave = false; ///< buffers over the NUMA nodes, not on that of the CPU
    std::vector<std::string> without;
    std::vector<Operation> operations;
    std::array<OperationOptions, kOperations.size()> by_operation;

    OperationOptions& of(Operation one) { return by_operation[static_cast<std::size_t>(one)]; }
    const OperationOptions& of(Operation one) const {
        return by_operation[static_cast<std::size_t>(one)];
    }
};

} // namespace asterope
