// asterope-tune diagnose: what the pitfalls of memory benchmarks do to copies on this machine.
#pragma once

#include <string>
#include <vector>

namespace asterope {

struct DiagnosisRequest {
    std::string profile; ///< whose winners are compared with libc; empty: libc alone
    std::string json;    ///< where the report goes; empty: nowhere
    int cpu = -1;        ///< negative: the last one allowed
    bool quick = false;
    std::vector<std::string> only; ///< names of sections; empty: all
};

/// "working_set, critical_stride, ...": those there are, in the order in which they run.
std::string section_names();

/// Prints a table for each section and writes the report. Throws BadInput, Failure, Interrupted.
void diagnose(const DiagnosisRequest& request);

} // namespace asterope
