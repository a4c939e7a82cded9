// The printer loops over a list of choices; kinds differ in their titles and in their rows alone.
#include "profile/result_table.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/contains.hpp"
#include "base/size_text.hpp"
#include "base/text.hpp"

namespace asterope {

namespace {

using Choices = std::vector<const Choice*>;
using Cells = std::vector<std::string>;

std::string two_digits(double ratio) {
    return formatted("%.2f", ratio);
}

/// The workloads that any of them was timed under: they may differ by choice.
std::set<Workload> workloads_of(const Choices& choices) {
    std::set<Workload> workloads;
    for (const Choice* one : choices) {
        for (const auto& [workload, measured] : one->workloads) workloads.insert(workload);
    }
    return workloads;
}

/// libc's time over the copy's under a workload; "-" where it was not timed.
std::string ratio_text(const Choice& choice, Workload workload) {
    const auto found = choice.workloads.find(workload);
    return found == choice.workloads.end() ? "-" : two_digits(found->second.ratio.median);
}

/// How far libc seems to be from libc at most, as a ratio of 1 and more.
double widest(const std::map<Workload, Estimate>& floors) {
    double farthest = 1;
    for (const auto& [workload, floor] : floors) {
        farthest = std::max({farthest, floor.high, 1 / floor.low});
    }
    return farthest;
}

/// In percent; 0 of nothing.
double share(double part, double whole) {
    return whole > 0 ? 100 * part / whole : 0;
}

/// The parts of the names of a kind's copies: "RT LT ST PT PS PD"; "copy".
std::string title_of_copies(const Choice& choice) {
    if (choice.kind != ChoiceKind::pipelines) return "copy";
    std::string titles;
    for (const asterope_axis& axis : choice.pipeline().axes()) {
        if (!axis.mark) titles += (titles.empty() ? "" : " ") + std::string(axis.title);
    }
    return titles;
}

std::string title_of(const Choice& choice) {
    const bool small = choice.kind == ChoiceKind::small;
    const std::string_view kind =
        small ? facts_of(choice.operation).small_title : facts_of(choice.kind).title;
    if (!choice.intent) return std::string(kind);
    const std::string function = symbol_of(choice.operation) + '_' + name_of(*choice.intent);
    return small ? std::string(kind) + ", " + function : function;
}

/// A row that only tells a copy, and maybe its ratio and bandwidth.
Cells row_of(const std::string& what, const AnyCopy& copy, std::size_t columns,
             std::optional<double> ratio = std::nullopt, double gb_per_s = 0) {
    Cells row(columns);
    row[0] = what;
    row[1] = name_of(copy);
    if (ratio) row[2] = two_digits(*ratio);
    if (gb_per_s > 0) row[3] = bandwidth_text(gb_per_s);
    return row;
}

std::string table_of(const Choices& choices) {
    const Choice& first = *choices.front();
    const std::set<Workload> workloads = workloads_of(choices);
    Cells header = {"Up to", title_of_copies(first), "x libc", "GB/s"};
    for (const Workload workload : workloads) header.push_back(name_of(workload));
    const bool proven =
        std::ranges::any_of(choices, [](const Choice* one) { return one->proof.has_value(); });
    if (proven) header.insert(header.end(), {"lead", "ties", "floor"});
    std::vector<Cells> rows = {header};
    for (const Choice* one : choices) {
        const auto& sensing = one->sensing;
        Cells row = {format_size(one->up_to),
                     sensing ? std::string(sensing->probe->name) + " > " +
                                   std::to_string(sensing->threshold.ticks)
                             : name_of(one->copy),
                     two_digits(one->ratio), bandwidth_text(one->gb_per_s)};
        for (const Workload workload : workloads) row.push_back(ratio_text(*one, workload));
        if (proven) {
            row.push_back(one->proof ? two_digits(one->proof->lead.median) : "-");
            row.push_back(one->proof ? std::to_string(one->proof->ties.size()) : "-");
            row.push_back(two_digits(widest(one->noise_floor)));
        }
        rows.push_back(std::move(row));
        if (sensing) {
            const auto add = [&](const char* data, const Candidate& copy, Workload workload) {
                rows.push_back(row_of(data, copy, header.size(), {}, one->bandwidth(workload)));
            };
            add("  cached", sensing->hot, Workload::hot);
            add("  uncached", sensing->cold, Workload::cold);
            if (sensing->fetch) add("  fetch", *sensing->fetch, Workload::fetch);
            if (sensing->produce) add("  produce", *sensing->produce, Workload::produce);
            rows.push_back(row_of("no counter", one->copy, header.size(), one->plain.ratio,
                                  one->plain.gb_per_s));
        }
        if (one->kind == ChoiceKind::pipelines) continue;
        for (const RunnerUp& next : one->runners_up) {
            rows.push_back(row_of("  next", next.copy, header.size(), next.ratio));
        }
    }
    const std::string title = title_of(first);
    return '\n' + (title.empty() ? "" : title + '\n') + aligned(rows, {header[0], header[1]});
}

} // namespace

std::string choices_tables(const Profile& profile, Operation operation) {
    std::map<std::pair<ChoiceKind, std::optional<Workload>>, Choices> kinds;
    for (const Choice& one : profile.choices) {
        if (one.operation == operation) kinds[{one.kind, one.intent}].push_back(&one);
    }
    std::string out;
    for (const auto& [columns, choices] : kinds) out += table_of(choices);
    if (out.empty()) return out;
    return out +
           "GB/s: the most under any workload (cached, uncached: under hot, cold; fetch, produce: "
           "under these);\nlead: runner-up's time over the winner's; ties: others within the "
           "noise; floor: libc over libc\n";
}

std::string references_table(const Profile& profile, Operation operation) {
    const Choices choices = profile.of(ChoiceKind::pipelines, operation);
    const std::set<Workload> workloads = workloads_of(choices);
    std::vector<std::string> names;
    std::vector<Cells> rows = {{"References"}};
    for (const Workload workload : workloads) rows.front().push_back(name_of(workload));
    bool judged = false;
    for (const Choice* one : choices) {
        rows.push_back({format_size(one->size)});
        for (const Workload workload : workloads) {
            std::string& cell = rows.back().emplace_back("-");
            const auto timed = one->workloads.find(workload);
            if (timed == one->workloads.end() || !timed->second.best_ratio) continue;
            judged = true;
            cell = two_digits(timed->second.best_ratio->median);
            const std::string& name = timed->second.best_reference;
            if (name == "libc") continue;
            if (!contains(names, name)) names.push_back(name);
            const auto place = std::ranges::find(names, name) - names.begin();
            cell.insert(0, static_cast<std::size_t>(place) + 1, '*');
        }
    }
    if (!judged) return "";
    std::string out = '\n' + aligned(rows, {"References"}) +
                      "the fastest one's time over the winner's; without a mark: libc's";
    for (std::size_t i = 0; i < names.size(); ++i) {
        out += "; " + std::string(i + 1, '*') + ": " + names[i];
    }
    return out + '\n';
}

std::string timings_table(const TimeAccount& phases, double seconds) {
    constexpr double kOverheadShare = 0.1; // of verification and calibration together
    std::string out = formatted("%-20s %9s %7s\n", "Time spent on", "seconds", "share");
    const auto row = [&](const std::string& name, double spent) {
        out += formatted("%-20s %9.1f %5.1f %%\n", name.c_str(), spent, share(spent, seconds));
    };
    double rest = seconds, overhead = 0;
    for (const auto& [step, spent] : phases) {
        row(title_of(step), spent);
        rest -= spent;
        if (step == Step::verifying || step == Step::calibration) overhead += spent;
    }
    row("the rest", std::max(0.0, rest)); // rounding may leave it below 0
    row("all", seconds);
    out += formatted(
        "verifying and calibrating take %.1f %% of the run: %s %.0f %%\n", share(overhead, seconds),
        overhead < kOverheadShare * seconds ? "under" : "not under", 100 * kOverheadShare);
    return out;
}

} // namespace asterope
