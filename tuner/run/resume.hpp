// Opens the log of a run: a new one, or the one that a killed run of the same search left.
#pragma once

#include <filesystem>
#include <string>

#include "run/sample_log.hpp"

namespace asterope {

/// The log of a run that begins or goes on.
struct RunLog {
    std::string what;  ///< in messages
    LoggedSteps known; ///< of earlier runs
    SampleLogWriter writer;
    LogHeader header; ///< of the first run, if this one resumes it
    int resumed;      ///< how often, this time included
};

/// Opens a new log at `path`, or the one that is there if the run `resumes`. That one must come
/// from a search with a header like this one. Only the profile that stood may differ: a run whose
/// budget ended has written one. Throws BadInput where the log cannot be read or written, or
/// belongs to another search or another process. It also throws where a new log would replace
/// another, which may hold hours of work. Warns on stderr of a torn last line.
RunLog open_run_log(const std::filesystem::path& path, const LogHeader& header, bool resumes);

} // namespace asterope
