// The profile: the winners, the machine they hold for, and how they were found.
#include "profile/profile.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "base/json_text.hpp"
#include "base/profile_text.hpp"
#include "base/rounded.hpp"
#include "base/text_file.hpp"
#include "base/version.hpp"
#include "machine/cpu.hpp"
#include "profile/provisional.hpp"
#include "space/tuple_json.hpp"

namespace asterope {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Estimate& ratio) {
    return {{"median", rounded(ratio.median)},
            {"low", rounded(ratio.low)},
            {"high", rounded(ratio.high)}};
}

Json to_json(const AliasedFacts& aliased) {
    Json json = Json::object();
    if (aliased.choice) {
        json["winner"] = {{"above", aliased.choice->above},
                          {"up_to", aliased.choice->up_to},
                          {"tuple", tuple_json(*aliased.space[aliased.choice->variant])}};
    }
    json["sizes"] = Json::array();
    for (const AliasedSize& size : aliased.sizes) {
        Json gains = Json::array();
        for (std::size_t i = 0; i < size.gains.size(); ++i) {
            gains.push_back(
                {{"tuple", tuple_json(*aliased.space[i])}, {"gain", rounded(size.gains[i])}});
        }
        json["sizes"].push_back({{"size", size.size},
                                 {"pipeline", to_json(size.pipeline)},
                                 {"best", tuple_json(*aliased.space[size.variant])},
                                 {"best_ratio", to_json(size.best)},
                                 {"gains", gains}});
        if (size.undecided) json["sizes"].back()["undecided"] = true;
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

/// How many of the others the profile keeps beside a winner.
constexpr std::size_t kRunnersUp = 5, kRunnersUpOfIntent = 2;

Json to_json(const SharedSize& size) {
    Json workloads = Json::object();
    for (const auto& [workload, measured] : size.workloads) {
        workloads[std::string(name_of(workload))] = {
            {"ns", rounded(measured.seconds * 1e9)},
            {"alone_ns", rounded(measured.libc_seconds * 1e9)},
            {"ratio", to_json(measured.ratio)},
            {"rounds", size.rounds}};
    }
    return {{"size", size.size},
            {"threads", size.best.threads},
            {"chunk", size.best.chunk},
            {"taken", size.taken},
            {"ratio", rounded(size.ratio)},
            {"workloads", workloads},
            {"noise_floor", to_json(size.noise_floor)}};
}

Json to_json(const ThreadsFacts& threads) {
    Json intervals = Json::array(), results = Json::array();
    for (const auto& [above, up_to, share] : threads.intervals) {
        intervals.push_back({{"above", above},
                             {"up_to", up_to},
                             {"threads", share.threads},
                             {"chunk", share.chunk}});
    }
    for (const SharedSize& size : threads.sizes) results.push_back(to_json(size));
    return {{"most", threads.most}, {"intervals", intervals}, {"results", results}};
}

/// How an entrant is written: by its parameters, and by its name.
struct Words {
    std::function<Json(Entrant)> tuple;
    std::function<std::string(Entrant)> name;
};

/// What the winner's title rests on: how often it was timed, its lead, and who else might have won.
Json proof_of(const SizeResult& result, const Words& words) {
    Json ties = Json::array();
    for (std::size_t i = 1; i < result.finalists.size(); ++i) {
        const Finalist& finalist = result.finalists[i];
        if (finalist.tied) ties.push_back(words.name(finalist.candidate));
    }
    return {{"samples", result.samples},
            {"rounds", result.rounds},
            {"lead", to_json(result.lead)},
            {"ties", ties}};
}

/// Winner, proof, runners-up and noise floor of one race, into `json`.
void add_result(Json& json, const SizeResult& result, std::size_t runners_up, const Words& words) {
    const auto entry = [&](const Finalist& finalist) {
        return to_json(finalist, words.tuple(finalist.candidate), result.size, result.rounds);
    };
    json["winner"] = entry(result.finalists.front());
    json["proof"] = proof_of(result, words);
    json["runners_up"] = Json::array();
    for (std::size_t i = 1; i < result.finalists.size() && i <= runners_up; ++i) {
        json["runners_up"].push_back(entry(result.finalists[i]));
    }
    json["noise_floor"] = to_json(result.noise_floor);
    if (result.undecided) json["undecided"] = true;
}

Json to_json(const SensingResult& sensing, std::size_t size) {
    const SensingCopy& copy = sensing.copy;
    Json json = tuple_json(*copy.probe);
    json["threshold"] = copy.threshold.ticks;
    json["cached_ticks"] = rounded(copy.threshold.cached_ticks);
    json["uncached_ticks"] = rounded(copy.threshold.uncached_ticks);
    json["hot"] = to_json(copy.hot);
    json["cold"] = to_json(copy.cold);
    const Json measured = to_json(sensing.finalist, nullptr, size, sensing.rounds);
    json["ratio"] = measured.at("ratio");
    json["workloads"] = measured.at("workloads");
    return json;
}

/// The intervals of one objective. Only the routine's own have what concerns them all: sensing, and
/// what each axis brought.
Json intervals_of(std::size_t objective, const PipelineFacts& pipelines,
                  const std::vector<Candidate>& space) {
    const auto candidate = [&](Entrant entrant) -> const Candidate& {
        return space[static_cast<std::size_t>(entrant)];
    };
    const Words words = {[&](Entrant entrant) { return to_json(candidate(entrant)); },
                         [&](Entrant entrant) { return candidate(entrant).name(); }};
    Json intervals = Json::array();
    for (const SizeInterval& one : pipelines.intervals[objective]) {
        const Found& found = pipelines.found[one.result];
        const SizeResult& result = found.results[objective];
        Json interval = {{"above", one.above}, {"up_to", one.up_to}, {"size", result.size}};
        add_result(interval, result, objective == 0 ? kRunnersUp : kRunnersUpOfIntent, words);
        if (objective == 0 && pipelines.sensing[one.result]) {
            interval["sensing"] = to_json(*pipelines.sensing[one.result], result.size);
        }
        if (objective == 0) {
            for (const auto& [workload, axis, best] : found.axes) {
                interval["axes"][std::string(name_of(workload))][std::string(axis)] =
                    to_json(best, words.tuple(best.candidate), result.size, result.rounds);
            }
        }
        intervals.push_back(std::move(interval));
    }
    return intervals;
}

/// What was explored beside the paper's axes.
Json axes_of(const SearchFacts& facts, const PipelineFacts& pipelines) {
    Json axes = Json::array();
    std::set<std::string_view> explored;
    for (const Found& found : pipelines.found) {
        for (const AxisResult& axis : found.axes) explored.insert(axis.axis);
    }
    explored.erase("paper");
    for (const std::string_view axis : explored) axes.push_back(std::string(axis));
    if (facts.sensing) axes.push_back("sensing");
    return axes;
}

Json to_json(const SmallFacts& small) {
    const auto variant = [&](Entrant entrant) -> const asterope_copy& {
        return *small.space[static_cast<std::size_t>(entrant)];
    };
    Json json = {{"distribution", profile_name(small.distribution)},
                 {"objective", small.objective}};
    add_result(json, small.result, kRunnersUp,
               {[&](Entrant entrant) { return tuple_json(variant(entrant)); },
                [&](Entrant entrant) { return std::string(variant(entrant).name); }});
    return json;
}

Json to_json(const OverlappingFacts& facts) {
    Json entries = Json::array();
    for (const Finalist& finalist : facts.result.finalists) {
        const auto& v = *facts.space[static_cast<std::size_t>(finalist.candidate)];
        entries.push_back(to_json(finalist, tuple_json(v), 0, facts.result.rounds));
    }
    Json json = {{"winner", entries.front()}};
    entries.erase(0);
    json["runners_up"] = entries;
    json["noise_floor"] = to_json(facts.result.noise_floor);
    return json;
}

/// What not every run has to tell, into its "search" object.
void add_particulars(Json& search, const SearchFacts& facts) {
    if (!facts.source_map.empty()) search["source_map"] = profile_name(facts.source_map);
    if (facts.budget_seconds) search["time_budget_seconds"] = rounded(*facts.budget_seconds);
    if (facts.resumed) search["resumed"] = facts.resumed;
    if (facts.noise) search["noise"] = noise_json(*facts.noise);
    for (const auto& [phase, seconds] : facts.phases) search["phases"][phase] = rounded(seconds);
}

/// A shard may have found a winner for every size: of two sizes, one is its border.
bool is_whole(const std::optional<ShardFacts>& shard) {
    return !shard || shard->shard.count == 1;
}

/// The entry points by intent that a routine may have.
bool is_intent(const std::string& objective) {
    return objective == "hot" || objective == "cold" || objective == "consume";
}

} // namespace

std::size_t PipelineFacts::result_for(std::size_t size) const {
    const std::vector<SizeInterval>& of_routine = intervals.front();
    const auto interval =
        std::find_if(of_routine.begin(), of_routine.end(),
                     [&](const SizeInterval& candidate) { return candidate.up_to >= size; });
    return interval == of_routine.end() ? of_routine.back().result : interval->result;
}

Entrant PipelineFacts::winner_for(std::size_t size) const {
    return found[result_for(size)].results.front().finalists.front().candidate;
}

void drop_sensing_below_minimum(PipelineFacts& pipelines) {
    for (const SizeInterval& interval : pipelines.intervals.front()) {
        if (interval.above + 1 < kSensingMinimum) pipelines.sensing[interval.result].reset();
    }
}

Json make_profile(const nlohmann::json& machine, const SearchFacts& facts,
                  const std::vector<Candidate>& space, const PipelineFacts& pipelines,
                  const std::optional<SmallFacts>& small,
                  const std::optional<AliasedFacts>& aliased,
                  const std::optional<ThreadsFacts>& threads,
                  const std::optional<OverlappingFacts>& overlapping) {
    Json invalid = Json::array();
    for (const auto& [candidate, reason] : facts.invalid) {
        invalid.push_back({{"candidate", candidate}, {"reason", reason}});
    }
    Json weights = Json::object();
    for (const auto& [workload, weight] : pipelines.objectives.front().weights) {
        if (weight > 0) weights[std::string(name_of(workload))] = rounded(weight);
    }
    std::size_t extended = 0;
    for (const Found& found : pipelines.found) extended = std::max(extended, found.extended);
    Json profile = {{"format", "asterope-profile"},
                    {"version", kProfileVersion},
                    {"architecture", kArchitecture},
                    {"complete", facts.left_out.empty() && is_whole(facts.shard)},
                    {"machine", machine},
                    {"search",
                     {{"tool_version", kVersion},
                      {"space", facts.space},
                      {"candidates", facts.candidates},
                      {"axes", axes_of(facts, pipelines)},
                      {"extended_candidates", extended},
                      {"rigor", facts.rigor},
                      {"workload", pipelines.objectives.front().name},
                      {"weights", weights},
                      {"seed", facts.seed},
                      {"cpu", facts.cpu},
                      {"started", facts.started},
                      {"finished", facts.finished},
                      {"seconds", rounded(facts.seconds)},
                      {"trials", facts.trials},
                      {"invalid", invalid},
                      {"warnings", facts.warnings},
                      {"without", facts.without}}}};
    add_particulars(profile["search"], facts);
    if (!facts.left_out.empty()) {
        profile["left_out"] = {{"sizes", facts.left_out.sizes}, {"steps", facts.left_out.steps}};
    }
    if (facts.shard) {
        const ShardFacts& one = *facts.shard;
        profile["shard"] = {{"index", one.shard.index},
                            {"count", one.shard.count},
                            {"sizes", one.own},
                            {"all_sizes", one.all},
                            {"search", one.search}};
    }
    if (small) profile["small"] = to_json(*small);
    if (aliased) profile["aliased"] = to_json(*aliased);
    if (overlapping) profile["overlapping"] = to_json(*overlapping);
    if (threads) profile["threads"] = to_json(*threads);
    profile["intervals"] = intervals_of(0, pipelines, space);
    for (std::size_t i = 1; i < pipelines.objectives.size(); ++i) {
        const std::string& name = pipelines.objectives[i].name;
        if (is_intent(name)) {
            profile["intents"][name] = {{"intervals", intervals_of(i, pipelines, space)}};
        }
    }
    if (facts.noise && count_undecided(profile) > 0) {
        profile["search"]["noise"]["provisional"] = true;
    }
    return profile;
}

nlohmann::json read_profile(const std::filesystem::path& path) {
    const std::string what = "profile " + path.string();
    return parse_profile(read_text_file(path, what), what);
}

nlohmann::json parse_profile(std::string_view text, const std::string& what) {
    const auto refuse = [&](const std::string& why) { return BadInput(what + ": " + why); };
    const auto profile = parse_json(text, what);
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
    for (const auto& interval : profile.at("intervals")) {
        const auto size = interval.value("size", interval.at("up_to"));
        if (size.is_number_unsigned()) sizes.push_back(size);
    }
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
