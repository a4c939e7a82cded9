// SourceResults: what one search measured of each candidate, from its profile or its whole log.
#include "merge/source_results.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/error.hpp"
#include "base/json_text.hpp"
#include "base/statistics.hpp"
#include "run/recording.hpp"
#include "search/aliased_search.hpp"
#include "search/overlapping_search.hpp"
#include "search/search.hpp"
#include "search/small_search.hpp"
#include "search/step.hpp"
#include "search/threads_search.hpp"
#include "space/candidates.h"
#include "space/tuple_json.hpp"

namespace asterope {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// A 95 % interval is about so many standard errors wide.
constexpr double kWidth = 4;

/// Samples of a candidate from which on its spread says something.
constexpr std::size_t kSpread = 5;

/// No figure is more certain than this: two runs differ by as much, see TieBand.
constexpr double kLeastError = 0.002;

bool anything(std::string_view) {
    return true;
}

std::string pipeline_name(const json& tuple) {
    const auto candidate = find_candidate(tuple, anything);
    if (!candidate) throw BadInput("has a tuple that this version does not know");
    return candidate->name();
}

std::string small_tuple_name(const json& tuple) {
    const asterope_copy* copy = find_copy(asterope_small_copies, tuple, anything);
    if (!copy) throw BadInput("has a small copy that this version does not know");
    return copy->name;
}

std::string overlapping_tuple_name(const json& tuple) {
    const asterope_copy* copy = find_copy(asterope_overlapping_copies, tuple, anything);
    if (!copy) throw BadInput("has a copy for overlapping buffers that this version does not know");
    return copy->name;
}

/// An estimate as a profile has it.
MeasuredGain gain_of(const json& ratio) {
    const auto median = ratio.at("median").get<double>(), low = ratio.at("low").get<double>(),
               high = ratio.at("high").get<double>();
    if (!(low > 0) || !(median > 0) || !(high >= low)) throw BadInput("has a ratio that is none");
    return {std::log(median), std::max(kLeastError, std::log(high / low) / kWidth), 0, 0, 0};
}

/// The workloads of an entry, whose reference is called `reference` there.
void add(MeasuredGains& gains, const std::string& name, const json& entry, const char* reference) {
    for (const auto& [key, measured] : entry.at("workloads").items()) {
        const std::optional<Workload> workload = find_workload(key);
        if (!workload) throw BadInput("has an unknown workload");
        MeasuredGain gain = gain_of(measured.at("ratio"));
        gain.rounds = measured.value("rounds", std::size_t{0});
        gain.ns = measured.value("ns", 0.0);
        gain.reference_ns = measured.value(reference, 0.0);
        gains[*workload].emplace(name, gain);
    }
}

void add_race(MeasuredGains& gains, const json& race, std::string (*name)(const json& tuple)) {
    const auto one = [&](const json& entry) {
        add(gains, name(entry.at("tuple")), entry, "libc_ns");
    };
    one(race.at("winner"));
    const json runners_up = race.value("runners_up", json::array());
    const json best = race.value("axes", json::object());
    for (const json& runner_up : runners_up) one(runner_up);
    for (const auto& [workload, axes] : best.items()) {
        for (const auto& [axis, entry] : axes.items()) one(entry);
    }
}

void read_profile_of(const json& profile, SourceResults& results) {
    const auto read = [&](const json& intervals) {
        for (const json& interval : intervals) {
            const auto size = interval.at("size").get<std::size_t>();
            add_race(results.pipelines[size], interval, pipeline_name);
        }
    };
    read(profile.at("intervals"));
    // At one size they were all in one run-off.
    const json intents = profile.value("intents", json::object());
    for (const auto& [name, intent] : intents.items()) {
        read(intent.at("intervals"));
    }
    if (profile.contains("small")) {
        add_race(results.small, profile.at("small"), small_tuple_name);
    }
    if (profile.contains("overlapping")) {
        add_race(results.overlapping, profile.at("overlapping"), overlapping_tuple_name);
    }
    // There everybody is in every round of one run-off.
    const std::string rigor = profile.at("search").at("rigor").get<std::string>();
    const auto rounds = static_cast<std::size_t>(parse_rigor(rigor).rounds);
    const json aliased = profile.value("aliased", json::object()).value("sizes", json::array());
    for (const json& size : aliased) {
        if (part_of(size, "/undecided") == true) continue; // its gains are noise
        MeasuredGains& measured = results.aliased[size.at("size").get<std::size_t>()];
        const MeasuredGain best = gain_of(size.at("best_ratio"));
        const json gains = size.value("gains", json::array()); // older profiles have none
        for (const json& gain : gains) {
            const json& tuple = gain.at("tuple");
            const auto ratio = gain.at("gain").get<double>();
            if (!(ratio > 0)) throw BadInput("has a gain that is none");
            measured[Workload::aliased].emplace(
                tuple.at("kind").get<std::string>() + ' ' + tuple.at("rt").get<std::string>(),
                MeasuredGain{std::log(ratio), best.error, rounds, 0, 0});
        }
    }
    const json threads = profile.value("threads", json::object()).value("results", json::array());
    for (const json& result : threads) {
        add(results.shared[result.at("size").get<std::size_t>()],
            share_name({result.at("threads"), result.at("chunk")}), result, "alone_ns");
    }
}

bool is_libc(const std::string& name) {
    return name == "libc";
}

bool is_aliased_copy(const std::string& name) {
    const auto copies = copies_of(asterope_aliased_copies, anything);
    return std::any_of(copies.begin(), copies.end(),
                       [&](const asterope_copy* copy) { return copy->name == name; });
}

/// In a race of copies for aliasing buffers.
bool is_pipeline(const std::string& name) {
    return !is_libc(name) && !is_aliased_copy(name);
}

/// In a race of copies over threads.
bool is_one_thread(const std::string& name) {
    return name.rfind("threads ", 0) != 0;
}

void read_log(const TrialLogContents& log, SourceResults& results) {
    for (const auto& [name, records] : log.steps) {
        const std::optional<LoggedStep> step = parse_step(name);
        if (!step) continue;
        const auto gains = [&log, &name = name](bool (*is_reference)(const std::string&)) {
            return gains_of(rounds_of(log.steps.at(name)), is_reference);
        };
        if (step->step == Step::small) results.small = gains(is_libc);
        if (step->step == Step::overlapping) results.overlapping = gains(is_libc);
        if (step->step == Step::pipelines) results.pipelines[step->size] = gains(is_libc);
        if (step->step == Step::aliased) results.aliased[step->size] = gains(is_pipeline);
        if (step->step == Step::threads) results.shared[step->size] = gains(is_one_thread);
    }
}

} // namespace

