// One list of fields for each kind of line serves the reader and the writer.
#include "run/sample_log.hpp"

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
#include "machine/cpu.hpp"
#include "profile/field_reader.hpp"
#include "profile/field_writer.hpp"

namespace asterope {

namespace profile_fields {

template <class F> void fields(F& f, Is<std::pair<SampleKey, Sample>> auto& one) {
    f.needed("size", one.first.size);
    f.needed("workload", one.first.workload);
    f.needed("candidate", one.first.candidate);
    f.needed("round", one.first.round);
    f.positive("ns", one.second.ns);
    f.positive("us", one.second.us);
}

template <class F> void fields(F& f, Is<std::pair<ProbeKey, ProbeTicks>> auto& one) {
    f.needed("size", one.first.size);
    f.needed("workload", one.first.workload);
    f.needed("probe", one.first.probe);
    f.needed("copy", one.first.copy);
    f.needed("ticks", one.second.source);
    f.unless_default("destination_ticks", one.second.destination);
}

template <class F> void fields(F& f, Is<Calibrated> auto& one) {
    f.needed("size", one.first.first);
    f.needed("workload", one.first.second);
    f.positive("calls", one.second.calls);
    f.positive("seconds", one.second.seconds);
}

template <class F> void fields(F& f, Is<RunEnd> auto& one) {
    f.needed("finished", one.finished);
    f.positive("seconds", one.seconds);
    f.needed("phases", one.phases);
    f.needed("resumed", one.resumed);
    f("time_budget_seconds", one.budget_seconds);
}

} // namespace profile_fields

namespace {

using nlohmann::ordered_json;

/// The error of a line that cannot be used: "log trials.jsonl: line 3: ns: missing".
BadInput damaged_line(const LineReader& lines, const std::string& why) {
    return BadInput(lines.what() + ": line " + std::to_string(lines.number()) + ": " + why);
}

template <class T> T read_as(const ordered_json& value, const char* name = "") {
    T one{};
    profile_fields::read(value, {name}, one);
    return one;
}

Record record_of(const ordered_json& line) {
    if (line.contains("hit")) return read_as<std::vector<Disturbance>>(line["hit"], "hit");
    if (line.contains("candidate")) {
        auto sample = read_as<std::pair<SampleKey, Sample>>(line);
        sample.second.recorded = true;
        return sample;
    }
    if (line.contains("probe")) {
        auto readings = read_as<std::pair<ProbeKey, ProbeTicks>>(line);
        const auto below = [](double ticks) { return ticks < 0; };
        const auto& [source, destination] = readings.second;
        if (std::ranges::any_of(source, below) || std::ranges::any_of(destination, below)) {
            throw BadInput("ticks below 0");
        }
        return readings;
    }
    return read_as<Calibrated>(line);
}

LogHeader read_header(LineReader& lines) {
    const std::string& what = lines.what();
    std::string line;
    if (!lines.next(line)) throw BadInput(what + ": holds no whole header");
    if (!begins_sample_log(line)) {
        throw BadInput(what + ": is not a sample log: its first line is not a header");
    }
    const ordered_json header = parse_json(line, what);
    const auto version = header.value("version", ordered_json());
    if (version != kSampleLogVersion) {
        throw BadInput(what + ": is a sample log of version " + version.dump().substr(0, 40) +
                       ", this program reads version " + std::to_string(kSampleLogVersion));
    }
    const auto of = header.value("architecture", ordered_json());
    if (of != kArchitecture) {
        throw BadInput(what + ": is of another architecture (" +
                       of.dump(-1, ' ', true).substr(0, 40) + "), this program reads logs of " +
                       kArchitecture);
    }
    try {
        return log_header_of(header);
    } catch (const BadInput& fault) {
        throw damaged_line(lines, std::string(fault.what()) +
                                      ": the log is damaged: give another, or record anew");
    }
}

} // namespace

bool begins_sample_log(std::string_view line) {
    try {
        const ordered_json first = parse_json(line, "");
        return first.is_object() && first.value("format", ordered_json()) == kSampleLogFormat;
    } catch (const BadInput&) {
        return line.find(kSampleLogFormat) != line.npos; // a damaged one
    }
}

SampleLogContents read_sample_log(const std::filesystem::path& path) {
    LineReader lines(path, "log " + path.string());
    return read_sample_log(lines);
}

SampleLogContents read_sample_log(LineReader& lines) {
    SampleLogContents contents;
    contents.header = read_header(lines);
    std::vector<Record>* step = nullptr;
    for (std::string text; lines.next(text);) {
        const ordered_json line = parse_json(text, lines.what(), lines.number());
        try {
            if (!line.is_object()) throw BadInput("is not a JSON object");
            if (line.contains("step")) {
                const auto name = read_as<std::string>(line["step"], "step");
                const std::optional<LoggedStep> known = parse_step(name);
                if (!known) throw BadInput("step '" + name.substr(0, 40) + "' does not exist");
                step = &contents.steps[*known];
            } else if (line.contains("finished")) { // it has a field `resumed`, too
                contents.end = read_as<RunEnd>(line);
                if (contents.end->resumed < 0) throw BadInput("resumed: below 0");
            } else if (line.contains("resumed")) {
                ++contents.resumed;
                contents.end.reset(); // that of a run whose time budget was up
            } else {
                if (!step) throw BadInput("comes before the first step");
                step->push_back(record_of(line));
            }
        } catch (const BadInput& fault) {
            throw damaged_line(lines, fault.what());
        }
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

/// The value as a line of the log.
template <class T> std::string line_of(const T& value) {
    return profile_fields::write(value, profile_fields::kAllDigits).dump();
}

std::string line_of(const std::vector<Disturbance>& hits) {
    const auto written = profile_fields::write(hits, profile_fields::kAllDigits);
    return ordered_json{{"hit", written}}.dump();
}

/// Written by hand: a line a sample, names and numbers only, in a tenth of the library's time.
std::string line_of(const std::pair<SampleKey, Sample>& one) {
    const auto& [key, sample] = one;
    char numbers[160];
    std::snprintf(numbers, sizeof numbers, "\",\"round\":%llu,\"ns\":%.3f,\"us\":%.1f}",
                  static_cast<unsigned long long>(key.round), sample.ns, sample.us);
    return "{\"size\":" + std::to_string(key.size) + ",\"workload\":\"" + name_of(key.workload) +
           "\",\"candidate\":\"" + key.candidate + numbers;
}

BadInput is_being_written(const std::filesystem::path& path) {
    return BadInput("the log " + path.string() +
                    " is being written by another run: wait for its end, or name another log");
}

/// Whether removing the file may lose work. A run that ended before its first sample left nothing.
/// A file of another kind or version may hold anything: throws BadInput.
bool holds_figures(const std::filesystem::path& path) {
    if (std::filesystem::file_size(path) == 0) return false; // mktemp makes such a file
    try {
        const auto is_figure = [](const Record& record) {
            return std::holds_alternative<std::pair<SampleKey, Sample>>(record) ||
                   std::holds_alternative<std::pair<ProbeKey, ProbeTicks>>(record);
        };
        const LoggedSteps steps = read_sample_log(path).steps;
        return std::ranges::any_of(
            steps, [&](const auto& step) { return std::ranges::any_of(step.second, is_figure); });
    } catch (const BadInput&) {
        throw BadInput(path.string() + " is not a log that this program can go on with: name "
                                       "another, or remove it");
    }
}

} // namespace

Descriptor lock_sample_log(const std::filesystem::path& path) {
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

void require_no_sample_log(const std::filesystem::path& path) {
    const Descriptor locked = lock_sample_log(path);
    if (locked && holds_figures(path)) {
        throw BadInput("the log " + path.string() +
                       " holds the samples of an earlier run: --resume goes on with it; remove it "
                       "to start anew");
    }
    if (locked) remove_sample_log(path);
}

void remove_sample_log(const std::filesystem::path& path) {
    std::error_code error;
    const std::filesystem::path file = std::filesystem::canonical(path, error);
    if (std::filesystem::is_regular_file(file, error)) std::filesystem::remove(file, error);
}

SampleLogWriter::SampleLogWriter(const std::filesystem::path& path, const ordered_json& header)
    : path_(path) {
    require_writable(path);
    // Whole or not at all: a log without its header would be in the way and of no use.
    file_ = create_locked(path, header.dump() + '\n');
    if (file_) return;
    require_no_sample_log(path);
    throw is_being_written(path); // a moment ago, but that log is gone
}

SampleLogWriter::SampleLogWriter(const std::filesystem::path& path, Descriptor locked,
                                 std::uintmax_t bytes)
    : path_(path), file_(std::move(locked)) {
    const auto end = static_cast<off_t>(bytes);
    if (ftruncate(file_.get(), end) != 0 || lseek(file_.get(), end, SEEK_SET) != end) {
        throw cannot_write(path);
    }
}

void SampleLogWriter::step(const LoggedStep& step) {
    write_line(ordered_json{{"step", step.name()}}.dump());
}

void SampleLogWriter::write(const Record& record) {
    write_line(std::visit([](const auto& one) { return line_of(one); }, record));
}

void SampleLogWriter::resumed(const std::string& when) {
    write_line(ordered_json{{"resumed", when}}.dump());
}

void SampleLogWriter::finish(const RunEnd& end) {
    write_line(line_of(end));
}

void SampleLogWriter::write_line(const std::string& text) {
    try {
        write_all(file_.get(), text + '\n');
    } catch (const std::system_error& why) {
        throw Failure("cannot write the log " + path_.string() + ": " + why.code().message() +
                      "; its earlier lines stay: the same command with --resume goes on");
    }
}

} // namespace asterope
