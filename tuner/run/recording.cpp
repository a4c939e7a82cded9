// A recording: what an exhaustive search learnt of the pipelines, so that other searches can be run
// against it instead of the machine.
#include "run/recording.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "base/error.hpp"
#include "base/gzip_lines.hpp"
#include "base/size_text.hpp"
#include "base/statistics.hpp"
#include "run/logged_rounds.hpp"
#include "run/trial_log.hpp"
#include "search/step.hpp"

namespace asterope {

namespace {

using Samples = RecordedField::Samples;

/// How the wall time of trials follows from what is timed in them: the line of least squares.
class WallTime {
  public:
    /// Both in microseconds.
    void add(double timed, double wall) {
        ++count_;
        x_ += timed;
        y_ += wall;
        xx_ += timed * timed;
        xy_ += timed * wall;
    }

    struct Line {
        double at_0, slope;
    };

    /// The former is never negative, the latter never below 1: no trial takes less time than its
    /// timed part.
    Line fit() const {
        const double spread = count_ * xx_ - x_ * x_;
        // all alike but for rounding: any slope would do
        double slope = spread > 1e-9 * x_ * x_ ? (count_ * xy_ - x_ * y_) / spread : 1;
        if (slope * x_ > y_) slope = y_ / x_;
        slope = std::max(slope, 1.0);
        return {std::max(0.0, (y_ - slope * x_) / count_), slope};
    }

  private:
    double count_ = 0, x_ = 0, y_ = 0, xx_ = 0, xy_ = 0;
};

} // namespace

std::vector<double> find_references(const std::vector<RecordedRound>& rounds) {
    constexpr std::size_t kFew = 8;
    constexpr int kTurns = 12; // a candidate of two samples keeps half of the error each time
    std::vector<double> references(rounds.size(), 0);
    for (int turn = 0; turn < kTurns; ++turn) {
        std::unordered_map<int, std::vector<double>> samples;
        for (std::size_t i = 0; i < rounds.size(); ++i) {
            for (const auto& [name, sample] : rounds[i]) {
                samples[name].push_back(sample + references[i]);
            }
        }
        std::unordered_map<int, double> medians;
        for (auto& [name, values] : samples) medians[name] = median(std::move(values));
        for (std::size_t i = 0; i < rounds.size(); ++i) {
            if (rounds[i].size() < kFew) continue;
            std::vector<double> residuals;
            for (const auto& [name, sample] : rounds[i]) {
                residuals.push_back(medians[name] - sample);
            }
            references[i] = median(std::move(residuals));
        }
    }
    // Where the level is, is a matter of choice: libc's typical round has none.
    const double level = median(references);
    for (double& reference : references) reference -= level;
    return references;
}

namespace {

/// Reads the steps of a trial log, one after the other, into a recording.
class LogIntoRecording {
  public:
    LogIntoRecording(Recording& recording, TrialLogReader& log)
        : recording_(recording), log_(log) {}

    void read() {
        while (const std::optional<LogLine> line = log_.next()) {
            if (const auto* begun = std::get_if<LogStep>(&*line)) {
                const std::size_t next = size_of(begun->name);
                if (size_ > 0 && next == size_) continue; // a resumed run goes on with it
                finish();
                size_ = next;
            } else if (const auto* record = std::get_if<Record>(&*line)) {
                take(*record);
            }
        }
        if (const auto round = rounds_.finish()) close(*round);
        sort_names();
    }

    /// Whose pipelines were being timed where the log ends; 0: none.
    std::size_t unfinished() const { return size_; }

  private:
    /// What a candidate has shown so far at the size and workload of one step.
    struct Group {
        std::vector<RecordedRound> rounds;
        Samples libc;
        std::vector<double> libc_ns;
        std::size_t calls = 0;
        WallTime wall_time;
    };

    /// 0 where the step is not one of pipelines.
    std::size_t size_of(const std::string& name) {
        const std::optional<LoggedStep> step = parse_step(name);
        if (!step && name.rfind("pipelines ", 0) == 0) {
            log_.refuse("a step of no size: '" + name.substr(0, 40) + '\'');
        }
        of_copies_ = !step || step->operation == Operation::copy;
        return of_copies_ && step && step->step == Step::pipelines ? step->size : 0;
    }

    void take(const Record& record) {
        if (!of_copies_) return;
        using Calibrated = std::pair<std::pair<std::size_t, Workload>, Calibration>;
        if (const auto* calibrated = std::get_if<Calibrated>(&record)) {
            require_measured(calibrated->first.second);
            calls_[calibrated->first] = calibrated->second.calls;
        }
        if (size_ == 0) return;
        if (const auto* one = std::get_if<std::pair<TrialKey, Trial>>(&record)) {
            add(one->first, one->second);
        }
        if (const auto round = rounds_.add(record)) close(*round);
    }

