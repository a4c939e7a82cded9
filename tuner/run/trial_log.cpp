// The trial log: every figure of a search, one JSON object a line, written as it is found.
#include "run/trial_log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/json_text.hpp"
#include "base/line_reader.hpp"

namespace asterope {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// What a line of a log cannot be used for: "log trials.jsonl: line 3: ns is missing".
BadInput damaged_line(const LineReader& lines, const std::string& why) {
    return BadInput(lines.what() + ": line " + std::to_string(lines.number()) + ": " + why);
}

/// The fields of one line, each checked as it is read: all members throw BadInput with the reason
/// why a field cannot be used.
struct LogFields {
    const json& all;

    bool has(const char* name) const { return all.contains(name); }

    /// `is`: what it must be, `what` in words.
    const json& field(const char* name, bool (*is)(const json&), const char* what) const {
        const auto found = all.find(name);
        if (found == all.end()) throw BadInput(std::string(name) + " is missing");
        if (!is(*found)) throw BadInput(std::string(name) + " is no " + what);
        return *found;
    }

    const json& list(const char* name) const {
        const auto is = [](const json& value) { return value.is_array(); };
        return field(name, is, "list");
    }

    std::string text(const char* name) const {
        const auto is = [](const json& value) { return value.is_string(); };
        return field(name, is, "text").get<std::string>();
    }

    std::uint64_t whole(const char* name) const {
        const auto is = [](const json& value) { return value.is_number_unsigned(); };
        return field(name, is, "whole number").get<std::uint64_t>();
    }

    std::uint64_t calls() const {
        const auto is = [](const json& value) { return value.is_number_unsigned() && value > 0; };
        return field("calls", is, "whole number above 0").get<std::uint64_t>();
    }

    /// A time. NaN and infinity are no JSON: parse_json has refused them.
    double positive(const char* name) const {
        const auto is = [](const json& value) { return value.is_number() && value > 0; };
        return field(name, is, "time above 0").get<double>();
    }

    Workload workload() const {
        const std::string name = text("workload");
        const std::optional<Workload> found = find_workload(name);
        if (!found) throw BadInput("unknown workload '" + name.substr(0, 40) + '\'');
        return *found;
    }

    std::vector<double> ticks(const char* name) const {
        std::vector<double> ticks;
        for (const json& one : list(name)) {
            const double value = one.is_number() ? one.get<double>() : -1;
            if (!(value >= 0)) throw BadInput(std::string(name) + " below 0");
            ticks.push_back(value);
        }
        return ticks;
    }

    /// Pairs of a phase and its seconds.
    TimeAccount phases() const {
        TimeAccount phases;
        for (const json& one : list("phases")) {
            const bool pair = one.is_array() && one.size() == 2 && one[0].is_string();
            const auto phase = find_step(pair ? one[0].get<std::string>() : "");
            if (!phase || !one[1].is_number()) {
                throw BadInput("phases: " + one.dump().substr(0, 40) + " is no phase");
            }
            phases.emplace_back(*phase, one[1].get<double>());
        }
        return phases;
    }

    std::vector<Disturbance> hits() const {
        std::vector<Disturbance> hits;
        for (const json& one : list("hit")) {
            const auto found = parse_disturbance(one.is_string() ? one.get<std::string>() : "");
            if (!found) throw BadInput("unknown disturbance " + one.dump().substr(0, 40));
            hits.push_back(*found);
        }
        return hits;
    }
};

/// Gives the fields of the next line to `use`; false at the end. What `use` throws as BadInput is
/// thrown with the line's number before it.
template <class Use> bool read_line(LineReader& lines, Use use) {
    std::string text;
    if (!lines.next(text)) return false;
    const json fields = parse_json(text, lines.what(), lines.number());
    try {
        if (!fields.is_object()) throw BadInput("is no JSON object");
        use(LogFields{fields});
    } catch (const BadInput& fault) {
        throw damaged_line(lines, fault.what());
    }
    return true;
}

Record record_of(const LogFields& line) {
    if (line.has("hit")) return line.hits();
    const std::size_t size = line.whole("size");
    const Workload workload = line.workload();
    if (line.has("candidate")) {
        return std::pair(TrialKey{size, workload, line.text("candidate"), line.whole("round")},
                         Trial{line.positive("ns"), line.positive("us"), true});
    }
    if (line.has("probe")) {
        return std::pair(ProbeKey{size, workload, line.text("probe"), line.text("copy")},
                         ProbeTicks{line.ticks("ticks"), line.has("destination_ticks")
                                                             ? line.ticks("destination_ticks")
                                                             : std::vector<double>{}});
    }
    return std::pair(std::pair(size, workload),
                     Calibration{line.calls(), line.positive("seconds")});
}

} // namespace

