// The paper's table of winners, with what each is worth beside libc.
#include "profile/result_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>

#include "base/contains.hpp"
#include "base/size_text.hpp"
#include "base/text.hpp"

namespace asterope {

namespace {

using Columns = std::set<Workload>;

/// What any size was timed under: not all are timed under the same.
Columns columns_of(const PipelineFacts& pipelines) {
    Columns columns;
    for (const Found& found : pipelines.found) {
        for (const auto& [workload, measured] : found.results.front().finalists.front().workloads) {
            columns.insert(workload);
        }
    }
    return columns;
}

/// A cell of a workload's column.
void append_cell(std::string& out, Workload workload, const std::string& text) {
    const std::size_t width = std::max<std::size_t>(8, name_of(workload).size());
    append(out, " %*s", static_cast<int>(width), text.c_str());
}

void append_workloads(std::string& out, const Columns& columns) {
    for (const Workload workload : columns) {
        append_cell(out, workload, std::string(name_of(workload)));
    }
}

using Cells = std::vector<std::string>;

std::string two_digits(double ratio) {
    std::string text;
    append(text, "%.2f", ratio);
    return text;
}

/// libc's time over the copy's under a workload; "-" where it was not timed.
std::string ratio_text(const std::map<Workload, Measured>& workloads, Workload workload) {
    const auto found = workloads.find(workload);
    return found == workloads.end() ? "-" : two_digits(found->second.ratio.median);
}

/// How many others tie with the winner.
std::size_t ties_of(const SizeResult& result) {
    return static_cast<std::size_t>(
        std::count_if(result.finalists.begin() + 1, result.finalists.end(),
                      [](const Finalist& finalist) { return finalist.tied; }));
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

} // namespace

std::string result_table(const std::vector<Candidate>& space, const PipelineFacts& pipelines) {
    if (pipelines.found.empty()) return "";
    std::vector<const Candidate*> winners;
    for (const SizeInterval& interval : pipelines.intervals.front()) {
        const SizeResult& result = pipelines.found[interval.result].results.front();
        winners.push_back(&space[static_cast<std::size_t>(result.finalists.front().candidate)]);
    }
    // The paper's columns, and those of the others that say something.
    std::vector<const asterope_axis*> columns;
    for (const asterope_axis& axis : space.front().axes()) {
        const bool used = std::any_of(winners.begin(), winners.end(),
                                      [&](const Candidate* one) { return one->is_marked(axis); });
        if (!axis.mark || used) columns.push_back(&axis);
    }

    Cells header = {"Up to"};
    std::set<std::string> left = {"Up to"};
    for (const asterope_axis* axis : columns) {
        header.push_back(axis->title);
        if (axis->words) left.insert(axis->title);
    }
    const Columns workloads = columns_of(pipelines);
    for (const Workload workload : workloads) header.push_back(std::string(name_of(workload)));
    header.insert(header.end(), {"lead", "ties", "floor"});

    std::vector<Cells> rows = {header};
    for (std::size_t i = 0; i < winners.size(); ++i) {
        const SizeInterval& interval = pipelines.intervals.front()[i];
        const SizeResult& result = pipelines.found[interval.result].results.front();
        Cells row = {format_size(interval.up_to)};
        for (const asterope_axis* axis : columns) {
            const std::string value = to_text(winners[i]->value(*axis));
            row.push_back(value == "down" ? "dn" : value); // within 100 columns
        }
        for (const Workload workload : workloads) {
            row.push_back(ratio_text(result.finalists.front().workloads, workload));
        }
        row.push_back(two_digits(result.lead.median));
        row.push_back(std::to_string(ties_of(result)));
        row.push_back(two_digits(widest(result.noise_floor)));
        rows.push_back(std::move(row));
    }
    return aligned(rows, left) +
           "lead: runner-up's time over the winner's; ties: others within the noise; "
           "floor: libc over libc\n";
}

std::string references_table(const PipelineFacts& pipelines) {
    std::vector<std::string> names;
    std::vector<Cells> rows;
    for (const Found& found : pipelines.found) {
        const SizeResult& result = found.results.front();
        const auto& workloads = result.finalists.front().workloads;
        if (rows.empty()) {
            rows.push_back({"References"});
            for (const auto& [workload, measured] : workloads) {
                rows.front().push_back(std::string(name_of(workload)));
            }
        }
        rows.push_back({format_size(result.size)});
        for (const auto& [workload, measured] : workloads) {
            if (!measured.best_reference) return "";
            const auto& [name, ratio] = *measured.best_reference;
            if (name != "libc" && !contains(names, name)) names.push_back(name);
            std::string cell = two_digits(ratio.median);
            const auto place = std::find(names.begin(), names.end(), name);
            if (place != names.end()) {
                cell.insert(0, static_cast<std::size_t>(place - names.begin()) + 1, '*');
            }
            rows.back().push_back(std::move(cell));
        }
    }
    if (rows.empty()) return "";
    std::string out = aligned(rows, {"References"}) + "the fastest one's time over the winner's; "
                                                      "without a mark: libc's";
    for (std::size_t i = 0; i < names.size(); ++i) {
        out += "; " + std::string(i + 1, '*') + ": " + names[i];
    }
    return out + '\n';
}

std::string sensing_table(const PipelineFacts& pipelines) {
    std::string out;
    Columns columns;
    for (const auto& sensing : pipelines.sensing) {
        if (!sensing) continue;
        for (const auto& [workload, measured] : sensing->finalist.workloads) {
            columns.insert(workload);
        }
    }
    for (std::size_t i = 0; i < pipelines.found.size(); ++i) {
        if (!pipelines.sensing[i]) continue;
        const auto& [copy, finalist, rounds] = *pipelines.sensing[i];
        if (out.empty()) {
            append(out, "%-10s", "Sensing");
            append_workloads(out, columns);
            out +=
                "   probe > ticks: uncached, fetch where the destination is cached, else cached\n";
        }
        append(out, "%-10s", format_size(pipelines.found[i].results.front().size).c_str());
        for (const Workload workload : columns) {
            append_cell(out, workload, ratio_text(finalist.workloads, workload));
        }
        out += "   " + copy.name() + '\n';
    }
    return out;
}

std::string intents_table(const PipelineFacts& pipelines) {
    std::string out;
    if (pipelines.objectives.size() < 2) return out;
    append(out, "%-10s", "Tuned for");
    append_workloads(out, columns_of(pipelines));
    out += "   geometric means over the sizes\n";
    for (std::size_t i = 0; i < pipelines.objectives.size(); ++i) {
        append(out, "%-10s", pipelines.objectives[i].name.c_str());
        std::map<Workload, std::vector<double>> logs;
        for (const Found& found : pipelines.found) {
            for (const auto& [workload, measured] : found.results[i].finalists.front().workloads) {
                logs[workload].push_back(std::log(measured.ratio.median));
            }
        }
        for (const auto& [workload, all] : logs) {
            const double sum = std::accumulate(all.begin(), all.end(), 0.0);
            append_cell(out, workload, two_digits(std::exp(sum / static_cast<double>(all.size()))));
        }
        out += '\n';
    }
    return out;
}

std::string small_table(const SmallFacts& small, Operation operation) {
    std::string out;
    const auto cell = [&](Workload workload, const std::string& text) {
        const std::size_t width = std::max<std::size_t>(11, name_of(workload).size());
        append(out, " %*s", static_cast<int>(width), text.c_str());
    };
    const std::string title(facts_of(operation).small_title);
    append(out, "%-26s  all", (title + ", x libc").c_str());
    for (const auto& [workload, floor] : small.result.noise_floor) {
        cell(workload, std::string(name_of(workload)));
    }
    out += '\n';
    for (const Finalist& finalist : small.result.finalists) {
        const asterope_copy& copy = *small.space[static_cast<std::size_t>(finalist.candidate)];
        append(out, "%-26s %4.2f",
               ("to " + std::to_string(bound_of(copy)) + " B: " + word_of(copy, "shape") + ' ' +
                word_of(copy, "rt") + ' ' + word_of(copy, "order"))
                   .c_str(),
               finalist.ratio);
        for (const auto& [workload, measured] : finalist.workloads) {
            cell(workload, two_digits(measured.ratio.median));
        }
        out += '\n';
        if (&finalist - small.result.finalists.data() == 2) break; // winner and two runners-up
    }
    append(out, "%-26s     ", "libc against libc");
    for (const auto& [workload, floor] : small.result.noise_floor) {
        cell(workload, two_digits(floor.low) + ".." + two_digits(floor.high));
    }
    out += '\n';
    return out;
}

std::string aliased_table(const AliasedFacts& aliased) {
    std::string out;
    if (aliased.sizes.empty()) return out;
    append(out, "%-26s %s\n", "Aliasing modulo 4096",
           "x libc: the size's winner, the best copy for it");
    for (const AliasedSize& size : aliased.sizes) {
        const asterope_copy& best = *aliased.space[size.variant];
        append(out, "%-26s %15.2f %8.2f %s\n", format_size(size.size).c_str(), size.pipeline.median,
               size.best.median, best.name);
    }
    if (aliased.choice) {
        const asterope_copy& taken = *aliased.space[aliased.choice->variant];
        append(out, "taken above %zu B up to %s: %s\n", aliased.choice->above,
               format_size(aliased.choice->up_to).c_str(), taken.name);
    } else {
        append(out, "none is worth a path of its own here\n");
    }
    return out;
}

std::string overlapping_table(const OverlappingFacts& overlapping) {
    std::string out;
    append(out, "%-26s x libc's memmove\n", "Overlapping buffers");
    for (const Finalist& finalist : overlapping.result.finalists) {
        const auto& variant = *overlapping.space[static_cast<std::size_t>(finalist.candidate)];
        append(out, "%-26s %4.2f\n", variant.name, finalist.ratio);
    }
    const Estimate& floor = overlapping.result.noise_floor.at(Workload::overlapping);
    append(out, "%-26s %.2f..%.2f\n", "libc against libc", floor.low, floor.high);
    return out;
}

std::string threads_table(const ThreadsFacts& threads) {
    std::string out;
    if (threads.sizes.empty()) return out;
    Cells header = {"Threads", "best"};
    Columns workloads;
    for (const SharedSize& size : threads.sizes) {
        for (const auto& [workload, measured] : size.workloads) workloads.insert(workload);
    }
    for (const Workload workload : workloads) header.push_back(std::string(name_of(workload)));
    header.insert(header.end(), {"floor", "taken"});
    std::vector<Cells> rows = {header};
    for (const SharedSize& size : threads.sizes) {
        Cells row = {format_size(size.size), share_name(size.best)};
        for (const Workload workload : workloads) {
            row.push_back(ratio_text(size.workloads, workload));
        }
        row.push_back(two_digits(widest(size.noise_floor)));
        row.push_back(size.taken ? "yes" : "no");
        rows.push_back(std::move(row));
    }
    return aligned(rows, {"Threads", "best"}) +
           "one thread's time over theirs; floor: one thread's over one thread's\n";
}

std::string timings_table(const TimeAccount& phases, double seconds) {
    std::string out;
    append(out, "%-20s %9s %7s\n", "Time spent on", "seconds", "share");
    const auto row = [&](const std::string& name, double spent) {
        append(out, "%-20s %9.1f %5.1f %%\n", name.c_str(), spent, share(spent, seconds));
    };
    double rest = seconds, overhead = 0;
    for (const auto& [step, spent] : phases) {
        row(title_of(step), spent);
        rest -= spent;
        if (step == Step::verifying || step == Step::calibration) overhead += spent;
    }
    row("the rest", std::max(0.0, rest)); // what rounding leaves below 0 is nothing
    row("all", seconds);
    append(out, "verifying and calibrating take %.1f %% of the run: %s %.0f %%\n",
           share(overhead, seconds), overhead < kOverheadShare * seconds ? "under" : "not under",
           100 * kOverheadShare);
    return out;
}

} // namespace asterope
