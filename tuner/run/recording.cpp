// A recording: what an exhaustive search learnt of the pipelines, so that other searches can be run
// against it instead of the machine.
#include "run/recording.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "base/error.hpp"
#include "base/gzip_lines.hpp"
#include "base/json_text.hpp"
#include "base/size_text.hpp"
#include "base/statistics.hpp"
#include "run/trial_log.hpp"
#include "search/objective.hpp"

namespace asterope {

namespace {

using nlohmann::json;
using Samples = RecordedField::Samples;

/// Thinned samples are whole numbers of this part of a log unit: a hundredth of a per cent.
constexpr double kUnit = 1e-4;
/// Libc is compared with everybody: a few of its samples would be the noise of all.
constexpr std::size_t kLibcSamples = 64;
/// No trial differs from libc by more, as a logarithm: a damaged file does.
constexpr double kMost = 50;

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

    /// Its height at 0 and its slope. The former is never negative, the latter never below 1: no
    /// trial takes less time than its timed part.
    std::pair<double, double> fit() const {
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

std::optional<Workload> find_workload(const std::string& name) {
    for (const Workload workload : kMeasured) {
        if (name_of(workload) == name) return workload;
    }
    return std::nullopt;
}

} // namespace

RecordedField::Samples thin_samples(Samples samples, std::size_t count) {
    std::sort(samples.begin(), samples.end());
    if (samples.size() <= count) return samples;
    Samples kept;
    for (std::size_t i = 0; i < count; ++i) {
        kept.push_back(samples[(2 * i + 1) * samples.size() / (2 * count)]);
    }
    return kept;
}

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

/// Reads one file, line by line, into a recording.
class Recording::Reader {
  public:
    Reader(Recording& recording, const std::filesystem::path& path)
        : recording_(recording), what_("log " + path.string()), lines_(path, what_) {}

    void read() {
        read_header();
        if (recording_.header.contains("thinned")) {
            read_thinned();
        } else {
            read_log();
        }
        if (lines_.torn()) {
            recording_.warnings.push_back(what_ + ": its torn last line is left out");
        }
        if (recording_.sizes.empty()) throw BadInput(what_ + ": has no size that was finished");
    }

  private:
    /// What a candidate has shown so far at the size and workload of one step.
    struct Group {
        std::vector<RecordedRound> rounds;
        Samples libc;
        std::vector<double> libc_ns;
        std::size_t calls = 0;
        WallTime wall_time;
    };
    /// Trials that stand together: of one round and workload.
    struct Round {
        Workload workload{};
        std::uint64_t number = 0;
        bool disturbed = false;
        std::vector<std::pair<int, double>> trials; ///< whose, ns a call
    };
    static constexpr int kLibcName = -1;

    [[noreturn]] void refuse(const std::string& why) const {
        throw BadInput(what_ + ": line " + std::to_string(lines_.number()) + ' ' + why);
    }

    /// The next line's object.
    bool next(json& object) {
        if (!lines_.next(line_)) return false;
        object = parse_json(line_, what_, lines_.number());
        if (!object.is_object()) refuse("is no JSON object");
        return true;
    }

    const json& field(const json& object, const char* name) const {
        const auto found = object.find(name);
        if (found == object.end()) refuse(std::string("lacks \"") + name + '"');
        return *found;
    }

    std::string text(const json& object, const char* name) const {
        const json& value = field(object, name);
        if (!value.is_string()) refuse(std::string("has no text as \"") + name + '"');
        return value.get<std::string>();
    }

    std::size_t whole(const json& object, const char* name) const {
        const json& value = field(object, name);
        if (!value.is_number_unsigned()) {
            refuse(std::string("has no whole number as \"") + name + '"');
        }
        return value.get<std::size_t>();
    }

    /// Finite and above 0.
    double time(const json& object, const char* name) const {
        const json& value = field(object, name);
        if (!value.is_number() || !(value.get<double>() > 0)) {
            refuse(std::string("has no time above 0 as \"") + name + '"');
        }
        return value.get<double>();
    }

    Workload workload(const json& object) const {
        const std::string name = text(object, "workload");
        const std::optional<Workload> found = find_workload(name);
        if (!found) refuse("has the unknown workload '" + name.substr(0, 40) + '\'');
        return *found;
    }

