// The verdict is the sign of the worths' sum.
#include "tunables/report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/contains.hpp"
#include "base/size_text.hpp"
#include "base/statistics.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "profile/provisional.hpp"

namespace asterope {

namespace {

/// The geometric mean of the setting's ratios where it copies in another way; 1 where it nowhere
/// does.
double mean_ratio(const std::vector<SizeGain>& gains) {
    GeometricMean mean;
    for (const SizeGain& one : gains) {
        if (one.before != one.after) mean.add(one.ratio.median);
    }
    return mean.mean();
}

/// The clear gains or losses of another way: "4 KiB 1.20, 8 KiB 1.31"; "none".
std::string clear_sizes(const std::vector<SizeGain>& gains, bool faster) {
    std::string text;
    for (const SizeGain& one : gains) {
        if (one.before == one.after || !is_clear(one.ratio, one.floor)) continue;
        if ((one.ratio.median > 1) != faster) continue;
        text += formatted("%s%s %.2f", text.empty() ? "" : ", ", format_size(one.size).c_str(),
                          one.ratio.median);
    }
    return text.empty() ? "none" : text;
}

/// The situation of a size in which the setting's ratio is the least or the greatest: "0.93
/// consume".
std::string extreme(const SizeGain& gain, bool least) {
    const auto less = [](const auto& one, const auto& other) {
        return one.second.ratio.median < other.second.ratio.median;
    };
    const auto [lowest, highest] = std::ranges::minmax_element(gain.workloads, less);
    const auto& [workload, measured] = *(least ? lowest : highest);
    return formatted("%.2f %s", measured.ratio.median, name_of(workload).c_str());
}

/// glibc's figure of the last cache's size, where that is more than the kernel's. It then put the
/// threshold of non-temporal stores too high, and a lower one is clearly faster. Otherwise empty.
std::string wrong_cache(const TunablesReport& report) {
    const auto shared = report.tunables.find("x86_shared_cache_size");
    const std::size_t known = last_cache_bytes(report.machine);
    const bool gained = std::ranges::any_of(report.gains, [](const SizeGain& one) {
        return one.after >= Way::non_temporal_2 && one.before < Way::non_temporal_2 &&
               is_clear(one.ratio, one.floor) && one.ratio.median > 1;
    });
    if (!gained || shared == report.tunables.end() || known == 0 || shared->second.value <= known) {
        return "";
    }
    return "glibc took the last cache for " + format_size(shared->second.value) +
           " (x86_shared_cache_size); the kernel says " + format_size(known) +
           ", and non-temporal stores are faster far below glibc's threshold.\n";
}

nlohmann::ordered_json thresholds_json(const CopyThresholds& one) {
    return {{"rep_movsb_above", one.rep_movsb},
            {"rep_movsb_below", one.stop},
            {"non_temporal_above", one.non_temporal}};
}

nlohmann::ordered_json ways_json(const SizeWays& one) {
    nlohmann::ordered_json ways = nlohmann::ordered_json::object();
    for (const WayResult& way : one.ways) {
        ways[name_of(way.way)] = {{"ratio", estimate_json(way.ratio)},
                                  {"least", rounded(way.least)},
                                  {"worth", rounded(way.worth)}};
    }
    return {{"size", one.size},
            {"default", name_of(one.now)},
            {"noise_floor", estimate_json(one.floor)},
            {"ways", ways}};
}

nlohmann::ordered_json gain_json(const SizeGain& one) {
    nlohmann::ordered_json workloads = nlohmann::ordered_json::object();
    for (const auto& [workload, measured] : one.workloads) {
        workloads[name_of(workload)] = {{"default_ns", rounded(measured.libc_ns)},
                                        {"ns", rounded(measured.ns)},
                                        {"ratio", estimate_json(measured.ratio)},
                                        {"noise_floor", estimate_json(one.floors.at(workload))}};
    }
    return {{"size", one.size},
            {"before", name_of(one.before)},
            {"after", name_of(one.after)},
            {"ratio", estimate_json(one.ratio)},
            {"noise_floor", estimate_json(one.floor)},
            {"clear", is_clear(one.ratio, one.floor)},
            {"workloads", workloads}};
}

} // namespace

bool TunablesReport::change() const {
    double sum = 0;
    for (const SizeGain& one : gains) sum += one.worth;
    return sum > 0;
}

std::string line_of(const TunablesReport& report) {
    if (!report.change()) return "";
    return "GLIBC_TUNABLES=" +
           tunables_variable(report.choice.knobs.changes(report.choice.thresholds));
}

std::string default_text(const TunablesReport& report) {
    std::string text = report.machine.libc + " here: " + describe(report.choice.knobs.now) + "\n";
    for (const char* name : {kRepMovsbThreshold, kRepMovsbStopThreshold, kNonTemporalThreshold}) {
        const auto found = report.tunables.find(name);
        if (found == report.tunables.end()) continue;
        const Tunable& one = found->second;
        text += formatted("  %s %zu (from %zu to %zu)\n", name, one.value, one.least, one.most);
    }
    return text +
           "Its malloc has mmap_threshold, trim_threshold, and from 2.35 on hugetlb: they save\n"
           "page faults. asterope-prove --runs --tunables -- PROGRAM tries these.\n";
}

std::string ways_table(const std::vector<SizeWays>& ways) {
    std::string text =
        "\nThe default's time over that of each other way (in the situation where that is least);\n"
        "floor: over that of the default in another process\n";
    std::vector<std::vector<std::string>> rows = {{"Size", "default"}};
    for (const Way way : kWays) rows.front().emplace_back(words_of(way));
    rows.front().emplace_back("floor");
    for (const SizeWays& one : ways) {
        if (one.ways.empty()) continue;
        auto& row = rows.emplace_back();
        row = {format_size(one.size), words_of(one.now)};
        for (const Way way : kWays) {
            const WayResult* found = find_in(one.ways, way, &WayResult::way);
            row.push_back(found ? formatted("%.2f (%.2f)", found->ratio.median, found->least)
                                : "-");
        }
        row.emplace_back(formatted("%.3f", one.floor.median));
    }
    return rows.size() == 1 ? "" : text + aligned(rows, {"Size", "default"}, 2);
}

std::string verdict_text(const TunablesReport& report) {
    constexpr const char* kKeep = "Keep the default: ";
    if (report.gains.empty()) {
        const bool timed = !std::ranges::all_of(
            report.choice.ways, [](const SizeWays& one) { return one.ways.empty(); });
        return std::string("\n") + kKeep +
               (timed ? "no other thresholds are faster beyond the noise\n"
                      : "no threshold reaches these sizes: name larger ones\n");
    }
    std::string text = "\nThe default's time over that with " +
                       tunables_text(report.choice.knobs.changes(report.choice.thresholds)) +
                       ", timed anew\n";
    std::vector<std::vector<std::string>> rows = {
        {"Size", "default", "then", "x default", "floor", "least", "most"}};
    for (const SizeGain& one : report.gains) {
        auto& row = rows.emplace_back();
        row = {format_size(one.size),
               words_of(one.before),
               one.before == one.after ? "the same" : words_of(one.after),
               ratio_text(one.ratio),
               formatted("%.3f", one.floor.median),
               extreme(one, true),
               extreme(one, false)};
    }
    text += aligned(rows, {"Size", "default", "then", "x default", "least", "most"}, 2);
    text += '\n';
    if (!report.change()) {
        return text + kKeep + "timed anew, this is no faster than it beyond the noise\n";
    }
    text +=
        formatted("%.2f times as fast as the default at the sizes that are copied in another way "
                  "(geometric mean).\n",
                  mean_ratio(report.gains));
    text += "Faster at: " + clear_sizes(report.gains, true) + "\n";
    text += "Slower at: " + clear_sizes(report.gains, false) + "\n";
    text += wrong_cache(report);
    return text + "\nSet in the environment of a program:\n\n" + line_of(report) + "\n";
}

nlohmann::ordered_json to_json(const TunablesReport& report) {
    using nlohmann::ordered_json;
    ordered_json weights = ordered_json::object(), listed = ordered_json::object();
    for (const auto& [workload, weight] : report.objective.weights) {
        weights[name_of(workload)] = rounded(weight);
    }
    for (const auto& [name, one] : report.tunables) {
        listed[name] = {{"value", one.value}, {"least", one.least}, {"most", one.most}};
    }
    ordered_json ways = ordered_json::array(), gains = ordered_json::array();
    for (const SizeWays& one : report.choice.ways) ways.push_back(ways_json(one));
    for (const SizeGain& one : report.gains) gains.push_back(gain_json(one));
    return {{"format", "asterope-tunables"},
            {"version", 1},
            {"tool_version", kVersion},
            {"machine", to_json(report.machine)},
            {"cpu", report.cpu},
            {"rigor", report.rigor},
            {"objective", report.objective.name},
            {"weights", weights},
            {"noise", noise_json(report.noise)},
            {"tunables", listed},
            {"default", thresholds_json(report.choice.knobs.now)},
            {"tried", thresholds_json(report.choice.thresholds)},
            {"change", report.change()},
            {"line", line_of(report)},
            {"ratio", report.gains.empty() ? ordered_json()
                                           : ordered_json(rounded(mean_ratio(report.gains)))},
            {"ways", ways},
            {"sizes", gains}};
}

} // namespace asterope
