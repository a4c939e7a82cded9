// Reads the recordings that asterope-record writes, and says what is wrong with others.
#include "program/program_recording.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json_text.hpp"
#include "base/schema.hpp"
#include "base/text_file.hpp"

namespace asterope {

namespace {

using nlohmann::json;

constexpr const char* kFormat = "asterope-recording";
constexpr int kVersion = 1;

/// Parts of `whole` seconds of processor time; 0 where nothing was timed.
Estimate share_of(const json& one, double whole, const std::string& place) {
    if (one.is_null()) return {0, 0, 0};
    const double value = one["value"], low = one["low"], high = one["high"];
    if (!(low <= value && value <= high)) throw BadInput(place + ": is not low <= value <= high");
    constexpr double kRounded = 1.0001;
    if (high > kRounded * whole) throw BadInput(place + ": is more than cpu_seconds");
    return {value / whole, low / whole, high / whole};
}

ProgramBand band_of(const json& one, double cpu_seconds, const std::string& place) {
    ProgramBand band;
    band.above = one["above"];
    band.up_to = one["up_to"].is_null() ? kLargestCopy : one["up_to"].get<std::size_t>();
    band.calls = one["calls"];
    band.share = share_of(one["seconds"], cpu_seconds, place + ".seconds");
    band.probed = one["probed"];
    double sum = 0;
    for (const json& situation : one["situations"]) {
        const double time = situation["time"];
        band.situations[situation_of(situation["source_cached"],
                                     situation["destination_cached"])] += time;
        sum += time;
    }
    band.fresh = one["fresh"];
    if (sum == 0) band.probed = 0;
    for (double& share : band.situations) share = sum > 0 ? share / sum : 0;
    if (const json& read = one["read"]; !read.is_null()) band.read = read["soon"];
    return band;
}

std::vector<std::vector<TracedCall>> trace_of(const json& recording) {
    std::vector<std::vector<TracedCall>> trace;
    for (const json& piece : recording["trace"]) {
        auto& calls = trace.emplace_back();
        for (const json& call : piece) {
            calls.push_back({call[0], static_cast<unsigned>(call[1].get<std::size_t>() % 64),
                             static_cast<unsigned>(call[2].get<std::size_t>() % 64)});
        }
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
    for (const json& one : recording["calls"]) {
        const std::size_t from = one["from"], to = one["to"];
        if (from >= to) throw BadInput("calls[" + std::to_string(i) + "]: is no range of sizes");
        ++i;
        if (one["function"] == "memset") continue;
        const double calls = one["calls"];
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
    std::map<std::size_t, double> alignments;
    for (const char* side : {"source", "destination"}) {
        for (const json& pair : recording["alignments"][side]) {
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
    if (const std::string fault = recording_fault(recording); !fault.empty()) {
        throw BadInput(fault + ": record anew");
    }
    const double cpu_seconds = recording["cpu_seconds"];
    if (cpu_seconds == 0) throw BadInput("cpu_seconds: the program did nothing");
    const auto trace = trace_of(recording);
    CallStatistics statistics{recording["program"]["name"], sizes_of(recording, trace),
                              alignments_of(recording), trace};
    Program program{statistics.name, share_of(recording["share"], 1, "share"), {}, statistics};
    std::size_t next = 0;
    for (const json& one : recording["bands"]) {
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
