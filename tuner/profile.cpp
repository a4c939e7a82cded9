// The profile: the winners, the machine they hold for, and how they were found.
#include "profile.hpp"

#include <cmath>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>

#include "cpu.hpp"
#include "error.hpp"
#include "profile_text.hpp"
#include "text_file.hpp"
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

Json to_json(const asterope_small_variant& v) {
    return {{"shape", v.shape}, {"rt", v.rt}, {"order", v.order}, {"bound", v.bound}};
}

Json to_json(const asterope_aliased_variant& v) {
    return {{"kind", v.kind}, {"rt", v.rt}};
}

Json to_json(const AliasedFacts& aliased) {
    Json json = Json::object();
    if (aliased.choice) {
        json["winner"] = {{"above", aliased.choice->above},
                          {"up_to", aliased.choice->up_to},
                          {"tuple", to_json(*aliased.space[aliased.choice->variant])}};
    }
    json["sizes"] = Json::array();
    for (const AliasedSize& size : aliased.sizes) {
        json["sizes"].push_back({{"size", size.size},
                                 {"pipeline", to_json(size.pipeline)},
                                 {"best", to_json(*aliased.space[size.variant])},
                                 {"best_ratio", to_json(size.best)}});
    }
    return json;
}

Json to_json(const std::map<Workload, Estimate>& floors) {
    Json json = Json::object();
    for (const auto& [workload, estimate] : floors) {
        json[std::string(name_of(workload))] = to_json(estimate);
    }
    return json;
}

/// `size` 0: of many sizes, so there is no rate to tell.
Json to_json(const Finalist& finalist, const Json& tuple, std::size_t size, int rounds) {
    Json workloads = Json::object();
    for (const auto& [workload, measured] : finalist.workloads) {
        Json& json = workloads[std::string(name_of(workload))];
        json["ns"] = rounded(measured.seconds * 1e9);
        if (size) {
            json["gb_per_s"] = rounded(static_cast<double>(size) / measured.seconds / 1e9);
        }
        json["libc_ns"] = rounded(measured.libc_seconds * 1e9);
        json["ratio"] = to_json(measured.ratio);
        json["rounds"] = rounds;
    }
    return {{"tuple", tuple},
            {"ratio", rounded(finalist.ratio)},
            {"tied", finalist.tied},
            {"workloads", workloads}};
}

/// Winner, runners-up and noise floor of one race, into `json`.
void add_result(Json& json, const SizeResult& result,
                const std::function<Json(Entrant)>& tuple_of) {
    Json runners_up = Json::array();
    for (const Finalist& finalist : result.finalists) {
        Json entry = to_json(finalist, tuple_of(finalist.candidate), result.size, result.rounds);
        if (&finalist == &result.finalists.front()) {
            json["winner"] = std::move(entry);
        } else {
            runners_up.push_back(std::move(entry));
        }
    }
    json["runners_up"] = runners_up;
    json["noise_floor"] = to_json(result.noise_floor);
}

} // namespace

Json make_profile(const nlohmann::json& machine, const SearchFacts& facts,
                  const std::vector<Candidate>& space, const std::vector<SizeResult>& results,
                  const SmallFacts& small, const AliasedFacts& aliased) {
    Json invalid = Json::array();
    for (const auto& [candidate, reason] : facts.invalid) {
        invalid.push_back({{"candidate", candidate}, {"reason", reason}});
    }
    Json small_json = {{"distribution", profile_name(small.distribution)},
                       {"objective", small.objective}};
    add_result(small_json, small.result, [&](Entrant entrant) {
        return to_json(*small.space[static_cast<std::size_t>(entrant)]);
    });
    Json intervals = Json::array();
    std::size_t above = 0;
    for (const SizeResult& result : results) {
        Json interval = {{"above", above}, {"up_to", result.size}};
        add_result(interval, result, [&](Entrant entrant) {
            return to_json(space[static_cast<std::size_t>(entrant)]);
        });
        intervals.push_back(std::move(interval));
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
              {"warnings", facts.warnings},
              {"without", facts.without}}},
            {"small", small_json},
            {"aliased", to_json(aliased)},
            {"intervals", intervals}};
}

nlohmann::json read_profile(const std::filesystem::path& path) {
    const auto refuse = [&](const std::string& why) {
        return BadInput("profile " + path.string() + ": " + why);
    };
    const std::string text = read_text_file(path, "profile " + path.string());
    const auto profile = nlohmann::json::parse(text, nullptr, false);
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
