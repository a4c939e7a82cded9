// Reads of a recording of asterope-record how often a program copies which small sizes.
#include "timing/recording.hpp"

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json_text.hpp"
#include "base/text_file.hpp"
#include "timing/workloads/small_calls.hpp"

namespace asterope {

namespace {

using nlohmann::json;

constexpr const char* kFormat = "asterope-recording";
constexpr int kVersion = 2;

/// Small copies that say what the others of the program are like.
constexpr double kLeastCalls = 1000;

std::vector<std::pair<std::size_t, double>> sizes_of(const json& recording) {
    std::vector<std::pair<std::size_t, double>> sizes;
    double small = 0;
    for (const json& one : recording.at("sizes")) {
        const auto size = one.at(0).get<std::size_t>();
        const auto calls = one.at(1).get<double>();
        if (!(calls > 0)) throw BadInput("sizes: " + one.dump().substr(0, 80) + " has no calls");
        sizes.emplace_back(size, calls);
        if (size <= kLargestMixed) small += calls;
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
    try {
        CallStatistics fleet = fleet_statistics();
        return {recording.at("program").at("name"), Distribution(sizes_of(recording)),
                std::move(fleet.alignments)};
    } catch (const BadInput& error) {
        throw BadInput(what + ": " + error.what());
    } catch (const json::exception& error) {
        throw BadInput(what + ": is damaged (" + error.what() + "): record anew");
    }
}

} // namespace asterope
