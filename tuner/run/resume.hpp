// What a killed run left: its log, if that is of the same search.
#pragma once

#include <filesystem>
#include <memory>

#include "run/trial_log.hpp"

namespace asterope {

/// A log that this process has locked, and what it held then.
struct LogToResume;

/// The log of a run that begins or goes on.
struct RunLog {
    /// A new log, or `resumes` the one at `path`, if it came from a search with a header like this
    /// one. Throws BadInput where the log cannot be read or written, is another search's or another
    /// process's, or where a new one would replace another, which may hold hours of work. Warns on
    /// stderr of a torn last line.
    RunLog(const std::filesystem::path& path, const LogHeader& header, bool resumes);

    std::string what;  ///< in messages
    LoggedSteps known; ///< of earlier runs
    TrialLogWriter writer;
    std::string started; ///< when the search began; of a resumed one, when its first run did
    int resumed;         ///< how often, this time included

  private:
    RunLog(const std::filesystem::path& path, const LogHeader& header,
           std::unique_ptr<LogToResume> earlier);
};

} // namespace asterope
