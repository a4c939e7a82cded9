// The sample log: every figure of a search, one JSON object a line, written as it is found.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/descriptor.hpp"
#include "run/log_header.hpp"
#include "timing/step.hpp"
#include "timing/timings.hpp"

namespace asterope {

class LineReader;

/// The entrant of a sample: `candidate` is its name, "libc" or "reference NAME"; `size` in bytes, 0
/// for small copies.
struct SampleKey {
    std::size_t size;
    Workload workload;
    std::string candidate;
    std::uint64_t round;
    bool operator==(const SampleKey&) const = default;
};

/// The readings of one probe: "source 4" in front of the copy of that name.
struct ProbeKey {
    std::size_t size;
    Workload workload;
    std::string probe, copy;
    bool operator==(const ProbeKey&) const = default;
};

using Calibrated = std::pair<std::pair<std::size_t, Workload>, Calibration>;

/// A request of a search and the answer, or the disturbances of the round that ended there.
using Record = std::variant<std::pair<SampleKey, Sample>, std::pair<ProbeKey, ProbeTicks>,
                            Calibrated, std::vector<Disturbance>>;

/// The records of each step.
using LoggedSteps = std::map<LoggedStep, std::vector<Record>>;

/// A whole log.
struct SampleLogContents {
    LogHeader header;
    LoggedSteps steps;
    int resumed = 0;           ///< how often
    std::optional<RunEnd> end; ///< the last line; empty: the run did not come to its end
    bool torn = false;         ///< the last line is not whole, and not in here
    std::uintmax_t bytes = 0;  ///< of the whole lines
};

/// Whether a file with this first line is a sample log, even if a damaged one.
bool begins_sample_log(std::string_view line);

/// Reads a log. The first line of the file is the header, an object with "format":
/// "asterope-trials" and "version", see LogHeader. The others come in the order of the events:
/// - {"step": "pipelines 4096"}: the lines that follow belong to this step of the search. A step
///   may come again, where a run was resumed: the same one goes on.
/// - {"size", "workload", "calls", "seconds"}: a calibration, libc's seconds a call.
/// - {"size", "workload", "candidate", "round", "ns", "us"}: a sample of "libc", "reference NAME",
///   or a candidate by its name. It took `ns` nanoseconds a call, `us` microseconds in all.
/// - {"size", "workload", "probe", "copy", "ticks", "destination_ticks"}: the readings of a probe
///   in front of a copy. The last one is there if the probe looks at the destination, too.
/// - {"hit": ["steal"]}: the disturbances of the round that ended there.
/// - {"resumed": "2026-11-21T10:00:00Z"}: here a killed run was taken up again, on that date.
/// - {"finished", "seconds", "phases", "resumed", "time_budget_seconds"}: the end, with facts about
///   the run as the profile has them. The last one is there if the run had a budget.
///
/// Throws BadInput, in one line, for a missing header, for another version, and for the first line
/// that is not as above. Such a line has a time that is not a positive number, say, or a step that
/// does not exist, or comes before the first step.
SampleLogContents read_sample_log(const std::filesystem::path& path);
SampleLogContents read_sample_log(LineReader& lines);

/// Opens a log for writing, and locks it: a log has one writer, and any number of readers. A
/// process that wants to go on with a log calls this before it reads. The descriptor is not open
/// where the log is missing or not a regular file. Throws BadInput where another process has locked
/// it.
Descriptor lock_sample_log(const std::filesystem::path& path);

/// Throws BadInput where there is a log already: it is not to be replaced. Removes a log without
/// any sample.
void require_no_sample_log(const std::filesystem::path& path);

/// Removes a log behind its links, if it can. A device or a pipe stays.
void remove_sample_log(const std::filesystem::path& path);

/// Writes a log, each line at once. The log is locked as long as this object lives.
class SampleLogWriter {
  public:
    /// A new log. Throws BadInput where it cannot be written, or where one exists already. A device
    /// or a pipe is written into.
    SampleLogWriter(const std::filesystem::path& path, const nlohmann::ordered_json& header);
    /// Goes on with a log that lock_sample_log() opened and whose whole lines have so many bytes;
    /// the rest is cut off.
    SampleLogWriter(const std::filesystem::path& path, Descriptor locked, std::uintmax_t bytes);

    /// All of these throw Failure where the line cannot be written; earlier lines stay.
    void step(const LoggedStep& step);
    void write(const Record& record);
    void resumed(const std::string& when);
    void finish(const RunEnd& end);

  private:
    void write_line(const std::string& text);
    std::filesystem::path path_;
    Descriptor file_;
};

} // namespace asterope
