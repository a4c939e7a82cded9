// The trial log: every figure of a search, one JSON object a line, written as it is found.
#include "trial_log.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <unistd.h>

#include "atomic_file.hpp"
#include "error.hpp"
#include "gzip_lines.hpp"
#include "objective.hpp"

namespace asterope {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// One line being read: its fields, or the reason why they cannot be used.
class Line {
  public:
    explicit Line(const json& fields) : fields_(fields) {}

    bool has(const char* name) const { return fields_.contains(name); }

    std::string text(const char* name) const {
        const json& value = field(name);
        if (!value.is_string()) throw BadInput(std::string(name) + " is no text");
        return value.get<std::string>();
    }

    std::uint64_t whole(const char* name) const {
        const json& value = field(name);
        if (!value.is_number_unsigned()) throw BadInput(std::string(name) + " is no whole number");
        return value.get<std::uint64_t>();
    }

    /// A time: NaN is no JSON at all, so what is left to refuse is what is not above 0.
    double positive(const char* name) const {
        const json& value = field(name);
        if (!value.is_number() || !(value.get<double>() > 0) ||
            !std::isfinite(value.get<double>())) {
            throw BadInput(std::string(name) + ' ' + value.dump().substr(0, 40) +
                           " is no time above 0");
        }
        return value.get<double>();
    }

    Workload workload() const {
        const std::string name = text("workload");
        const std::optional<Workload> found = find_workload(name);
        if (!found) throw BadInput("unknown workload '" + name.substr(0, 40) + '\'');
        return *found;
    }

    std::vector<double> ticks() const {
        std::vector<double> ticks;
        for (const json& one : list("ticks")) {
            if (!one.is_number() || !(one.get<double>() >= 0)) throw BadInput("ticks below 0");
            ticks.push_back(one.get<double>());
        }
        return ticks;
    }

    std::vector<Disturbance> hits() const {
        std::vector<Disturbance> hits;
        for (const json& one : list("hit")) {
            const auto found = one.is_string() ? parse_disturbance(one.get<std::string>())
                                               : std::optional<Disturbance>();
            if (!found) throw BadInput("unknown disturbance " + one.dump().substr(0, 40));
            hits.push_back(*found);
        }
        return hits;
    }

  private:
    const json& field(const char* name) const {
        const auto found = fields_.find(name);
        if (found == fields_.end()) throw BadInput(std::string(name) + " is missing");
        return *found;
    }
    const json& list(const char* name) const {
        const json& value = field(name);
        if (!value.is_array()) throw BadInput(std::string(name) + " is no list");
        return value;
    }

    const json& fields_;
};

Record record_of(const Line& line) {
    if (line.has("hit")) return line.hits();
    const std::size_t size = line.whole("size");
    const Workload workload = line.workload();
    if (line.has("candidate")) {
        return std::pair(TrialKey{size, workload, line.text("candidate"), line.whole("round")},
                         Trial{line.positive("ns"), line.positive("us"), true});
    }
    if (line.has("probe")) {
        return std::pair(ProbeKey{size, workload, line.text("probe"), line.text("copy")},
                         line.ticks());
    }
    const std::uint64_t calls = line.whole("calls");
    if (calls == 0) throw BadInput("0 calls");
    return std::pair(std::pair(size, workload), Calibration{calls, line.positive("seconds")});
}

void check_header(const json& header) {
    if (!header.is_object() || header.value("format", json()) != kTrialLogFormat) {
        throw BadInput("is no trial log: its first line is not the header of one");
    }
    const json version = header.value("version", json());
    if (version != kTrialLogVersion) {
        throw BadInput("is a trial log of version " + version.dump().substr(0, 40) +
                       ", this program reads version " + std::to_string(kTrialLogVersion));
    }
}

} // namespace

TrialLogContents read_trial_log(const std::filesystem::path& path) {
    const std::string what = "log " + path.string();
    TrialLogContents contents;
    LineReader lines(path, what);
    std::string text;
    std::vector<Record>* step = nullptr;
    for (std::size_t number = 1; lines.next(text); ++number) {
        const auto refuse = [&](const std::string& why) {
            return BadInput(what + ": " +
                            (number > 1 ? "line " + std::to_string(number) + ": " : "") + why);
        };
        const json fields = json::parse(text, nullptr, false);
        try {
            if (fields.is_discarded() || !fields.is_object()) {
                throw BadInput(number > 1 ? "is no JSON object" : "is no trial log");
            }
            const Line line(fields);
            if (number == 1) {
                check_header(fields);
                contents.header = fields;
            } else if (line.has("step")) {
                step = &contents.steps[line.text("step")];
            } else if (line.has("finished")) { // it has how often the run was resumed, too
                contents.end = fields;
            } else if (line.has("resumed")) {
                ++contents.resumed;
            } else {
                if (!step) throw BadInput("belongs to no step");
                step->push_back(record_of(line));
            }
        } catch (const BadInput& fault) {
            throw refuse(fault.what());
        }
        contents.bytes += text.size() + 1;
    }
    if (contents.header.is_null()) throw BadInput(what + ": holds no whole header");
    contents.torn = lines.torn();
    return contents;
}

// --- Writing ---

namespace {

BadInput cannot_write(const std::filesystem::path& path) {
    return BadInput("cannot write the log " + path.string() + ": " + std::strerror(errno));
}

} // namespace

TrialLogWriter::TrialLogWriter(const std::filesystem::path& path, const json& header)
    : path_(path), file_(nullptr) {
    std::error_code unknown;
    const auto type = std::filesystem::status(path, unknown).type();
    if (type == std::filesystem::file_type::not_found) {
        // Whole or not at all: a log without its header would be in the way and of no use.
        require_writable(path);
        write_atomically(path, header.dump() + '\n');
        file_ = std::fopen(path.c_str(), "ae");
        if (!file_) throw cannot_write(path);
        return;
    }
    if (type == std::filesystem::file_type::regular) errno = EEXIST;
    // A device or a pipe may be written whatever it holds.
    if (type != std::filesystem::file_type::regular) file_ = std::fopen(path.c_str(), "we");
    if (!file_) throw cannot_write(path);
    write_line(header.dump());
}

TrialLogWriter::TrialLogWriter(const std::filesystem::path& path, std::uintmax_t bytes)
    : path_(path), file_(std::fopen(path.c_str(), "r+e")) {
    if (!file_) throw cannot_write(path);
    if (ftruncate(fileno(file_), static_cast<off_t>(bytes)) != 0 ||
        std::fseek(file_, 0, SEEK_END) != 0) {
        const BadInput error = cannot_write(path);
        std::fclose(file_);
        throw error;
    }
}

TrialLogWriter::~TrialLogWriter() {
    std::fclose(file_);
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
               std::string(name_of(key.workload)) + "\",\"candidate\":\"" + key.candidate +
               numbers);
}

void TrialLogWriter::write(const ProbeKey& key, const std::vector<double>& ticks) {
    ordered_json line = {{"size", key.size},
                         {"workload", name_of(key.workload)},
                         {"probe", key.probe},
                         {"copy", key.copy},
                         {"ticks", ticks}};
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

void TrialLogWriter::finish(const json& end) {
    write_line(end.dump());
}

void TrialLogWriter::write_line(const std::string& text) {
    const std::string line = text + '\n';
    if (std::fwrite(line.data(), 1, line.size(), file_) != line.size() || std::fflush(file_)) {
        throw Failure("cannot write the log " + path_.string() + ": " + std::strerror(errno) +
                      "; what is in it stays, the same command with --resume goes on");
    }
}

} // namespace asterope