    void require_measured(Workload workload) const {
        if (std::find(kMeasured.begin(), kMeasured.end(), workload) != kMeasured.end()) return;
        log_.refuse("no recording has the workload '" + std::string(name_of(workload)) + '\'');
    }

    void add(const TrialKey& key, const Trial& trial) {
        require_measured(key.workload);
        if (key.size != size_) log_.refuse("is of another size than its step");
        const auto calibrated = calls_.find({key.size, key.workload});
        if (calibrated == calls_.end()) {
            log_.refuse("is of a size and workload without calibration");
        }
        Group& group = groups_[key.workload];
        group.calls = calibrated->second;
        group.wall_time.add(trial.ns * static_cast<double>(group.calls) / 1000, trial.us);
    }

    int index_of(const std::string& name) {
        const auto [found, fresh] = indices_.emplace(name, static_cast<int>(indices_.size()));
        if (fresh) recording_.names.push_back(name);
        return found->second;
    }

    void close(const LoggedRound& logged) {
        std::vector<double> libc;
        for (const auto& [name, ns] : logged.trials) {
            if (name == "libc") {
                libc.push_back(ns);
            } else {
                index_of(name); // even where the round was cut short
            }
        }
        if (libc.empty()) return;
        const double reference = std::log(median(libc));
        Group& group = groups_[logged.workload];
        group.libc_ns.insert(group.libc_ns.end(), libc.begin(), libc.end());
        RecordedRound& round = group.rounds.emplace_back();
        for (const auto& [name, ns] : logged.trials) {
            const auto sample = static_cast<float>(reference - std::log(ns));
            if (name == "libc") {
                group.libc.push_back(sample);
            } else {
                round.emplace_back(index_of(name), sample);
            }
        }
    }

    /// A step has ended: its groups become fields.
    void finish() {
        if (const auto round = rounds_.finish()) close(*round);
        for (auto& [workload, group] : groups_) {
            if (group.libc.empty()) continue;
            RecordedField& field = recording_.sizes[size_][workload];
            field.calls = group.calls;
            field.libc_ns = median(group.libc_ns);
            const auto [at_0, slope] = group.wall_time.fit();
            field.fixed_us = at_0;
            field.per_timed = slope;
            field.libc = std::move(group.libc);
            field.candidates.resize(recording_.names.size());
            const std::vector<double> references = find_references(group.rounds);
            for (std::size_t i = 0; i < references.size(); ++i) {
                const auto reference = static_cast<float>(references[i]);
                field.rounds.push_back(reference);
                for (const auto& [name, sample] : group.rounds[i]) {
                    field.candidates[static_cast<std::size_t>(name)].push_back(sample + reference);
                }
            }
        }
        groups_.clear();
    }

    /// They came in the order in which they happened to be timed.
    void sort_names() {
        std::vector<std::string>& names = recording_.names;
        std::vector<std::size_t> order(names.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(),
                  [&](std::size_t a, std::size_t b) { return names[a] < names[b]; });
        const auto sort = [&](auto& values) {
            std::remove_reference_t<decltype(values)> sorted;
            values.resize(order.size());
            for (const std::size_t i : order) sorted.push_back(std::move(values[i]));
            values = std::move(sorted);
        };
        sort(names);
        for (auto& [size, fields] : recording_.sizes) {
            for (auto& [workload, field] : fields) sort(field.candidates);
        }
    }

    Recording& recording_;
    TrialLogReader& log_;
    std::size_t size_ = 0;  ///< whose pipelines are being timed; 0: none
    bool of_copies_ = true; ///< the present step; other operations' pipelines are not recorded
    RoundCollector rounds_;
    std::unordered_map<std::string, int> indices_;
    std::map<Workload, Group> groups_;
    std::map<std::pair<std::size_t, Workload>, std::size_t> calls_; ///< in a trial
};

} // namespace

Recording::Recording(const std::filesystem::path& path) {
    const std::string what = "log " + path.string();
    LineReader lines(path, what);
    TrialLogReader log(lines);
    header = log.header();
    const std::string rigor = header.at("options").at("rigor");
    if (rigor != "exhaustive") {
        throw BadInput(what + ": is of a search of rigor " + rigor.substr(0, 40) +
                       "; only an exhaustive one has timed every candidate");
    }
    if (header.contains("thinned")) {
        read_thinned(lines);
    } else {
        LogIntoRecording steps(*this, log);
        steps.read();
        if (steps.unfinished() > 0) {
            warnings.push_back(what + ": ends in the middle of " + format_size(steps.unfinished()) +
                               ", which is left out");
        }
    }
    if (lines.torn()) warnings.push_back(what + ": its torn last line is left out");
    if (sizes.empty()) throw BadInput(what + ": has no size that was finished");
}

} // namespace asterope
