// The paper's table of winners, with what each is worth beside libc.
#include "result_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

#include "size_text.hpp"

namespace asterope {

namespace {

[[gnu::format(printf, 2, 3)]] void append(std::string& out, const char* format, ...) {
    char text[160];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    out += text;
}

/// libc's time over the finalist's under each workload, a column each.
void append_ratios(std::string& out, const Finalist& finalist) {
    for (const auto& [workload, measured] : finalist.workloads) {
        append(out, " %8.2f", measured.ratio.median);
    }
}

void append_workloads(std::string& out, const Finalist& finalist) {
    for (const auto& [workload, measured] : finalist.workloads) {
        append(out, " %8s", std::string(name_of(workload)).c_str());
    }
}

} // namespace

std::string result_table(const std::vector<Candidate>& space, const PipelineFacts& pipelines) {
    std::string out;
    if (pipelines.found.empty()) return out;
    append(out, "%-10s %-9s %-2s %-2s %-4s %2s %2s %2s %2s %2s %-4s", "Up to", "RT", "LT", "ST",
           "PT", "PS", "PD", "TB", "PI", "PW", "D");
    append_workloads(out, pipelines.found.front().results.front().finalists.front());
    out += "   (floor)\n";
    for (const SizeInterval& interval : pipelines.intervals.front()) {
        const SizeResult& result = pipelines.found[interval.result].results.front();
        const Finalist& winner = result.finalists.front();
        const Candidate& candidate = space[static_cast<std::size_t>(winner.candidate)];
        const asterope_variant& v = *candidate.variant;
        append(out, "%-10s %-9s %-2s %-2s %-4s %2d %2d %2d %2d %2d %-4s",
               format_size(interval.up_to).c_str(), v.rt, v.lt, v.st, v.pt, v.ps, candidate.pd,
               v.tb, v.pi, candidate.pw, v.dir);
        append_ratios(out, winner);
        double low = 1, high = 1;
        for (const auto& [workload, floor] : result.noise_floor) {
            low = std::min(low, floor.low);
            high = std::max(high, floor.high);
        }
        append(out, "   (%.2f..%.2f)\n", low, high);
    }
    return out;
}

std::string sensing_table(const PipelineFacts& pipelines) {
    std::string out;
    for (std::size_t i = 0; i < pipelines.found.size(); ++i) {
        if (!pipelines.sensing[i]) continue;
        const auto& [copy, finalist, rounds] = *pipelines.sensing[i];
        if (out.empty()) {
            append(out, "%-10s", "Sensing");
            append_workloads(out, finalist);
            out += "   probe > ticks: uncached, else cached\n";
        }
        append(out, "%-10s", format_size(pipelines.found[i].results.front().size).c_str());
        append_ratios(out, finalist);
        out += "   " + copy.name() + '\n';
    }
    return out;
}

std::string axes_table(const PipelineFacts& pipelines) {
    std::set<std::string_view> axes;
    std::set<Workload> workloads;
    for (const Found& found : pipelines.found) {
        for (const AxisResult& result : found.axes) {
            workloads.insert(result.workload);
            if (result.axis != "paper") axes.insert(result.axis);
        }
    }
    std::string out;
    if (axes.empty()) return out;
    append(out, "%-10s", "Axes");
    for (const std::string_view axis : axes) {
        append(out, " | %-*s", 5 * static_cast<int>(workloads.size()) - 1,
               std::string(axis).c_str());
    }
    append(out, "   x the paper's best:");
    for (const Workload workload : workloads) {
        append(out, " %s", std::string(name_of(workload)).c_str());
    }
    out += '\n';
    for (const Found& found : pipelines.found) {
        // libc's time over the best's, where there is one with this axis
        const auto ratio = [&](std::string_view axis, Workload workload) -> std::optional<double> {
            for (const AxisResult& result : found.axes) {
                if (result.axis == axis && result.workload == workload) {
                    return result.best.workloads.at(workload).ratio.median;
                }
            }
            return std::nullopt;
        };
        append(out, "%-10s", format_size(found.results.front().size).c_str());
        for (const std::string_view axis : axes) {
            out += " |";
            for (const Workload workload : workloads) {
                const auto with = ratio(axis, workload), without = ratio("paper", workload);
                if (with && without) {
                    append(out, " %4.2f", *with / *without);
                } else {
                    out += "    -";
                }
            }
        }
        out += '\n';
    }
    return out;
}

std::string intents_table(const PipelineFacts& pipelines) {
    std::string out;
    if (pipelines.objectives.size() < 2) return out;
    append(out, "%-10s", "Tuned for");
    append_workloads(out, pipelines.found.front().results.front().finalists.front());
    out += "   geometric means over the sizes\n";
    for (std::size_t i = 0; i < pipelines.objectives.size(); ++i) {
        append(out, "%-10s", pipelines.objectives[i].name.c_str());
        std::map<Workload, double> logs;
        for (const Found& found : pipelines.found) {
            for (const auto& [workload, measured] : found.results[i].finalists.front().workloads) {
                logs[workload] += std::log(measured.ratio.median);
            }
        }
        for (const auto& [workload, sum] : logs) {
            append(out, " %8.2f", std::exp(sum / static_cast<double>(pipelines.found.size())));
        }
        out += '\n';
    }
    return out;
}

std::string small_table(const SmallFacts& small) {
    std::string out;
    append(out, "%-26s  all", "Small copies, x libc");
    for (const auto& [workload, floor] : small.result.noise_floor) {
        append(out, " %11s", std::string(name_of(workload)).c_str());
    }
    out += '\n';
    for (const Finalist& finalist : small.result.finalists) {
        const auto& variant = *small.space[static_cast<std::size_t>(finalist.candidate)];
        append(out, "%-26s %4.2f",
               ("to " + std::to_string(variant.bound) + " B: " + variant.shape + " " + variant.rt +
                " " + variant.order)
                   .c_str(),
               finalist.ratio);
        for (const auto& [workload, measured] : finalist.workloads) {
            append(out, " %11.2f", measured.ratio.median);
        }
        out += '\n';
        if (&finalist - small.result.finalists.data() == 2) break; // winner and two runners-up
    }
    append(out, "%-26s     ", "libc against libc");
    for (const auto& [workload, floor] : small.result.noise_floor) {
        append(out, "  %.2f..%.2f", floor.low, floor.high);
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
        const asterope_aliased_variant& best = *aliased.space[size.variant];
        append(out, "%-26s %15.2f %8.2f %s %s\n", format_size(size.size).c_str(),
               size.pipeline.median, size.best.median, best.kind, best.rt);
    }
    if (aliased.choice) {
        const asterope_aliased_variant& taken = *aliased.space[aliased.choice->variant];
        append(out, "taken above %zu B up to %s: %s %s\n", aliased.choice->above,
               format_size(aliased.choice->up_to).c_str(), taken.kind, taken.rt);
    } else {
        append(out, "none is worth a path of its own here\n");
    }
    return out;
}

} // namespace asterope
