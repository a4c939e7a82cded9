// What the whole comparison comes to: where the routine is best, where somebody else is.
#include "bench/summary.hpp"

#include <algorithm>
#include <cmath>

#include "append.hpp"

namespace asterope {

namespace {

constexpr std::size_t kNamed = 10;

/// "38 of 40 (95.0 %)"
std::string share(std::size_t some, std::size_t all) {
    std::string text;
    append(text, "%zu of %zu (%.1f %%)", some, all,
           100 * static_cast<double>(some) / static_cast<double>(all));
    return text;
}

} // namespace

std::string name_of(const Cell& cell) {
    std::string name = cell.suite;
    if (cell.workload != cell.suite) name += " " + cell.workload;
    if (cell.label != cell.workload) name += " " + cell.label;
    if (!cell.weighting.empty()) name += " by " + cell.weighting;
    if (cell.threads > 1) name += ", " + std::to_string(cell.threads) + " threads";
    return name;
}

Better clearly_better(const Cell& cell, const Contenders& contenders) {
    Better best{&cell, "", 1};
    for (const CopyResult& copy : cell.copies) {
        const bool threaded =
            std::any_of(contenders.begin(), contenders.end(), [&](const Contender& contender) {
                return contender.name == copy.copy && contender.threaded;
            });
        if (threaded || copy.copy == kRoutineName || copy.versus.low <= cell.noise()) continue;
        if (copy.versus.median > best.factor) best = {&cell, copy.copy, copy.versus.median};
    }
    return best;
}

std::string summary_text(const std::vector<Cell>& cells, const Contenders& contenders) {
    std::string out;
    if (cells.empty()) return out;
    struct Count {
        std::string suite;
        std::size_t all = 0, best = 0;
    };
    std::vector<Count> suites;
    std::vector<Better> lost;
    const Cell* worst = &cells.front();
    for (const Cell& cell : cells) {
        if (suites.empty() || suites.back().suite != cell.suite) suites.push_back({cell.suite});
        ++suites.back().all;
        const Better better = clearly_better(cell, contenders);
        if (better.copy.empty()) {
            ++suites.back().best;
        } else {
            lost.push_back(better);
        }
        if (cell.routine().ratio.median < worst->routine().ratio.median) worst = &cell;
    }
    append(out, "%s is the best or within the noise floor of the best in %s cells:\n", kRoutineName,
           share(cells.size() - lost.size(), cells.size()).c_str());
    for (const Count& count : suites) {
        append(out, "  %-14s %s\n", count.suite.c_str(), share(count.best, count.all).c_str());
    }
    out += "Another is clearly better where the interval of the routine's time over its own lies "
           "wholly above\nthe farther end of libc's over libc's; copies over several threads do "
           "not count.\n";
    const Estimate& ratio = worst->routine().ratio;
    append(out, "Its worst ratio to %s: %.2f (%.2f..%.2f) in %s.\n", worst->libc().copy.c_str(),
           ratio.median, ratio.low, ratio.high, name_of(*worst).c_str());
    if (lost.empty()) return out;
    std::stable_sort(lost.begin(), lost.end(),
                     [](const Better& a, const Better& b) { return a.factor > b.factor; });
    out += "Clearly better there:\n";
    for (std::size_t i = 0; i < std::min(lost.size(), kNamed); ++i) {
        append(out, "  %-44s %s by %.2f\n", name_of(*lost[i].cell).c_str(), lost[i].copy.c_str(),
               lost[i].factor);
    }
    if (lost.size() > kNamed) {
        append(out, "  and %zu more, by less\n", lost.size() - kNamed);
    }
    return out;
}

std::vector<std::string> cells_under(double least, const std::vector<Cell>& cells) {
    std::vector<std::string> lines;
    for (const Cell& cell : cells) {
        const Estimate& ratio = cell.routine().ratio;
        if (!(ratio.high < least)) continue;
        std::string line = name_of(cell);
        append(line, ": %.3f (%.3f..%.3f) is under %g", ratio.median, ratio.low, ratio.high, least);
        lines.push_back(line);
    }
    return lines;
}

} // namespace asterope