bool begins_trial_log(std::string_view line) {
    try {
        const json first = parse_json(line, "");
        return first.is_object() && first.value("format", json()) == kTrialLogFormat;
    } catch (const BadInput&) {
        return line.find(kTrialLogFormat) != line.npos; // a damaged one
    }
}

namespace {

LogHeader read_header(LineReader& lines) {
    const std::string& what = lines.what();
    std::string line;
    if (!lines.next(line)) throw BadInput(what + ": holds no whole header");
    if (!begins_trial_log(line)) {
        throw BadInput(what + ": is no trial log: its first line is not the header of one");
    }
    const ordered_json header = parse_ordered_json(line, what);
    const auto version = header.value("version", ordered_json());
    if (version != kTrialLogVersion) {
        throw BadInput(what + ": is a trial log of version " + version.dump().substr(0, 40) +
                       ", this program reads version " + std::to_string(kTrialLogVersion));
    }
    try {
        return log_header_of(header);
    } catch (const BadInput& fault) {
        throw damaged_line(lines, std::string(fault.what()) +
                                      ": the log is damaged: give another, or record anew");
    }
}

} // namespace

TrialLogContents read_trial_log(const std::filesystem::path& path) {
    LineReader lines(path, "log " + path.string());
    return read_trial_log(lines);
}

TrialLogContents read_trial_log(LineReader& lines) {
    TrialLogContents contents;
    contents.header = read_header(lines);
    std::vector<Record>* step = nullptr;
    const auto use = [&](const LogFields& line) {
        if (line.has("step")) {
            step = &contents.steps[line.text("step")];
        } else if (line.has("finished")) { // it has how often the run was resumed, too
            contents.end = {line.text("finished"), line.positive("seconds"), line.phases(),
                            static_cast<int>(line.whole("resumed"))};
        } else if (line.has("resumed")) {
            ++contents.resumed;
        } else {
            if (!step) throw BadInput("belongs to no step");
            step->push_back(record_of(line));
        }
    };
    while (read_line(lines, use)) {
    }
    contents.bytes = lines.bytes();
    contents.torn = lines.torn();
    return contents;
}

// --- Writing ---

namespace {

BadInput cannot_write(const std::filesystem::path& path) {
    return BadInput("cannot write the log " + path.string() + ": " + std::strerror(errno));
}

BadInput is_being_written(const std::filesystem::path& path) {
    return BadInput("the log " + path.string() +
                    " is being written by another run: wait for its end, or name another log");
}

} // namespace

