// A search that is merged with others: its profile, and its trial log where that is given.
#include "merge/merge_source.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <string_view>

#include "base/error.hpp"
#include "base/gzip_lines.hpp"
#include "base/json_part.hpp"
#include "base/json_text.hpp"
#include "base/profile_text.hpp"
#include "base/rounded.hpp"
#include "machine/cpu.hpp"
#include "profile/profile.hpp"
#include "profile/schema.hpp"
#include "run/tuning.hpp"

namespace asterope {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// A value as a message may show it.
std::string shown(const json& value) {
    return value.is_structured() ? std::string("others") : value.dump().substr(0, 60);
}

/// A cache as far as it decides the speed of a copy: how many CPUs share it, virtual machines tell
/// as they like.
json caches_of(const json& machine) {
    json caches = part_of(machine, "/caches");
    for (json& cache : caches) {
        if (!cache.is_object()) continue;
        cache.erase("shared_by");
        cache.erase("line_bytes");
    }
    return caches;
}

std::set<std::string> names_of(const json& list) {
    std::set<std::string> names;
    for (const json& one : list) {
        if (one.is_string()) names.insert(one.get<std::string>());
    }
    return names;
}

/// See type_difference.
constexpr double kMemorySlack = 1.0 / 16;

/// Adds up the numbers of two objects, by name.
void add_all(ordered_json& to, const ordered_json& from) {
    for (const auto& [name, value] : from.items()) {
        to[name] = rounded(to.value(name, 0.0) + value.get<double>());
    }
}

void add_whole(ordered_json& to, const char* name, const ordered_json& from) {
    if (!from.contains(name)) return;
    to[name] = to.value(name, std::uint64_t{0}) + from.at(name).get<std::uint64_t>();
}

void add_noise(ordered_json& to, const ordered_json& from) {
    for (const char* name : {"rounds", "repeated", "kept"}) add_whole(to, name, from);
    for (const auto& [kind, rounds] : from.at("disturbed").items()) {
        add_whole(to["disturbed"], kind.c_str(), from.at("disturbed"));
    }
    to["provisional"] = to.at("provisional").get<bool>() || from.at("provisional").get<bool>();
}

/// Both lists' members, each once.
void add_members(ordered_json& to, const ordered_json& from) {
    for (const ordered_json& one : from) {
        if (std::find(to.begin(), to.end(), one) == to.end()) to.push_back(one);
    }
    std::sort(to.begin(), to.end(),
              [](const ordered_json& a, const ordered_json& b) { return a.dump() < b.dump(); });
}

} // namespace

MergeSource read_merge_source(const std::string& path) {
    MergeSource source;
    source.path = path;
    LineReader lines(path, path);
    const std::string_view start = lines.start();
    if (begins_trial_log(start.substr(0, start.find('\n')))) {
        lines.rename("log " + path);
        source.log = read_trial_log(lines);
        source.profile = profile_of_log(*source.log, lines.what());
    } else {
        lines.rename("profile " + path);
        const std::string text = lines.all();
        const std::string fault = profile_fault(parse_profile(text, lines.what()));
        if (!fault.empty()) {
            throw BadInput(lines.what() + ": " + fault + ": correct it or run asterope-tune again");
        }
        source.profile = parse_ordered_json(text, lines.what());
    }
    for (const char* name : {"machine", "search"}) {
        if (!source.profile.contains(name) || !source.profile.at(name).is_object()) {
            throw BadInput("profile " + path +
                           ": does not say on which machine it was found, and "
                           "how: give one that asterope-tune wrote");
        }
    }
    if (part_of(source.profile, "/merged/from") == "machines") {
        throw BadInput("profile " + path +
                       ": is itself the common best of several: give those it was merged from");
    }
    return source;
}

std::string type_difference(const json& a, const json& b) {
    for (const char* place : {"/cpu/vendor", "/cpu/family", "/cpu/model", "/cpu/stepping", "/cpus",
                              "/hypervisor", "/libc", "/libc_thresholds"}) {
        const json there = part_of(a, place), here = part_of(b, place);
        if (there == here) continue;
        std::string name = place + 1;
        std::replace(name.begin(), name.end(), '/', '.');
        return name + ": " + shown(there) + " and " + shown(here);
    }
    const std::set<std::string> there = names_of(part_of(a, "/cpu/features")),
                                here = names_of(part_of(b, "/cpu/features"));
    std::vector<std::string> only;
    std::set_symmetric_difference(there.begin(), there.end(), here.begin(), here.end(),
                                  std::back_inserter(only));
    if (!only.empty()) return "cpu.features: " + only.front().substr(0, 60) + " on one only";
    if (caches_of(a) != caches_of(b)) return "caches: they differ";
    const json memory = part_of(a, "/memory_bytes"), other = part_of(b, "/memory_bytes");
    if (memory.is_number() && other.is_number()) {
        const auto bytes = memory.get<double>(), more = other.get<double>();
        if (std::abs(bytes - more) > kMemorySlack * std::max(bytes, more)) {
            return "memory_bytes: " + shown(memory) + " and " + shown(other);
        }
    }
    return {};
}

