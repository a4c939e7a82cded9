// How programs call memcpy and memset: which sizes and alignments, how often.
#include "timing/distribution.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json_text.hpp"
#include "base/text_file.hpp"
#include "timing/fleet_csv.hpp"
#include "timing/workloads/small_calls.hpp"

namespace asterope {

namespace {

/// What may stand before a colon. A size above 1 TiB is a mistake in the file, not a copy.
struct Values {
    std::size_t lowest, highest;
    const char* expected;
};
constexpr Values kSizes = {0, std::size_t{1} << 40, "expected a number of bytes"};
constexpr Values kOverlaps = {0, 1, "expected 0 or 1"};
constexpr Values kAlignments = {1, 4096, "expected an alignment of 1 to 4096 bytes"};

/// One line of pairs. `line` counts from 1.
std::vector<std::pair<std::size_t, double>>
parse_pairs(std::string_view text, int line, const Values& values, const std::string& name) {
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    const auto refuse = [&](const char* at, const char* why) {
        return BadInput("distribution " + name + ", line " + std::to_string(line) + ", column " +
                        std::to_string(at - begin + 1) + ": " + why);
    };
    std::vector<std::pair<std::size_t, double>> pairs;
    double sum = 0;
    const char* at = begin;
    for (;;) {
        std::size_t value = 0;
        const auto [after_value, bad_value] = std::from_chars(at, end, value);
        if (bad_value != std::errc() || value < values.lowest || value > values.highest) {
            throw refuse(at, values.expected);
        }
        if (after_value == end || *after_value != ':') throw refuse(after_value, "expected ':'");
        double probability = 0;
        const auto [after, bad] = std::from_chars(after_value + 1, end, probability);
        if (bad != std::errc() || !std::isfinite(probability)) {
            throw refuse(after_value + 1, "expected a probability");
        }
        if (probability < 0) throw refuse(after_value + 1, "a probability cannot be negative");
        pairs.emplace_back(value, probability);
        sum += probability;
        at = after;
        if (at == end) break;
        if (*at != ',') throw refuse(at, "expected ',' or the end of the line");
        ++at;
    }
    if (std::abs(sum - 1) > 0.02) {
        throw refuse(end, "the probabilities of this line do not add up to 1");
    }
    return pairs;
}

} // namespace

Distribution::Distribution(std::vector<std::pair<std::size_t, double>> pairs)
    : pairs_(std::move(pairs)) {
    double sum = 0;
    for (const auto& [value, probability] : pairs_) cumulative_.push_back(sum += probability);
    for (double& bound : cumulative_) bound /= sum;
}

std::size_t Distribution::draw(std::mt19937_64& random) const {
    // not std::uniform_real_distribution: a seed must give the same calls in every library
    const double drawn = static_cast<double>(random() >> 11) * 0x1p-53;
    const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, drawn);
    return pairs_[static_cast<std::size_t>(found - cumulative_.begin())].first;
}

CallStatistics parse_statistics(std::string_view text, const std::string& name) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        lines.push_back(line);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (lines.empty()) throw BadInput("distribution " + name + ", line 1, column 1: it is empty");
    if (lines.size() > 3) {
        throw BadInput("distribution " + name + ", line 4, column 1: expected the end of the file");
    }
    const auto sizes = parse_pairs(lines[0], 1, kSizes, name);
    if (lines.size() > 1) parse_pairs(lines[1], 2, kOverlaps, name);
    std::vector<std::pair<std::size_t, double>> alignments = {{1, 1.0}};
    if (lines.size() > 2) alignments = parse_pairs(lines[2], 3, kAlignments, name);
    return {name, Distribution(sizes), Distribution(alignments)};
}

CallStatistics fleet_statistics(Operation operation) {
    return parse_statistics(operation == Operation::set ? kMemsetFleetCsv : kFleetCsv, "fleet");
}

CallStatistics read_statistics(const std::filesystem::path& path) {
    const std::string text = read_text_file(path, "distribution " + path.string());
    return parse_statistics(text, path.filename().string());
}

namespace {

using nlohmann::json;

constexpr const char* kFormat = "asterope-recording";
constexpr int kVersion = 2;

/// Small copies that say what the others of the program are like.
constexpr double kLeastCalls = 1000;

/// Throws BadInput, which names the place of the first fault.
std::vector<std::pair<std::size_t, double>> sizes_of(const json& recording) {
    const json listed = part_of(recording, "/sizes");
    if (!listed.is_array()) throw BadInput("sizes: missing, or no list: record anew");
    std::vector<std::pair<std::size_t, double>> sizes;
    double small = 0;
    for (const json& one : listed) {
        const bool sound = one.is_array() && one.size() == 2 && one[0].is_number_unsigned() &&
                           one[1].is_number() && one[1].get<double>() > 0;
        if (!sound) {
            throw BadInput("sizes[" + std::to_string(sizes.size()) + "]: " +
                           one.dump().substr(0, 40) + " is no size with its calls: record anew");
        }
        sizes.emplace_back(one[0].get<std::size_t>(), one[1].get<double>());
        if (sizes.back().first <= kLargestMixed) small += sizes.back().second;
    }
    if (small < kLeastCalls) {
        throw BadInput("has too few small copies to tune for: leave --recording out");
    }
    return sizes;
}

} // namespace

CallStatistics recorded_statistics(const std::filesystem::path& path) {
    const std::string what = "recording " + path.string();
    const std::string text = read_text_file(path, what);
    if (text.empty()) throw BadInput(what + ": it is empty");
    const json recording = parse_json(text, what);
    if (!recording.is_object() || recording.value("format", json()) != kFormat) {
        throw BadInput(what + ": is no recording: asterope-record writes one");
    }
    if (recording.value("version", json()) != kVersion) {
        throw BadInput(what + ": is of another version: record anew");
    }
    const json name = part_of(recording, "/program/name");
    if (!name.is_string()) throw BadInput(what + ": program: has no name: record anew");
    try {
        return {name, Distribution(sizes_of(recording)), fleet_statistics().alignments};
    } catch (const BadInput& error) {
        throw BadInput(what + ": " + error.what());
    }
}

} // namespace asterope
