// The journal: writes every figure to the trial log, and serves those that an earlier run wrote.
#include "run/logging_trials.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json_text.hpp"

namespace asterope {

namespace {

using nlohmann::json;

/// Why the log of a search with the header `recorded` cannot be gone on with by one with `wanted`;
/// empty: it can.
std::string difference(const json& recorded, const json& wanted) {
    static constexpr struct {
        const char *place, *reason;
    } parts[] = {{"/machine/fingerprint", "it is of another machine"},
                 {"/tool_version", "it was written by another version"},
                 {"/space_hash", "it is of another space of candidates"},
                 {"/seed", "its search had another seed"}};
    for (const auto& [place, reason] : parts) {
        const json before = part_of(recorded, place), now = part_of(wanted, place);
        if (before != now) return reason + (" (" + before.dump() + " there, " + now.dump() + ')');
    }
    const json before = part_of(recorded, "/options"), now = part_of(wanted, "/options");
    json all = now;
    all.update(before); // a shard's have one more
    for (const auto& [name, unused] : all.items()) {
        const json there = before.value(name, json()), value = now.value(name, json());
        if (there != value) {
            return "its search had another " + name + " (" + there.dump().substr(0, 80) +
                   " there, " + value.dump().substr(0, 80) + " now)";
        }
    }
    return {};
}

} // namespace

std::optional<LogToResume> open_log_to_resume(const std::filesystem::path& path,
                                              const json& header) {
    Descriptor file = lock_trial_log(path);
    if (!file) return std::nullopt;
    TrialLogContents contents = read_trial_log(path);
    const std::string why = difference(contents.header, header);
    if (!why.empty()) {
        throw BadInput("cannot resume from " + path.string() + ": " + why +
                       "; give the options of that run, or start anew with another log");
    }
    if (contents.torn) {
        std::fprintf(stderr, "warning: %s: its last line is not whole and was dropped\n",
                     path.c_str());
    }
    return LogToResume{std::move(file), std::move(contents)};
}

LoggingTrials::LoggingTrials(TrialSource& behind, const std::filesystem::path& path,
                             const json& header, std::optional<LogToResume> earlier)
    : behind_(behind), steps_(earlier ? std::move(earlier->contents.steps) : decltype(steps_)()),
      recorded_(steps_, "log " + path.string()),
      log_(earlier ? TrialLogWriter(path, std::move(earlier->file), earlier->contents.bytes)
                   : TrialLogWriter(path, header)),
      started_((earlier ? earlier->contents.header : header).value("started", "")),
      resumed_(earlier ? earlier->contents.resumed + 1 : 0) {
    if (earlier) log_.resumed(header.value("started", ""));
}

void LoggingTrials::enter(const std::string& step, std::size_t) {
    behind_.enter(step, recorded_.enter(step));
}

TrialLogWriter& LoggingTrials::writer() {
    if (written_step_ != recorded_.step()) {
        written_step_ = recorded_.step();
        log_.step(written_step_);
    }
    return log_;
}

Trial LoggingTrials::trial(const TrialKey& key, const std::function<double(Instruments&)>& time) {
    if (const auto* known = recorded_.take<Trial>(key)) return *known;
    const Trial trial = behind_.trial(key, time);
    writer().write(key, trial);
    return trial;
}

std::vector<double>
LoggingTrials::readings(const ProbeKey& key,
                        const std::function<std::vector<double>(Instruments&)>& read) {
    if (const auto* known = recorded_.take<std::vector<double>>(key)) return *known;
    const std::vector<double> ticks = behind_.readings(key, read);
    writer().write(key, ticks);
    return ticks;
}

Calibration LoggingTrials::calibration(std::size_t size, Workload workload,
                                       const std::optional<Calibration>&) {
    if (const auto* known = recorded_.take<Calibration>(std::pair(size, workload))) {
        return behind_.calibration(size, workload, *known);
    }
    const Calibration calibration = behind_.calibration(size, workload);
    writer().write(size, workload, calibration);
    return calibration;
}

std::vector<Disturbance> LoggingTrials::round_ended() {
    // A run that was killed between a round's last trial and its hits has lost these.
    if (!recorded_.at_end()) return recorded_.take_hits();
    const std::vector<Disturbance> hits = behind_.round_ended();
    if (!hits.empty()) writer().write(hits);
    return hits;
}

} // namespace asterope