Descriptor lock_trial_log(const std::filesystem::path& path) {
    struct stat there {
    }, own{};
    while (stat(path.c_str(), &there) == 0) {
        if (!S_ISREG(there.st_mode)) return Descriptor(); // it holds nothing to go on with
        Descriptor file(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
        if (!file && errno == ENOENT) continue;
        if (!file || fstat(file.get(), &own) != 0) throw cannot_write(path);
        if (!lock_file(file.get())) throw is_being_written(path);
        // A run that came to its end in this moment may have removed it.
        if (stat(path.c_str(), &there) == 0 && own.st_ino == there.st_ino) return file;
    }
    if (errno != ENOENT) throw cannot_write(path);
    return Descriptor();
}

namespace {

/// Whether it would be a loss: not of a run that ended before its first trial, and whatever is no
/// log of this version.
bool holds_trials(const std::filesystem::path& path) {
    try {
        const auto is_figure = [](const Record& record) {
            return std::holds_alternative<std::pair<TrialKey, Trial>>(record) ||
                   std::holds_alternative<std::pair<ProbeKey, ProbeTicks>>(record);
        };
        const LoggedSteps steps = read_trial_log(path).steps;
        return std::ranges::any_of(
            steps, [&](const auto& step) { return std::ranges::any_of(step.second, is_figure); });
    } catch (const BadInput&) {
        return true;
    }
}

} // namespace

void require_no_trial_log(const std::filesystem::path& path) {
    const Descriptor locked = lock_trial_log(path);
    if (locked && holds_trials(path)) {
        throw BadInput("the log " + path.string() +
                       " holds the trials of an earlier run: --resume goes on with it; remove it "
                       "to start anew");
    }
    if (locked) std::filesystem::remove(std::filesystem::canonical(path));
}

TrialLogWriter::TrialLogWriter(const std::filesystem::path& path, const ordered_json& header)
    : path_(path) {
    require_writable(path);
    // Whole or not at all: a log without its header would be in the way and of no use.
    file_ = create_locked(path, header.dump() + '\n');
    if (file_) return;
    require_no_trial_log(path);
    throw is_being_written(path); // it was, and is gone
}

TrialLogWriter::TrialLogWriter(const std::filesystem::path& path, Descriptor locked,
                               std::uintmax_t bytes)
    : path_(path), file_(std::move(locked)) {
    const auto end = static_cast<off_t>(bytes);
    if (ftruncate(file_.get(), end) != 0 || lseek(file_.get(), end, SEEK_SET) != end) {
        throw cannot_write(path);
    }
}

void TrialLogWriter::step(const std::string& name) {
    write_line(json{{"step", name}}.dump());
}

void TrialLogWriter::write(const TrialKey& key, const Trial& trial) {
    // By hand: a line a trial, of names and numbers only, in a tenth of the library's time.
    char numbers[160];
    std::snprintf(numbers, sizeof numbers, "\",\"round\":%llu,\"ns\":%.3f,\"us\":%.1f}",
                  static_cast<unsigned long long>(key.round), trial.ns, trial.us);
    write_line("{\"size\":" + std::to_string(key.size) + ",\"workload\":\"" +
               name_of(key.workload) + "\",\"candidate\":\"" + key.candidate + numbers);
}

void TrialLogWriter::write(const ProbeKey& key, const ProbeTicks& ticks) {
    ordered_json line = {{"size", key.size},
                         {"workload", name_of(key.workload)},
                         {"probe", key.probe},
                         {"copy", key.copy},
                         {"ticks", ticks.source}};
    if (!ticks.destination.empty()) line["destination_ticks"] = ticks.destination;
    write_line(line.dump());
}

void TrialLogWriter::write(std::size_t size, Workload workload, const Calibration& calibration) {
    ordered_json line = {{"size", size},
                         {"workload", name_of(workload)},
                         {"calls", calibration.calls},
                         {"seconds", calibration.seconds}};
    write_line(line.dump());
}

void TrialLogWriter::write(const std::vector<Disturbance>& hits) {
    json names = json::array();
    for (const Disturbance hit : hits) names.push_back(name_of(hit));
    write_line(json{{"hit", names}}.dump());
}

void TrialLogWriter::resumed(const std::string& when) {
    write_line(json{{"resumed", when}}.dump());
}

void TrialLogWriter::finish(const LogEnd& end) {
    json phases = json::array();
    for (const auto& [phase, seconds] : end.phases) phases.push_back({title_of(phase), seconds});
    write_line(ordered_json{{"finished", end.finished},
                            {"seconds", end.seconds},
                            {"phases", phases},
                            {"resumed", end.resumed}}
                   .dump());
}

void TrialLogWriter::write_line(const std::string& text) {
    try {
        write_all(file_.get(), text + '\n');
    } catch (const std::system_error& why) {
        throw Failure("cannot write the log " + path_.string() + ": " + why.code().message() +
                      "; what is in it stays, the same command with --resume goes on");
    }
}

} // namespace asterope