std::vector<LoggedRound> rounds_of(const std::vector<Record>& step) {
    std::vector<LoggedRound> rounds;
    std::optional<std::pair<Workload, std::uint64_t>> last;
    bool disturbed = false;
    for (const Record& record : step) {
        if (std::holds_alternative<std::vector<Disturbance>>(record)) {
            disturbed = true;
        } else if (const auto* one = std::get_if<std::pair<TrialKey, Trial>>(&record)) {
            const auto& [key, trial] = *one;
            const std::pair round(key.workload, key.round);
            if (round != last) {
                rounds.push_back({key.workload, {}});
            } else if (disturbed) { // it is timed once more: only the last try counts
                rounds.back().trials.clear();
            }
            last = round;
            disturbed = false;
            rounds.back().trials.emplace_back(key.candidate, trial.ns);
        }
    }
    return rounds;
}

MeasuredGains gains_of(const std::vector<LoggedRound>& rounds,
                       bool (*is_reference)(const std::string& name)) {
    struct Group {
        std::vector<RecordedRound> rounds;
        std::vector<double> reference_ns;
    };
    std::map<std::string, int> indices;
    std::map<Workload, Group> groups;
    std::map<Workload, std::map<int, std::vector<double>>> times;
    for (const LoggedRound& round : rounds) {
        std::vector<double> reference;
        for (const auto& [name, ns] : round.trials) {
            if (is_reference(name)) reference.push_back(ns);
        }
        if (reference.empty()) continue; // cut short
        Group& group = groups[round.workload];
        group.reference_ns.insert(group.reference_ns.end(), reference.begin(), reference.end());
        const double level = std::log(median(reference));
        group.rounds.emplace_back();
        for (const auto& [name, ns] : round.trials) {
            if (is_reference(name) || is_libc(name)) continue;
            const int index = indices.emplace(name, static_cast<int>(indices.size())).first->second;
            group.rounds.back().emplace_back(index, static_cast<float>(level - std::log(ns)));
            times[round.workload][index].push_back(ns);
        }
    }
    MeasuredGains gains;
    for (const auto& [workload, group] : groups) {
        const std::vector<double> references = find_references(group.rounds);
        std::map<int, std::vector<double>> samples;
        for (std::size_t i = 0; i < references.size(); ++i) {
            for (const auto& [index, sample] : group.rounds[i]) {
                samples[index].push_back(sample + references[i]);
            }
        }
        std::vector<double> deviations;
        for (const auto& [index, values] : samples) {
            if (values.size() < kSpread) continue;
            const double center = median(values);
            for (const double value : values) deviations.push_back(std::abs(value - center));
        }
        // 1.48: from a median deviation to a standard one; 1.25: from a mean's error to a median's.
        // A race of nobody who was timed often says nothing of its noise: a tenth is a lot.
        const double spread = deviations.empty() ? 0.1 : 1.48 * 1.25 * median(deviations);
        const double reference_ns = median(group.reference_ns);
        for (const auto& [name, index] : indices) {
            const auto found = samples.find(index);
            if (found == samples.end()) continue;
            const auto count = static_cast<double>(found->second.size());
            gains[workload][name] = {
                median(found->second), std::max(kLeastError, spread / std::sqrt(count)),
                found->second.size(), median(times[workload][index]), reference_ns};
        }
    }
    return gains;
}

SourceResults::SourceResults(const MergeSource& source) {
    try {
        if (source.log) {
            read_log(*source.log, *this);
        } else {
            read_profile_of(to_json(source.profile), *this);
        }
    } catch (const BadInput& fault) {
        throw BadInput("profile " + source.path + ": " + fault.what() +
                       ": make it anew with asterope-tune");
    }
}

} // namespace asterope
