// The paper's table of winners, with what each is worth beside libc.
#include "result_table.hpp"

#include <cstdarg>
#include <cstdio>

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

} // namespace

std::string result_table(const std::vector<Candidate>& space,
                         const std::vector<SizeResult>& results) {
    std::string out;
    if (results.empty()) return out;
    append(out, "%-10s %-9s %-2s %-2s %-4s %2s %2s", "Size", "RT", "LT", "ST", "PT", "PS", "PD");
    for (const auto& [workload, floor] : results.front().noise_floor) {
        append(out, " |%6s GB/s  x libc     (floor)", std::string(name_of(workload)).c_str());
    }
    out += '\n';
    for (const SizeResult& result : results) {
        const Finalist& winner = result.finalists.front();
        const Candidate& candidate = space[static_cast<std::size_t>(winner.candidate)];
        const asterope_variant& v = *candidate.variant;
        append(out, "%-10s %-9s %-2s %-2s %-4s %2d %2d", format_size(result.size).c_str(), v.rt,
               v.lt, v.st, v.pt, v.ps, candidate.pd);
        for (const auto& [workload, measured] : winner.workloads) {
            const Estimate& floor = result.noise_floor.at(workload);
            append(out, " | %10.2f %7.2f (%.2f..%.2f)",
                   static_cast<double>(result.size) / measured.seconds / 1e9, measured.ratio.median,
                   floor.low, floor.high);
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