    void read_header() {
        recording_.header = read_log_header(lines_);
        const std::string rigor = recording_.header.at("options").at("rigor");
        if (rigor != "exhaustive") {
            throw BadInput(what_ + ": is of a search of rigor " + rigor.substr(0, 40) +
                           "; only an exhaustive one has timed every candidate");
        }
    }

    // --- A trial log ---

    void read_log() {
        std::size_t size = 0; // whose pipelines are being timed; 0: none
        json object;
        while (next(object)) {
            if (object.contains("step")) {
                const std::size_t next_size = size_of(text(object, "step"));
                if (size > 0 && next_size == size) continue; // a resumed run goes on with it
                finish(size);
                size = next_size;
            } else if (object.contains("calls")) {
                add_calibration(object);
            } else if (size == 0 || object.contains("resumed")) {
                continue;
            } else if (object.contains("hit")) {
                round_.disturbed = true;
            } else {
                add(object, size);
            }
        }
        if (size > 0) {
            recording_.warnings.push_back(what_ + ": ends in the middle of " + format_size(size) +
                                          ", which is left out");
        }
        sort_names();
    }

    /// 0 where the step is not one of pipelines.
    std::size_t size_of(const std::string& step) const {
        constexpr std::string_view kBeginning = "pipelines ";
        if (step.rfind(kBeginning, 0) != 0) return 0;
        try {
            return parse_size(step.substr(kBeginning.size()));
        } catch (const BadInput& error) {
            refuse(std::string("has a step of no size: ") + error.what());
        }
    }

    void add_calibration(const json& object) {
        const std::size_t calls = whole(object, "calls");
        if (calls == 0) refuse("has no calls");
        time(object, "seconds");
        calls_[{whole(object, "size"), workload(object)}] = calls;
    }

    void add(const json& object, std::size_t size) {
        const Workload workload = this->workload(object);
        if (whole(object, "size") != size) refuse("is of another size than its step");
        const auto calibrated = calls_.find({size, workload});
        if (calibrated == calls_.end()) refuse("is of a size and workload without calibration");
        const std::size_t calls = calibrated->second;
        const std::uint64_t number = whole(object, "round");
        const double ns = time(object, "ns"), us = time(object, "us");
        if (workload != round_.workload || number != round_.number) {
            close_round();
            round_.workload = workload;
            round_.number = number;
        } else if (round_.disturbed) { // it is timed once more: only the last try counts
            round_.trials.clear();
        }
        round_.disturbed = false;
        round_.trials.emplace_back(index_of(text(object, "candidate")), ns);
        Group& group = groups_[workload];
        group.calls = calls;
        group.wall_time.add(ns * static_cast<double>(calls) / 1000, us);
    }

    int index_of(const std::string& name) {
        if (name == "libc") return kLibcName;
        const auto [found, fresh] = indices_.emplace(name, static_cast<int>(indices_.size()));
        if (fresh) recording_.names.push_back(name);
        return found->second;
    }

    void close_round() {
        std::vector<double> libc;
        for (const auto& [name, ns] : round_.trials) {
            if (name == kLibcName) libc.push_back(ns);
        }
        if (!libc.empty()) {
            const double reference = std::log(median(libc));
            Group& group = groups_[round_.workload];
            group.libc_ns.insert(group.libc_ns.end(), libc.begin(), libc.end());
            group.rounds.emplace_back();
            for (const auto& [name, ns] : round_.trials) {
                const auto sample = static_cast<float>(reference - std::log(ns));
                if (name == kLibcName) {
                    group.libc.push_back(sample);
                } else {
                    group.rounds.back().emplace_back(name, sample);
                }
            }
        }
        round_.trials.clear();
    }

