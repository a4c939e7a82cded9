// The request of asterope-bench: its options, and the suites, workloads and sizes that follow from
// them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/routine.hpp"
#include "bench/selection.hpp"
#include "timing/workload.hpp"

namespace CLI {
class App;
}

namespace asterope {

struct Options {
    RoutineOptions routine{.rounds = 51};
    PeerOptions peers;
    std::string operation = "memcpy";
    std::string sizes, json, recording;
    std::optional<double> check;
    bool brief = false;
    std::vector<std::string> suites = {"sizes", "mix"};
};

/// All options but those of subcommands.
void add_options(CLI::App& app, Options& options);

/// Sets the routine to the operation that --operation names. Throws BadInput for an unknown one.
void resolve_operation(Options& options);

struct Request {
    std::map<std::string, std::vector<std::size_t>> sizes; ///< by suite, ascending
    std::vector<Workload> workloads;                       ///< of the suite `sizes`

    bool has(const std::string& suite) const { return sizes.count(suite) > 0; }
    /// The largest copy of all suites but `threads`, in bytes; 0 if that is the only suite.
    std::size_t largest_size() const;
};

/// Reads the profile that is named there, too. The operation of `options.routine` decides which
/// suites, workloads and sizes there are. Throws BadInput.
Request read_request(const Options& options);

} // namespace asterope
