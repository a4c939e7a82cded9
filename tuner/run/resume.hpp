// What a killed run left: its log, if that is of the same search.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "run/trial_log.hpp"

namespace asterope {

/// A log that this process has locked, and what it held then.
struct LogToResume {
    Descriptor file;
    TrialLogContents contents;
};

/// Locks and reads a log to go on with, if it came from a search with a header like this one;
/// nothing where there is none. Throws BadInput with the reason where it did not, cannot be used,
/// or is another process's. Warns on stderr of a torn last line.
std::optional<LogToResume> open_log_to_resume(const std::filesystem::path& path,
                                              const nlohmann::json& header);

/// The log of a run that begins or goes on.
struct RunLog {
    /// Goes on with the log at `path`, which is `earlier`; without that, begins a new one. Throws
    /// BadInput where the log cannot be written, or where a new one would replace another, which
    /// may hold hours of work.
    RunLog(const std::filesystem::path& path, const nlohmann::json& header,
           std::optional<LogToResume> earlier);

    LoggedSteps known; ///< of earlier runs
    TrialLogWriter writer;
    std::string started; ///< when the search began; of a resumed one, when its first run did
    int resumed;         ///< how often, this time included
};

} // namespace asterope
