// Reads the recordings that asterope-record writes, and says what is wrong with others.
#include "program/program_recording.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json_text.hpp"
#include "base/text_file.hpp"

namespace asterope {

namespace {

using nlohmann::json;

constexpr const char* kFormat = "asterope-recording";
constexpr int kVersion = 1;

/// A number of the recording, 0 or more. Throws BadInput with its place.
double number(const json& object, const char* name, const std::string& place) {
    const auto found = object.is_object() ? object.find(name) : object.end();
    const std::string there = place + (place.empty() ? "" : ".") + name;
    if (!object.is_object() || found == object.end()) throw BadInput(there + ": missing");
    const double value = found->is_number() ? found->get<double>() : -1;
    if (!(value >= 0 && value < 1e18)) throw BadInput(there + ": no number from 0 up");
    return value;
}

const json& part(const json& object, const char* name, json::value_t type,
                 const std::string& place) {
    const std::string there = place + (place.empty() ? "" : ".") + name;
    const auto found = object.is_object() ? object.find(name) : object.end();
    if (!object.is_object() || found == object.end()) throw BadInput(there + ": missing");
    if (found->type() != type) {
        throw BadInput(there + ": " + (type == json::value_t::array ? "no list" : "no object"));
    }
    return *found;
}

const json& list(const json& object, const char* name, const std::string& place) {
    return part(object, name, json::value_t::array, place);
}

/// Parts of the processor time; 0 where nothing was timed.
Estimate share_of(const json& object, const char* name, double whole, const std::string& place) {
    if (object.is_object() && object.value(name, json(0)).is_null()) return {0, 0, 0};
    const json& one = part(object, name, json::value_t::object, place);
    const std::string there = place + (place.empty() ? "" : ".") + name;
    return {number(one, "value", there) / whole, number(one, "low", there) / whole,
            number(one, "high", there) / whole};
}

ProgramBand band_of(const json& one, double cpu_seconds, const std::string& place) {
    ProgramBand band;
    band.above = static_cast<std::size_t>(number(one, "above", place));
    const bool ends = one.contains("up_to") && !one["up_to"].is_null();
    band.up_to = ends ? static_cast<std::size_t>(number(one, "up_to", place)) : kLargestCopy;
    band.calls = number(one, "calls", place);
    band.share = share_of(one, "seconds", cpu_seconds, place);
    band.probed = number(one, "probed", place);
    double sum = 0;
    for (const json& situation : list(one, "situations", place)) {
        const std::string there = place + ".situations";
        if (!situation.is_object() || !situation.value("source_cached", json()).is_boolean() ||
            !situation.value("destination_cached", json()).is_boolean()) {
            throw BadInput(there + ": does not say what is cached");
        }
        const double time = number(situation, "time", there);
        band.situations[situation_of(situation["source_cached"],
                                     situation["destination_cached"])] += time;
        sum += time;
    }
    band.fresh = std::min(1.0, number(one, "fresh", place));
    if (sum == 0) band.probed = 0;
    for (double& share : band.situations) share = sum > 0 ? share / sum : 0;
    if (one.contains("read") && !one["read"].is_null()) {
        const json& read = part(one, "read", json::value_t::object, place);
        if (number(read, "watched", place + ".read") > 0) {
            band.read = std::min(1.0, number(read, "soon", place + ".read"));
        }
    }
    return band;
}

std::vector<std::vector<TracedCall>> trace_of(const json& recording) {
    std::vector<std::vector<TracedCall>> trace;
    for (const json& piece : list(recording, "trace", "")) {
        auto& calls = trace.emplace_back();
        if (!piece.is_array()) throw BadInput("trace: no list of lists");
        for (const json& call : piece) {
            if (!call.is_array() || call.size() != 3 ||
                !std::all_of(call.begin(), call.end(),
                             [](const json& value) { return value.is_number_unsigned(); })) {
                throw BadInput("trace: a call is no list of a size and two offsets");
            }
            calls.push_back({call[0], call[1].get<unsigned>() % 64, call[2].get<unsigned>() % 64});
        }
        if (calls.empty()) trace.pop_back();
    }
    return trace;
}

/// The sizes of all copies. A class of sizes is told apart further by what the trace has of it.
Distribution sizes_of(const json& recording, const std::vector<std::vector<TracedCall>>& trace) {
    std::map<std::size_t, double> traced, sizes;
    for (const auto& piece : trace) {
        for (const TracedCall& call : piece) ++traced[call.size];
    }
    std::size_t i = 0;
    for (const json& one : list(recording, "calls", "")) {
        const std::string place = "calls[" + std::to_string(i++) + ']';
        const auto from = static_cast<std::size_t>(number(one, "from", place));
        const auto to = static_cast<std::size_t>(number(one, "to", place));
        const double calls = number(one, "calls", place);
        if (!one.value("function", json()).is_string())
            throw BadInput(place + ".function: missing");
        if (from >= to) throw BadInput(place + ": is no range of sizes");
        if (one["function"] == "memset" || calls == 0) continue;
        double seen = 0;
        const auto begin = traced.lower_bound(from), end = traced.lower_bound(to);
        for (auto at = begin; at != end; ++at) seen += at->second;
        if (seen == 0) sizes[from] += calls;
        for (auto at = begin; at != end; ++at) sizes[at->first] += calls * at->second / seen;
    }
    if (sizes.empty()) throw BadInput("holds no copies: there is nothing to tune for");
    return Distribution({sizes.begin(), sizes.end()});
}

Distribution alignments_of(const json& recording) {
    const json& sides = part(recording, "alignments", json::value_t::object, "");
    std::map<std::size_t, double> alignments;
    for (const char* side : {"source", "destination"}) {
        for (const json& pair : list(sides, side, "alignments")) {
            const bool two = pair.is_array() && pair.size() == 2 && pair[0].is_number_unsigned() &&
                             pair[1].is_number();
            if (!two || !(pair[1] >= 0.0) || !(pair[0] >= 1u) || !(pair[0] <= 4096u)) {
                throw BadInput("alignments." + std::string(side) +
                               ": no pairs of an alignment and "
                               "its share");
            }
            alignments[pair[0]] += pair[1].get<double>();
        }
    }
    std::erase_if(alignments, [](const auto& one) { return one.second == 0; });
    if (alignments.empty()) alignments[1] = 1;
    return Distribution({alignments.begin(), alignments.end()});
}

Program program_of_recording(const json& recording) {
    if (!recording.is_object() || recording.value("format", json()) != kFormat) {
        throw BadInput("is no recording: asterope-record writes one");
    }
    if (recording.value("version", json()) != kVersion) {
        throw BadInput("is of another version: record anew");
    }
    const double cpu_seconds = number(recording, "cpu_seconds", "");
    if (cpu_seconds == 0) throw BadInput("cpu_seconds: the program did nothing");
    const json& named = part(recording, "program", json::value_t::object, "");
    if (!named.value("name", json()).is_string()) throw BadInput("program.name: missing");
    const auto trace = trace_of(recording);
    CallStatistics statistics{named["name"], sizes_of(recording, trace), alignments_of(recording),
                              trace};
    Program program{statistics.name, share_of(recording, "share", 1, ""), {}, statistics};
    std::size_t next = 0;
    for (const json& one : list(recording, "bands", "")) {
        const std::string place = "bands[" + std::to_string(program.bands.size()) + ']';
        const ProgramBand band = band_of(one, cpu_seconds, place);
        if (band.above != next || band.up_to <= band.above) {
            throw BadInput(place + ": does not begin where the one before it ends");
        }
        next = band.up_to;
        program.bands.push_back(band);
    }
    if (next != kLargestCopy) throw BadInput("bands: do not end");
    if (program.time_share(program.bands.front()) == 0 && program.share.median == 0) {
        throw BadInput("no copy was timed: record for longer");
    }
    find_sizes(program);
    return program;
}

WeightedProgram read_weighted(const std::string& text) {
    const std::size_t sign = text.rfind('=');
    double weight = 1;
    std::string path = text;
    if (sign != std::string::npos) {
        const char *begin = text.data() + sign + 1, *end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(begin, end, weight);
        if (error == std::errc() && stop == end) {
            path = text.substr(0, sign);
        } else {
            weight = 1; // a path with this sign in it
        }
    }
    if (!(weight > 0 && weight < 1e9)) {
        throw BadInput("--recording " + text.substr(0, 200) + ": its weight is no number above 0");
    }
    return {read_program_recording(path), weight};
}

} // namespace

Program read_program_recording(const std::string& path) {
    const std::string what = "recording " + path;
    const std::string text = read_text_file(path, what);
    if (text.empty()) throw BadInput(what + ": it is empty");
    const json recording = parse_json(text, what);
    try {
        return program_of_recording(recording);
    } catch (const BadInput& error) {
        throw BadInput(what + ": " + error.what());
    }
}

Program read_program(const std::vector<std::string>& recordings) {
    std::vector<WeightedProgram> programs;
    for (const std::string& text : recordings) {
        programs.push_back(read_weighted(text));
        const auto &first = programs.front().program.bands, &last = programs.back().program.bands;
        const bool alike = std::equal(first.begin(), first.end(), last.begin(), last.end(),
                                      [](const ProgramBand& a, const ProgramBand& b) {
                                          return a.above == b.above && a.up_to == b.up_to;
                                      });
        if (!alike) {
            throw BadInput("--recording " + text.substr(0, 200) +
                           ": has other bands than the first: record anew with one version");
        }
    }
    return join(programs);
}

} // namespace asterope
