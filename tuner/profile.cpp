// The profile: the winners, the machine they hold for, and how they were found.
#include "profile.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cpu.hpp"
#include "error.hpp"
#include "version.hpp"

namespace asterope {

namespace {

using Json = nlohmann::ordered_json;

/// Six significant digits: more would be noise in a file that people read and compare.
double rounded(double value) {
    if (value == 0 || !std::isfinite(value)) return value;
    const double scale = std::pow(10, 5 - std::floor(std::log10(std::abs(value))));
    return std::round(value * scale) / scale;
}

Json to_json(const Estimate& ratio) {
    return {{"median", rounded(ratio.median)},
            {"low", rounded(ratio.low)},
            {"high", rounded(ratio.high)}};
}

Json to_json(const Candidate& candidate) {
    const asterope_variant& v = *candidate.variant;
    return {{"rt", v.rt}, {"lt", v.lt}, {"st", v.st},
            {"pt", v.pt}, {"ps", v.ps}, {"pd", candidate.pd}};
}

Json to_json(const Finalist& finalist, const Candidate& candidate, std::size_t size, int rounds) {
    Json workloads = Json::object();
    for (const auto& [workload, measured] : finalist.workloads) {
        workloads[std::string(name_of(workload))] = {
            {"ns", rounded(measured.seconds * 1e9)},
            {"gb_per_s", rounded(static_cast<double>(size) / measured.seconds / 1e9)},
            {"libc_ns", rounded(measured.libc_seconds * 1e9)},
            {"ratio", to_json(measured.ratio)},
            {"rounds", rounds}};
    }
    return {{"tuple", to_json(candidate)},
            {"ratio", rounded(finalist.ratio)},
            {"tied", finalist.tied},
            {"workloads", workloads}};
}

} // namespace

Json make_profile(const nlohmann::json& machine, const SearchFacts& facts,
                  const std::vector<Candidate>& space, const std::vector<SizeResult>& results) {
    Json invalid = Json::array();
    for (const auto& [candidate, reason] : facts.invalid) {
        invalid.push_back({{"candidate", candidate}, {"reason", reason}});
    }
    Json intervals = Json::array();
    std::size_t above = 0;
    for (const SizeResult& result : results) {
        Json entries = Json::array();
        for (const Finalist& finalist : result.finalists) {
            entries.push_back(to_json(finalist, space[static_cast<std::size_t>(finalist.candidate)],
                                      result.size, result.rounds));
        }
        Json floor = Json::object();
        for (const auto& [workload, estimate] : result.noise_floor) {
            floor[std::string(name_of(workload))] = to_json(estimate);
        }
        Json winner = entries.front();
        entries.erase(0);
        intervals.push_back({{"above", above},
                             {"up_to", result.size},
                             {"winner", winner},
                             {"runners_up", entries},
                             {"noise_floor", floor}});
        above = result.size;
    }
    return {{"format", "asterope-profile"},
            {"version", kProfileVersion},
            {"architecture", kArchitecture},
            {"complete", true},
            {"machine", machine},
            {"search",
             {{"tool_version", kVersion},
              {"space", "paper"},
              {"candidates", facts.candidates},
              {"rigor", facts.rigor},
              {"workload", facts.workload},
              {"seed", facts.seed},
              {"cpu", facts.cpu},
              {"started", facts.started},
              {"finished", facts.finished},
              {"seconds", rounded(facts.seconds)},
              {"trials", facts.trials},
              {"invalid", invalid},
              {"warnings", facts.warnings}}},
            {"intervals", intervals}};
}

nlohmann::json read_profile(const std::filesystem::path& path) {
    const auto refuse = [&](const std::string& why) {
        return BadInput("profile " + path.string() + ": " + why);
    };
    if (std::filesystem::is_directory(path)) throw refuse("is a folder; name the file in it");
    std::ifstream file(path, std::ios::binary);
    if (!file) throw refuse(std::string(std::strerror(errno)) + "; make one with asterope-tune");
    std::ostringstream text;
    text << file.rdbuf();
    const auto profile = nlohmann::json::parse(text.str(), nullptr, false);
    if (profile.is_discarded()) throw refuse("is not whole JSON; make it anew with asterope-tune");
    if (!profile.is_object() || profile.value("format", nlohmann::json()) != "asterope-profile") {
        throw refuse("is no asterope profile");
    }
    const auto version = profile.value("version", nlohmann::json());
    if (!version.is_number_integer()) throw refuse("has no version");
    if (version > kProfileVersion) {
        throw refuse("was made by a newer asterope (version " + version.dump() +
                     "); upgrade, or make it anew");
    }
    if (version != kProfileVersion) throw refuse("has unknown version " + version.dump());
    const auto intervals = profile.value("intervals", nlohmann::json());
    if (!intervals.is_array() || intervals.empty()) throw refuse("has no intervals");
    std::size_t above = 0;
    for (const auto& interval : intervals) {
        const auto up_to =
            interval.is_object() ? interval.value("up_to", nlohmann::json()) : nlohmann::json();
        if (!up_to.is_number_unsigned() || up_to.get<std::size_t>() <= above) {
            throw refuse("has intervals that do not ascend");
        }
        above = up_to.get<std::size_t>();
    }
    return profile;
}

std::vector<std::size_t> profile_sizes(const nlohmann::json& profile) {
    std::vector<std::size_t> sizes;
    for (const auto& interval : profile.at("intervals")) sizes.push_back(interval.at("up_to"));
    return sizes;
}

std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

} // namespace asterope