void require_alike(const std::vector<MergeSource>& sources) {
    const MergeSource& first = sources.front();
    for (std::size_t i = 1; i < sources.size(); ++i) {
        const MergeSource& one = sources[i];
        const auto refuse = [&](const std::string& why) {
            return BadInput("cannot merge " + first.path + " and " + one.path + ": " + why);
        };
        const json a = first.profile, b = one.profile;
        if (a.value("architecture", json()) != b.value("architecture", json())) {
            throw refuse("they are of different architectures: --dispatch of asterope-generate "
                         "is for one architecture, too");
        }
        const std::string type = type_difference(a.at("machine"), b.at("machine"));
        if (!type.empty()) {
            throw refuse("they are of different types of machines (" + type +
                         "): asterope-generate --dispatch makes one file for several types");
        }
        static constexpr struct {
            const char *place, *what;
        } parts[] = {{"/search/tool_version", "version of asterope-tune"},
                     {"/search/workload", "workload"},
                     {"/search/weights", "weights of the workloads"},
                     {"/small/objective", "--small"},
                     {"/small/distribution", "--distribution"}};
        for (const auto& [place, what] : parts) {
            const json there = part_of(a, place), here = part_of(b, place);
            // A profile may have no small copies: a shard, or a run that was cut short.
            const bool of_small = std::string_view(place).substr(0, 7) == "/small/";
            if (of_small && (there.is_null() || here.is_null())) continue;
            if (there != here) {
                throw refuse(std::string("they were tuned with another ") + what + " (" +
                             shown(there) + " and " + shown(here) + ')');
            }
        }
        for (std::size_t j = 0; j < i; ++j) {
            if (sources[j].content() == one.content()) {
                throw BadInput("cannot merge " + sources[j].path + " and " + one.path +
                               ": they are one and the same search: give each once, as profile or "
                               "as log");
            }
        }
    }
}

ordered_json merged_search(const std::vector<MergeSource>& sources) {
    ordered_json search = sources.front().profile.at("search");
    for (std::size_t i = 1; i < sources.size(); ++i) {
        const ordered_json& other = sources[i].profile.at("search");
        for (const char* name : {"space", "candidates", "rigor", "seed", "cpu", "source_map"}) {
            if (search.value(name, ordered_json()) != other.value(name, ordered_json())) {
                search.erase(name);
            }
        }
        search["seconds"] =
            rounded(search.at("seconds").get<double>() + other.at("seconds").get<double>());
        add_whole(search, "trials", other);
        add_whole(search, "resumed", other);
        search["started"] = std::min(search.at("started").get<std::string>(),
                                     other.at("started").get<std::string>());
        search["finished"] = std::max(search.at("finished").get<std::string>(),
                                      other.at("finished").get<std::string>());
        for (const char* name : {"axes", "invalid", "warnings", "without"}) {
            if (other.contains(name)) add_members(search[name], other.at(name));
        }
        // Each machine words them with figures of its own, and a profile holds so many.
        constexpr std::size_t kMostWarnings = 100;
        ordered_json& warnings = search["warnings"];
        if (warnings.size() > kMostWarnings) {
            warnings.erase(warnings.begin() + kMostWarnings, warnings.end());
        }
        for (const char* name : {"extended_candidates", "time_budget_seconds"}) {
            if (!other.contains(name)) continue;
            if (!search.contains(name) || search.at(name) < other.at(name)) {
                search[name] = other.at(name);
            }
        }
        if (other.contains("phases")) add_all(search["phases"], other.at("phases"));
        if (other.contains("noise")) {
            if (search.contains("noise")) {
                add_noise(search["noise"], other.at("noise"));
            } else {
                search["noise"] = other.at("noise");
            }
        }
    }
    return search;
}

ordered_json merged_from(const char* how, const std::vector<MergeSource>& sources) {
    ordered_json merged = {{"from", how}, {"sources", ordered_json::array()}};
    for (const MergeSource& source : sources) {
        const ordered_json& search = source.profile.at("search");
        ordered_json one = {
            {"name", profile_name(std::filesystem::path(source.path).filename().string())}};
        if (source.is_shard()) one["shard"] = source.profile.at("shard").at("index");
        for (const char* name : {"rigor", "seed", "started", "finished", "trials"}) {
            if (search.contains(name)) one[name] = search.at(name);
        }
        one["machine"] = source.profile.at("machine");
        merged["sources"].push_back(std::move(one));
    }
    return merged;
}

std::set<std::string> left_out_steps(const std::vector<MergeSource>& sources) {
    std::set<std::string> steps;
    for (const MergeSource& source : sources) {
        if (!source.profile.contains("left_out")) continue;
        for (const ordered_json& step : source.profile.at("left_out").at("steps")) {
            steps.insert(step.get<std::string>());
        }
    }
    return steps;
}

std::vector<std::string> in_order(const std::set<std::string>& steps) {
    std::vector<std::string> ordered;
    for (const char* step : {"small copies", "overlapping buffers", "sensing", "boundaries",
                             "aliasing buffers", "threads"}) {
        if (steps.count(step)) ordered.emplace_back(step);
    }
    return ordered;
}

} // namespace asterope
