// The journal: writes every figure to the trial log, and serves those that an earlier run wrote.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "run/record_cursor.hpp"
#include "run/trial_log.hpp"
#include "timing/trial_source.hpp"

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

class LoggingTrials : public TrialSource {
  public:
    /// Goes on with the log at `path`, which is `earlier`; without that, begins a new one.
    /// `behind` has the figures that no earlier run left. Throws BadInput where the log cannot be
    /// written, or where a new one would replace another, which may hold hours of work.
    LoggingTrials(TrialSource& behind, const std::filesystem::path& path,
                  const nlohmann::json& header, std::optional<LogToResume> earlier);

    bool has(const std::string& step) const override { return behind_.has(step); }
    void enter(const std::string& step, std::size_t known = 0) override;
    Trial trial(const TrialKey& key, const std::function<double(Instruments&)>& time) override;
    std::vector<double>
    readings(const ProbeKey& key,
             const std::function<std::vector<double>(Instruments&)>& read) override;
    Calibration calibration(std::size_t size, Workload workload,
                            const std::optional<Calibration>& known = std::nullopt) override;
    std::vector<Disturbance> round_ended() override;

    /// The search has come to its end.
    void finish(const nlohmann::json& end) { log_.finish(end); }

    int resumed() const { return resumed_; } ///< how often, this time included
    /// When the search began; of a resumed one, when its first run did.
    std::string started() const { return started_; }

  private:
    TrialLogWriter& writer();

    TrialSource& behind_;
    std::map<std::string, std::vector<Record>> steps_; ///< of earlier runs
    RecordCursor recorded_;
    TrialLogWriter log_;
    std::string started_;
    std::string written_step_; ///< that the log's end belongs to
    int resumed_ = 0;
};

} // namespace asterope
