// asterope-tune thin: a trial log made small enough to keep and to share.
#pragma once

#include <cstddef>
#include <string>

namespace asterope {

/// As given; the defaults are those of the command line.
struct ThinRequest {
    std::string log, output;
    std::string sizes;       ///< empty: all of the log
    std::size_t samples = 8; ///< of a candidate under each workload, at most
};

/// Writes the recording (see Recording) of an exhaustive log. Throws BadInput for a log that cannot
/// be used, for sizes that it does not have and for no samples; Failure.
void thin(const ThinRequest& request);

} // namespace asterope