    /// A step has ended: its groups become fields.
    void finish(std::size_t size) {
        close_round();
        round_ = {};
        for (auto& [workload, group] : groups_) {
            if (group.libc.empty()) continue;
            RecordedField& field = recording_.sizes[size][workload];
            field.calls = group.calls;
            field.libc_ns = median(group.libc_ns);
            std::tie(field.fixed_us, field.per_timed) = group.wall_time.fit();
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

    // --- A thinned recording ---

    void read_thinned() {
        json object;
        if (!next(object)) return;
        for (const json& name : list(object, "names")) {
            if (!name.is_string()) refuse("has a name that is no text");
            recording_.names.push_back(name.get<std::string>());
        }
        while (next(object)) {
            const std::size_t size = whole(object, "size");
            if (size == 0) refuse("has the size 0");
            RecordedField& field = recording_.sizes[size][workload(object)];
            if (field.calls > 0) refuse("has a size and workload that were there before");
            field.calls = whole(object, "calls");
            if (field.calls == 0) refuse("has no calls");
            field.libc_ns = time(object, "libc_ns");
            const json& fixed = this->field(object, "fixed_us");
            if (!fixed.is_number() || !(fixed.get<double>() >= 0)) {
                refuse("has no time from 0 up as \"fixed_us\"");
            }
            field.fixed_us = fixed.get<double>();
            field.per_timed = time(object, "per_timed");
            field.libc = samples(list(object, "libc"));
            field.rounds = samples(list(object, "rounds"));
            if (field.libc.empty() || field.rounds.empty()) refuse("has no samples of libc");
            for (const json& candidate : list(object, "candidates")) {
                if (!candidate.is_array()) refuse("has samples that are no list");
                field.candidates.push_back(samples(candidate));
            }
            if (field.candidates.size() != recording_.names.size()) {
                refuse("has samples of " + std::to_string(field.candidates.size()) +
                       " candidates, but there are " + std::to_string(recording_.names.size()));
            }
        }
        // Cut short: the last size may lack workloads.
        auto& sizes = recording_.sizes;
        if (lines_.torn() && !sizes.empty() &&
            sizes.rbegin()->second.size() < sizes.begin()->second.size()) {
            sizes.erase(std::prev(sizes.end()));
        }
    }

    const json& list(const json& object, const char* name) const {
        const json& value = field(object, name);
        if (!value.is_array()) refuse(std::string("has no list as \"") + name + '"');
        return value;
    }

    Samples samples(const json& numbers) const {
        Samples samples;
        for (const json& number : numbers) {
            if (!number.is_number_integer() || !(std::abs(number.get<double>()) * kUnit < kMost)) {
                refuse("has a sample that is none");
            }
            samples.push_back(static_cast<float>(number.get<double>() * kUnit));
        }
        return samples;
    }

    Recording& recording_;
    const std::string what_;
    LineReader lines_;
    std::string line_;
    std::unordered_map<std::string, int> indices_;
    std::map<Workload, Group> groups_;
    std::map<std::pair<std::size_t, Workload>, std::size_t> calls_; ///< in a trial
    Round round_;
};

Recording::Recording(const std::filesystem::path& path) {
    Reader(*this, path).read();
}

std::size_t Recording::write_thinned(const std::filesystem::path& path, std::size_t count) const {
    const auto numbers = [](const Samples& samples) {
        auto list = nlohmann::ordered_json::array();
        for (const float sample : samples) list.push_back(std::lround(sample / kUnit));
        return list;
    };
    json first = header;
    first["thinned"] = {{"samples", count}};
    std::string text = first.dump() + '\n' + json{{"names", names}}.dump() + '\n';
    for (const auto& [size, fields] : sizes) {
        for (const auto& [workload, field] : fields) {
            nlohmann::ordered_json line;
            line["size"] = size;
            line["workload"] = name_of(workload);
            line["calls"] = field.calls;
            line["libc_ns"] = field.libc_ns;
            line["fixed_us"] = std::round(field.fixed_us * 1000) / 1000;
            line["per_timed"] = std::round(field.per_timed * 1e6) / 1e6;
            line["libc"] = numbers(thin_samples(field.libc, std::max(count, kLibcSamples)));
            line["rounds"] = numbers(thin_samples(field.rounds, std::max(count, kLibcSamples)));
            line["candidates"] = nlohmann::ordered_json::array();
            for (const Samples& samples : field.candidates) {
                line["candidates"].push_back(numbers(thin_samples(samples, count)));
            }
            text += line.dump() + '\n';
        }
    }
    return write_gzipped(path, text);
}

} // namespace asterope
