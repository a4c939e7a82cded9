// The tuning run: verifies, times, searches, writes the profile and renders the routine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/profile.hpp"
#include "profile/search_options.hpp"

namespace asterope {

struct SampleLogContents;

/// The user's request, as given; the defaults are those of the command line.
struct TuningRequest {
    std::string output = "asterope-profile.json";
    /// The user gives some of them: rigor, workload (or a mix), space, sensing, threads (0: one for
    /// each allowed CPU), source_map and without. The others follow from the fields below. A replay
    /// gives all of them.
    SearchOptions options;
    std::string sizes;     ///< empty: default_sizes()
    std::string recording; ///< whose small copies are drawn; empty: those of the fleet
    std::string operations = "memcpy,memset";
    std::vector<std::string> references; ///< each --reference
    std::string log; ///< Empty: it lies beside the output until that is written.

    bool resume = false;     ///< Goes on with the log of a run that was cut short.
    std::string time_budget; ///< "10m"; empty: any time.
    bool replayed = false;   ///< Nothing is going to be timed: no file of figures is opened.
    int cpu = -1;            ///< Negative: the last one allowed.
    std::uint64_t seed = 1;
    bool quiet = false, no_generate = false;
    bool strict = false; ///< Fails where the compiled routine is slower than libc somewhere.

    bool verbose = false;      ///< Prints the space, every table and each phase's time.
    bool makes_folder = false; ///< Makes the folder of the output, where it is missing.
    bool fresh = false;        ///< Replaces the profile that stands, which takes no part.
};

/// Throws BadInput for a request that cannot be used, before anything is timed. Throws Failure for
/// later errors, and Interrupted. An existing profile is replaced whole, or not touched.
void tune(const TuningRequest& request);

/// The same in a child process, as references may crash or hang. Returns the program's exit code.
/// Throws Failure which names the reference that did.
int tune_watched(const TuningRequest& request);

/// Derives the profile anew from the whole log of a run, without the machine: the same search on
/// the same figures. `request` says where results go. The search itself is the log's. Throws as
/// tune() does, and BadInput for a log that cannot be used or is not whole.
void replay_run(const std::string& log, const TuningRequest& request);

/// The profile that replay_run() derives from a log. `what`: the log's name in messages. Throws as
/// it does.
Profile profile_of_log(const SampleLogContents& log, const std::string& what);

} // namespace asterope
