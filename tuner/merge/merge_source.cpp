// Reads and compares sources, and sums up the facts about their searches.
#include "merge/merge_source.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <string_view>

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/json_text.hpp"
#include "base/line_reader.hpp"
#include "base/statistics.hpp"
#include "base/text.hpp"
#include "machine/machine.hpp"
#include "run/tuning.hpp"
#include "timing/step.hpp"

namespace asterope {

namespace {

using nlohmann::json;

/// A value as a message may show it.
std::string shown(const json& value) {
    return value.is_structured() ? std::string("others") : value.dump().substr(0, 60);
}

/// On equal machines, firmware and kernels take different shares of the memory.
bool about_equal(const json& memory, const json& other) {
    constexpr double kSlack = 1.0 / 16;
    if (!memory.is_number() || !other.is_number()) return true;
    const auto bytes = memory.get<double>(), more = other.get<double>();
    return std::abs(bytes - more) <= kSlack * std::max(bytes, more);
}

void add_noise(std::optional<DisturbanceCounts>& to, const std::optional<DisturbanceCounts>& from) {
    if (!from) return;
    if (!to) to.emplace();
    to->rounds += from->rounds;
    to->repeated += from->repeated;
    to->kept += from->kept;
    for (const auto& [kind, rounds] : from->disturbed) to->disturbed[kind] += rounds;
    to->provisional = to->provisional || from->provisional;
    if (to->provisional) to->reason = "noise may have decided winners of a search it came from";
}

/// Both lists' members, each once, sorted.
template <class T> void add_members(std::vector<T>& to, const std::vector<T>& from) {
    std::set<T> members(to.begin(), to.end());
    members.insert(from.begin(), from.end());
    to.assign(members.begin(), members.end());
}

/// Keeps a value on which both agree.
template <class T> void keep_equal(T& to, const T& from) {
    if (to != from) to = T{};
}

/// The difference of type between two "machine" objects, as in "cpu.model: 85 on one, 143 on the
/// other"; empty: they are of one type.
std::string type_difference(const json& a, const json& b) {
    for (const Part& part : compare_machines(a, b)) {
        if (part.state != PartState::decides || part.name == "fingerprint") continue;
        if (part.name.starts_with("memory.")) continue; // the modules
        const bool memory = part.name == "memory";
        if (memory && about_equal(part_of(a, "/memory_bytes"), part_of(b, "/memory_bytes"))) {
            continue;
        }
        std::string difference = part.difference;
        for (const auto& [from, to] :
             {std::pair<std::string_view, const char*>(" in the profile", " on one"),
              {" here", " on the other"}}) {
            const std::size_t at = difference.find(from);
            if (at != difference.npos) difference.replace(at, from.size(), to);
        }
        return difference;
    }
    return {};
}

} // namespace

MergeSource read_merge_source(const std::string& path) {
    LineReader lines(path, path);
    const std::string_view start = lines.start();
    if (!begins_sample_log(start.substr(0, start.find('\n')))) {
        throw BadInput(path +
                       ": is not a sample log: a profile holds a few copies a size, and the common "
                       "best of several machines needs their logs (--log FILE)");
    }
    lines.rename("log " + path);
    MergeSource source{path, {}, read_sample_log(lines)};
    // The profile is rounded as in a file.
    source.profile = profile_of(to_json(profile_of_log(source.log, lines.what())));
    return source;
}

void require_alike(const std::vector<MergeSource>& sources) {
    const MergeSource& first = sources.front();
    for (std::size_t i = 1; i < sources.size(); ++i) {
        const MergeSource& one = sources[i];
        const auto refuse = [&](const std::string& why) {
            return BadInput("cannot merge " + first.path + " and " + one.path + ": " + why);
        };
        const Profile &a = first.profile, &b = one.profile;
        const std::string type = type_difference(a.machine, b.machine);
        if (!type.empty()) {
            throw refuse("they are of different types of machines (" + type +
                         "): asterope-generate --dispatch makes one file for several types");
        }
        const auto require = [&](const char* what, const json& there, const json& here) {
            if (there == here) return;
            throw refuse(std::string("they were tuned with another ") + what + " (" + shown(there) +
                         " and " + shown(here) + ')');
        };
        require("version of asterope-tune", a.search.tool_version, b.search.tool_version);
        require("workload", a.search.workload, b.search.workload);
        for (const auto& [operation, weights] : a.search.weights) {
            const auto other = b.search.weights.find(operation);
            if (other == b.search.weights.end() || other->second == weights) continue;
            throw refuse("they were tuned with different weights of the workloads");
        }
        require("--recording", a.search.distribution, b.search.distribution);
        require("--interleave", a.search.is_interleaved(), b.search.is_interleaved());
        for (std::size_t j = 0; j < i; ++j) {
            if (sources[j].content() == one.content()) {
                throw BadInput("cannot merge " + sources[j].path + " and " + one.path +
                               ": they are one and the same search: give each once");
            }
        }
    }
}

SearchFacts merged_search(const std::vector<MergeSource>& sources) {
    constexpr std::size_t kMostWarnings = 100; // as the schema has it
    SearchFacts all = sources.front().profile.search;
    all.references.clear(); // their copies are left out
    for (std::size_t i = 1; i < sources.size(); ++i) {
        const SearchFacts& one = sources[i].profile.search;
        keep_equal(all.space, one.space);
        keep_equal(all.candidates, one.candidates);
        keep_equal(all.rigor, one.rigor);
        keep_equal(all.seed, one.seed);
        keep_equal(all.cpu, one.cpu);
        keep_equal(all.source_map, one.source_map);
        keep_equal(all.memory_nodes, one.memory_nodes);
        keep_equal(all.no_sensing, one.no_sensing);
        all.seconds = rounded(all.seconds + one.seconds);
        all.trials += one.trials;
        all.resumed += one.resumed;
        all.started = std::min(all.started, one.started);
        all.finished = std::max(all.finished, one.finished);
        add_members(all.axes, one.axes);
        add_members(all.invalid, one.invalid);
        add_members(all.warnings, one.warnings);
        add_members(all.without, one.without);
        // Each machine's warnings have their own figures, and a profile holds so many warnings.
        if (all.warnings.size() > kMostWarnings) all.warnings.resize(kMostWarnings);
        all.extended_candidates = std::max(all.extended_candidates, one.extended_candidates);
        for (const auto& [step, seconds] : one.phases) {
            double& sum = entry_in(all.phases, step);
            sum = rounded(sum + seconds);
        }
        add_noise(all.noise, one.noise);
    }
    return all;
}

Merged merged_from(const std::vector<MergeSource>& sources) {
    Merged merged;
    for (const MergeSource& source : sources) {
        const SearchFacts& search = source.profile.search;
        Merged::Source& one = merged.sources.emplace_back();
        one.name = profile_name(std::filesystem::path(source.path).filename().string());
        one.rigor = search.rigor;
        one.seed = search.seed;
        one.started = search.started;
        one.finished = search.finished;
        one.trials = search.trials;
        one.machine = source.profile.machine;
    }
    return merged;
}

} // namespace asterope
