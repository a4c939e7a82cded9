// The fleet's statistics are compiled in as text; those of a program are read from its recording.
#include "timing/distribution.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"
#include "base/text_file.hpp"
#include "timing/fleet_csv.hpp"
#include "timing/workloads/small_calls.hpp"

namespace asterope {

namespace {

/// "0:0.0868,8:0.1225,...": a line of values with their probabilities.
Distribution::Pairs parse_pairs(const std::string& line) {
    Distribution::Pairs pairs;
    std::istringstream text(line);
    std::size_t value = 0;
    double probability = 0;
    for (char mark; text >> value >> mark >> probability; text >> mark) {
        pairs.emplace_back(value, probability);
    }
    return pairs;
}

} // namespace

Distribution::Distribution(Pairs pairs) : pairs_(std::move(pairs)) {
    double sum = 0;
    for (const auto& [value, probability] : pairs_) cumulative_.push_back(sum += probability);
    for (double& bound : cumulative_) bound /= sum;
}

std::size_t Distribution::draw(std::mt19937_64& random) const {
    // std::uniform_real_distribution will not do: a seed must give the same calls in every library
    const double drawn = static_cast<double>(random() >> 11) * 0x1p-53;
    const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, drawn);
    return pairs_[static_cast<std::size_t>(found - cumulative_.begin())].first;
}

CallStatistics parse_statistics(const std::string& text, const std::string& name) {
    std::istringstream lines(text);
    std::string sizes, overlaps, alignments = "1:1";
    std::getline(lines, sizes);
    std::getline(lines, overlaps);
    if (std::string line; std::getline(lines, line)) alignments = line;
    return {name, Distribution(parse_pairs(sizes)), Distribution(parse_pairs(alignments))};
}

Distribution all_alike(std::size_t least, std::size_t most) {
    Distribution::Pairs pairs;
    for (std::size_t size = least; size <= most; ++size) {
        pairs.emplace_back(size, 1 / static_cast<double>(most - least + 1));
    }
    return Distribution(std::move(pairs));
}

std::optional<Distribution> Distribution::up_to(std::size_t most) const {
    Pairs pairs;
    for (const auto& one : pairs_) {
        if (one.first <= most && one.second > 0) pairs.push_back(one);
    }
    if (pairs.empty()) return std::nullopt;
    return Distribution(std::move(pairs));
}

CallStatistics fleet_statistics(Operation operation) {
    return parse_statistics(operation == Operation::set ? kMemsetFleetCsv : kFleetCsv, "fleet");
}

namespace {

using nlohmann::json;

constexpr const char* kFormat = "asterope-recording";
constexpr int kVersion = 2;

/// So many small copies stand for all small copies of the program.
constexpr double kLeastCalls = 1000;
constexpr double kMostCalls = 1e18; ///< of a size, as recording.schema.json has it

/// Throws BadInput, beginning with `what`, which names the place of the first fault.
Distribution::Pairs sizes_of(const json& recording, const std::string& what) {
    const json listed = part_of(recording, "/sizes");
    if (!listed.is_array()) throw BadInput(what + ": sizes: missing, or not a list: record anew");
    Distribution::Pairs sizes;
    double small = 0;
    for (const json& one : listed) {
        const bool sound = one.is_array() && one.size() == 2 && one[0].is_number_unsigned() &&
                           one[1].is_number() && one[1].get<double>() > 0 &&
                           one[1].get<double>() <= kMostCalls;
        if (!sound) {
            throw BadInput(what + ": sizes[" + std::to_string(sizes.size()) + "]: " +
                           one.dump().substr(0, 40) + " is not a size with its calls: record anew");
        }
        sizes.emplace_back(one[0].get<std::size_t>(), one[1].get<double>());
        if (sizes.back().first <= kLargestMixed) small += sizes.back().second;
    }
    if (small < kLeastCalls) {
        throw BadInput(what + ": has too few small copies to tune for: leave --recording out");
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
        throw BadInput(what + ": is not a recording: asterope-record writes one");
    }
    if (recording.value("version", json()) != kVersion) {
        throw BadInput(what + ": is of another version: record anew");
    }
    const json name = part_of(recording, "/program/name");
    if (!name.is_string()) throw BadInput(what + ": program: has no name: record anew");
    return {profile_name(name.get<std::string>()), Distribution(sizes_of(recording, what)),
            fleet_statistics().alignments};
}

} // namespace asterope
