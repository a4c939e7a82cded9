// The tuning run: verifies, times, searches, writes the profile and renders the routine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/profile.hpp"
#include "run/references.hpp"
#include "search/objective.hpp"
#include "search/standing.hpp"

namespace asterope {

struct TrialLogContents;

/// What the user asks for, as given; the defaults are those of the command line.
struct TuningRequest {
    std::string output = "asterope-profile.json";
    std::string rigor = "standard";
    std::string workload = "balanced";
    std::string sizes;     ///< empty: default_sizes()
    std::string recording; ///< whose small copies are drawn; empty: those of the fleet
    std::string space = "extended";
    bool no_sensing = false;
    std::size_t rows = 8;    ///< of the routine, at most
    std::string source_map;  ///< FILE[:OFFSET[:LENGTH]] to map the sources from; empty: none
    bool interleave = false; ///< buffers over all NUMA nodes, not on that of the CPU
    Weights small_weights;   ///< of a search that is replayed
    std::string operations = "memcpy,memset";
    std::vector<std::string> references; ///< each --reference
    // Of a search that is replayed:
    std::vector<std::size_t> set_sizes;
    std::vector<Reference> logged_references, logged_set_references;
    Standing standing, set_standing;
    std::string distribution; ///< the name of its call statistics
    std::vector<std::string> without;
    std::string log;         ///< empty: beside the output, and gone once that is there
    bool resume = false;     ///< go on with the log of a run that was cut short
    std::string time_budget; ///< "10m"; empty: none
    bool replayed = false;   ///< nothing is going to be timed: no file of figures is opened
    unsigned threads = 0;    ///< the most for copies over threads; 0: as many as CPUs are allowed
    int cpu = -1;            ///< negative: the last one allowed
    std::uint64_t seed = 1;
    bool quiet = false, no_generate = false;
    bool strict = false;       ///< fails where the compiled routine is slower than libc somewhere
    bool verbose = false;      ///< prints the space, every table and where the time went
    bool makes_folder = false; ///< that of the output, where there is none
    bool fresh = false;        ///< lets the profile that stands take no part
    bool force = false; ///< replaces a profile that is worth more, see refuse_worse_than_existing
};

/// Throws BadInput for what cannot be used, before anything is timed; Failure for what goes wrong
/// later; Interrupted. A profile that existed before is replaced whole, or not touched.
void tune(const TuningRequest& request);

/// Derives the profile anew from the whole log of a run, without the machine: the same search on
/// the same figures. Of `request` counts where things go, not what was asked for: that is the
/// log's. Throws as tune() does, and BadInput for a log that cannot be used or is not whole.
void replay_run(const std::string& log, const TuningRequest& request);

/// The profile that replay_run() derives from a log, `what` in messages. Throws as it does.
Profile profile_of_log(const TrialLogContents& log, const std::string& what);

} // namespace asterope
