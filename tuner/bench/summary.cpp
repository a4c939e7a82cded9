// Counts cells by suite, and sorts the losses by their factor.
#include "bench/summary.hpp"

#include <algorithm>
#include <utility>

#include "base/contains.hpp"
#include "base/text.hpp"

namespace asterope {

namespace {

constexpr std::size_t kNamed = 20;

/// "38 of 40 (95.0 %)"
std::string share(std::size_t some, std::size_t all) {
    return formatted("%zu of %zu (%.1f %%)", some, all,
                     100 * static_cast<double>(some) / static_cast<double>(all));
}

/// The rival with the largest clear lead. `versus` gives a copy's lead: the judged copy's time over
/// that copy's.
template <typename Versus> Better best_rival(const Cell& cell, const Versus& versus) {
    Better best{&cell, "", 1};
    for (const CopyResult& copy : cell.copies) {
        const Estimate lead = versus(copy);
        if (!copy.rival || lead.low <= cell.noise()) continue;
        if (lead.median > best.factor) best = {&cell, copy.copy, lead.median};
    }
    return best;
}

/// Counts the cells of each suite, and those in which no copy is clearly better.
class Counts {
  public:
    void add(const std::string& suite, bool best) {
        if (suites_.empty() || suites_.back().suite != suite) suites_.push_back({suite});
        for (Count* count : {&all_, &suites_.back()}) {
            ++count->all;
            count->best += best;
        }
    }
    std::size_t all() const { return all_.all; }
    /// "38 of 40 (95.0 %) cells:", then a line for each suite.
    std::string text() const {
        std::string out = share(all_.best, all_.all) + " cells:\n";
        for (const Count& count : suites_) {
            out += formatted("  %-14s %s\n", count.suite.c_str(),
                             share(count.best, count.all).c_str());
        }
        return out;
    }

  private:
    struct Count {
        std::string suite;
        std::size_t all = 0, best = 0;
    };
    std::vector<Count> suites_;
    Count all_;
};

/// The group to which this cell belongs in the lines of --brief.
std::string group_of(const Cell& cell, Operation operation) {
    if (cell.suite != "mix") return cell.workload;
    const std::string small(facts_of(operation).small);
    return small +
           (cell.workload.starts_with("page_end") ? " at page ends" : " by " + cell.weighting);
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

Better clearly_better(const Cell& cell) {
    return best_rival(cell, [](const CopyResult& copy) { return copy.versus; });
}

std::optional<Better> clearly_better_than_entry_point(const Cell& cell) {
    if (!cell.libc().versus_entry_point) return std::nullopt;
    return best_rival(cell, [](const CopyResult& copy) { return *copy.versus_entry_point; });
}

std::string summary_text(const std::vector<Cell>& cells, Operation operation) {
    const bool sets = !facts_of(operation).reads;
    std::string out;
    if (cells.empty()) return out;
    Counts counts, of_entry_points;
    std::vector<Better> lost;
    const Cell* worst = &cells.front();
    for (const Cell& cell : cells) {
        const Better better = clearly_better(cell);
        counts.add(cell.suite, better.copy.empty());
        if (!better.copy.empty()) lost.push_back(better);
        const auto than_entry_point = clearly_better_than_entry_point(cell);
        if (than_entry_point) of_entry_points.add(cell.suite, than_entry_point->copy.empty());
        if (cell.best_ratio().median < worst->best_ratio().median) worst = &cell;
    }
    const char* what = sets ? "set" : "copy";
    out += formatted("No %s is clearly better than %s%s in ", what, kRoutineName,
                     sets ? "'s memset" : "");
    out += counts.text();
    if (of_entry_points.all() > 0) {
        out += "Nor than its entry points that are told the workload, in " + of_entry_points.text();
    }
    out += formatted(
        "A %s is clearly better where its lead over the routine exceeds libc's distance from "
        "itself\nin the same rounds, with 95 %% confidence.%s\n",
        what, sets ? "" : " Copies over several threads are not counted.");
    const Estimate ratio = worst->best_ratio();
    out +=
        formatted("Its worst ratio to %s: %.2f %s in %s.\n", worst->best_reference().copy.c_str(),
                  ratio.median, range_text(ratio).c_str(), name_of(*worst).c_str());
    if (lost.empty()) return out;
    std::ranges::stable_sort(lost, std::greater(), &Better::factor);
    out += "Clearly better there:\n";
    for (std::size_t i = 0; i < std::min(lost.size(), kNamed); ++i) {
        out += formatted("  %-44s %s by %.2f\n", name_of(*lost[i].cell).c_str(),
                         lost[i].copy.c_str(), lost[i].factor);
    }
    if (lost.size() > kNamed) out += formatted("  and %zu more, by less\n", lost.size() - kNamed);
    return out;
}

std::string brief_text(const std::vector<Cell>& cells, Operation operation) {
    if (cells.empty()) return "";
    using Group = std::pair<std::string, GeometricMean>;
    std::vector<Group> groups;
    const Cell *lowest = &cells.front(), *highest = lowest;
    for (const Cell& cell : cells) {
        const double ratio = cell.best_ratio().median;
        if (ratio < lowest->best_ratio().median) lowest = &cell;
        if (ratio > highest->best_ratio().median) highest = &cell;
        const std::string name = group_of(cell, operation);
        Group* group = find_in(groups, name, &Group::first);
        (group ? *group : groups.emplace_back(name, GeometricMean())).second.add(ratio);
    }
    std::string out, line = " ";
    for (const auto& [name, ratios] : groups) {
        std::string part = " " + name;
        part += formatted(" %.2f%s", ratios.mean(), &name == &groups.back().first ? "" : ",");
        if (line.size() + part.size() > 100) out += std::exchange(line, " ") + '\n';
        line += part;
    }
    out += line + '\n';
    out += formatted("  lowest %.2f (%s), ", lowest->best_ratio().median, name_of(*lowest).c_str());
    out +=
        formatted("highest %.2f (%s)\n", highest->best_ratio().median, name_of(*highest).c_str());
    return out;
}

std::vector<std::string> cells_under(double least, const std::vector<Cell>& cells) {
    std::vector<std::string> lines;
    for (const Cell& cell : cells) {
        const Estimate ratio = cell.best_ratio();
        if (!(ratio.high < least)) continue;
        lines.push_back(name_of(cell) + formatted(": %.3f (%.3f..%.3f) is under %g", ratio.median,
                                                  ratio.low, ratio.high, least));
    }
    return lines;
}

} // namespace asterope
