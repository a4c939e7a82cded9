// What a tuning run ends with: the routine in a few rows, and what it is worth in a few sentences.
#include "profile/short_result.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <sstream>

#include "base/size_text.hpp"
#include "base/statistics.hpp"
#include "base/text.hpp"

namespace asterope {

namespace {

constexpr std::size_t kMostRows = 14;

using Axes = std::span<const asterope_axis>;

/// By axis, in their order: the values that the copies of a row have.
using Copy = std::vector<std::set<AxisValue>>;

Copy copy_of(const Candidate& candidate) {
    Copy copy;
    for (const asterope_axis& axis : candidate.axes()) copy.push_back({candidate.value(axis)});
    return copy;
}

/// "4", or "2-8" of numbers that differ, or "*" of words that do.
std::string cell_of(const std::set<AxisValue>& values) {
    const std::string least = to_text(*values.begin());
    if (values.size() == 1) return least;
    const bool numbers = std::holds_alternative<int>(*values.begin());
    return numbers ? least + '-' + to_text(*values.rbegin()) : "*";
}

/// Ratios that are gathered for their geometric mean.
struct Ratios {
    double logs = 0;
    int count = 0;
    void add(double ratio) {
        logs += std::log(ratio);
        ++count;
    }
    void add(const Ratios& others) {
        logs += others.logs;
        count += others.count;
    }
    double mean() const { return std::exp(logs / count); }
};

/// What a copy that senses tells apart.
constexpr std::array kData = {"cached", "uncached", "fetch"};

struct Row {
    std::size_t up_to;
    std::vector<Copy> copies; ///< one, or in the order of kData
    std::map<Workload, Ratios> ratios;
};

/// Whether the copies are the same on the first `count` axes.
bool alike(const Row& a, const Row& b, std::size_t count) {
    return std::equal(a.copies.begin(), a.copies.end(), b.copies.begin(), b.copies.end(),
                      [&](const Copy& one, const Copy& other) {
                          return std::equal(one.begin(),
                                            one.begin() + static_cast<std::ptrdiff_t>(count),
                                            other.begin());
                      });
}

/// Whether a row has a value on the axis that the paper lacks.
bool is_used(const std::vector<Row>& rows, Axes axes, std::size_t axis) {
    const asterope_axis& one = axes[axis];
    const AxisValue paper = one.words ? AxisValue(one.words[0]) : AxisValue(one.numbers[0]);
    return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
        return std::any_of(row.copies.begin(), row.copies.end(), [&](const Copy& copy) {
            return copy[axis] != std::set<AxisValue>{paper};
        });
    });
}

/// The axes with a column: the paper's, and those that a row makes use of.
std::vector<std::size_t> shown_axes(const std::vector<Row>& rows, Axes axes) {
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (!axes[i].mark || is_used(rows, axes, i)) shown.push_back(i);
    }
    return shown;
}

/// Neighbours that are alike on the first `count` axes share a row.
std::vector<Row> merged(const std::vector<Row>& rows, std::size_t count) {
    std::vector<Row> out;
    for (const Row& row : rows) {
        if (out.empty() || !alike(out.back(), row, count)) {
            out.push_back(row);
            continue;
        }
        Row& last = out.back();
        last.up_to = row.up_to;
        for (std::size_t i = 0; i < row.copies.size(); ++i) {
            for (std::size_t j = 0; j < row.copies[i].size(); ++j) {
                last.copies[i][j].insert(row.copies[i][j].begin(), row.copies[i][j].end());
            }
        }
        for (const auto& [workload, ratios] : row.ratios) last.ratios[workload].add(ratios);
    }
    return out;
}

std::size_t lines_of(const std::vector<Row>& rows) {
    std::size_t lines = 0;
    for (const Row& row : rows) lines += row.copies.size();
    return lines;
}

/// What the routine does at the size of `result`, an index into `found`.
const Finalist& taken(const PipelineFacts& pipelines, std::size_t result) {
    const auto& sensing = pipelines.sensing[result];
    return sensing ? sensing->finalist : pipelines.found[result].results.front().finalists.front();
}

/// Whether a line is wide enough for it in every result.
bool is_usual(Workload workload) {
    return workload == Workload::hot || workload == Workload::cold ||
           workload == Workload::consume || workload == Workload::fetch;
}

/// What the sentences tell of: the usual ones and those that count.
bool is_shown(Workload workload, const PipelineFacts& pipelines) {
    return is_usual(workload) || weight_of(pipelines.objectives.front().weights, workload) > 0;
}

/// What the rows have a column for. Of "balanced" not all: a line has 100 columns.
bool has_column(Workload workload, const PipelineFacts& pipelines) {
    const Objective& objective = pipelines.objectives.front();
    return is_usual(workload) ||
           (!objective.is_broad() && weight_of(objective.weights, workload) > 0);
}

/// Those of the rows' columns that any size was timed under.
std::vector<Workload> row_workloads(const PipelineFacts& pipelines) {
    std::set<Workload> columns;
    for (std::size_t i = 0; i < pipelines.found.size(); ++i) {
        for (const auto& [workload, measured] : taken(pipelines, i).workloads) {
            if (has_column(workload, pipelines)) columns.insert(workload);
        }
    }
    return {columns.begin(), columns.end()};
}

std::vector<Row> rows_of(const std::vector<Candidate>& space, const PipelineFacts& pipelines,
                         std::size_t above) {
    std::vector<Row> rows;
    for (const SizeInterval& interval : pipelines.intervals.front()) {
        if (interval.up_to <= above) continue; // a small copy does these
        Row row{interval.up_to, {}, {}};
        if (const auto& sensing = pipelines.sensing[interval.result]) {
            row.copies = {copy_of(sensing->copy.hot), copy_of(sensing->copy.cold)};
            if (sensing->copy.fetch) row.copies.push_back(copy_of(*sensing->copy.fetch));
        } else {
            const Finalist& winner = taken(pipelines, interval.result);
            row.copies = {copy_of(space[static_cast<std::size_t>(winner.candidate)])};
        }
        for (const auto& [workload, measured] : taken(pipelines, interval.result).workloads) {
            if (has_column(workload, pipelines)) row.ratios[workload].add(measured.ratio.median);
        }
        rows.push_back(std::move(row));
    }
    std::vector<Row> fewer = rows;
    const std::size_t all = space.front().axes().size();
    for (const std::size_t count : {all, std::size_t{4}, std::size_t{3}, std::size_t{1}}) {
        fewer = merged(rows, count);
        if (lines_of(fewer) <= kMostRows) break;
    }
    return fewer;
}

/// Where it happens, as a sentence ends: "1.4 times as fast as libc where nothing is cached".
std::string where(Workload workload) {
    const std::string_view words = facts_of(workload).where;
    return words.empty() ? "under " + std::string(name_of(workload)) : std::string(words);
}

std::string times(double ratio) {
    std::string text;
    append(text, "%.2f times", ratio);
    return text;
}

std::string legend(const std::vector<Row>& rows, Operation operation) {
    const Axes axes = asterope::axes(*facts_of(operation).space);
    std::string text =
        operation == Operation::set
            ? "RT: register or instruction; ST: stores, T through the caches, NT past them."
            : "RT: register or instruction; LT, ST: loads and stores, T through the caches, "
              "NT past them; PT: into which cache it prefetches, PS lines at once, PD lines "
              "ahead.";
    for (const std::size_t i : shown_axes(rows, axes)) {
        const asterope_axis& axis = axes[i];
        if (axis.mark) text += std::string(" ") + axis.title + ": " + axis.legend + '.';
    }
    bool differ = false;
    std::size_t most = 1;
    for (const Row& row : rows) {
        most = std::max(most, row.copies.size());
        for (const Copy& copy : row.copies) {
            for (const auto& values : copy) differ = differ || cell_of(values) == "*";
        }
    }
    if (differ) text += " *: differs among these sizes.";
    if (most > 1) text += " A size with several rows looks first whether its data is cached";
    if (most > 2) text += "; fetch: only the destination is";
    if (most > 1) text += '.';
    text += " The rest: libc's time over ours (2.00: twice as fast).";
    return wrapped(text);
}

/// In percent: how far libc seems to be from itself, the middle one of all sizes and workloads.
double noise_percent(const PipelineFacts& pipelines) {
    std::vector<double> widths;
    for (const Found& found : pipelines.found) {
        for (const auto& [workload, floor] : found.results.front().noise_floor) {
            widths.push_back(std::max(floor.high, 1 / floor.low));
        }
    }
    return widths.empty() ? 0 : 100 * (median(std::move(widths)) - 1);
}

/// Ratios under one workload, and which of them is the lowest.
struct Summary {
    Ratios ratios;
    double lowest = 0;
    std::size_t lowest_at = 0;

    void add(double ratio, std::size_t size) {
        ratios.add(ratio);
        if (lowest_at && ratio >= lowest) return;
        lowest = ratio;
        lowest_at = size;
    }
    std::string text() const {
        std::string text;
        append(text, "%5.2f %5.2f %-8s", ratios.mean(), lowest, format_size(lowest_at).c_str());
        return text;
    }
};

/// A line a situation: the mean and the lowest of libc's time over the routine's, and the same of
/// the fastest of libc and the references where there are any.
std::string situations(const PipelineFacts& pipelines, std::size_t above) {
    std::map<Workload, std::pair<Summary, Summary>> summaries; // against libc, against the fastest
    bool references = false;
    for (std::size_t i = 0; i < pipelines.found.size(); ++i) {
        const std::size_t size = pipelines.found[i].results.front().size;
        if (size <= above) continue;
        for (const auto& [workload, measured] : taken(pipelines, i).workloads) {
            if (!is_shown(workload, pipelines)) continue;
            references = references || measured.best_reference;
            summaries[workload].first.add(measured.ratio.median, size);
            summaries[workload].second.add(measured.judged_ratio().median, size);
        }
    }
    std::string out = "Sizes above " + format_size(above) + ':';
    if (above == 0) out = "All sizes:";
    out += " libc's time over ours, mean and lowest";
    if (references) out += "; then that of the fastest of libc and the references";
    out += "\n";
    for (const auto& [workload, summary] : summaries) {
        append(out, " %s%s  %s: %s\n", summary.first.text().c_str(),
               references ? summary.second.text().c_str() : "",
               std::string(name_of(workload)).c_str(), where(workload).c_str());
    }
    return out;
}

std::string left_out_sentence(const LeftOut& left_out) {
    std::string out;
    if (!left_out.sizes.empty()) {
        append(out, " the winners of %zu sizes", left_out.sizes.size());
    }
    for (const Step step : left_out.steps) {
        out += (out.empty() ? " " : ", ") + std::string(title_of(step));
    }
    return "Left out, as the time was up:" + out + ". The same command with --resume goes on.";
}

/// Of the functions for callers who know the situation. `intents`: their ratios by objective.
std::string entry_points_sentence(const PipelineFacts& pipelines,
                                  const std::vector<std::map<Workload, Ratios>>& intents) {
    std::string known;
    for (std::size_t j = 1; j < intents.size(); ++j) {
        const std::string& name = pipelines.objectives[j].name;
        const auto workload = find_workload(name);
        if (!workload || !intents[j].count(*workload)) continue;
        known += (known.empty() ? "" : ", ") + ("asterope_memcpy_" + name) + ' ' +
                 times(intents[j].at(*workload).mean());
    }
    return known.empty() ? "" : wrapped("Entry points, each in its own situation: " + known + '.');
}

std::string threads_sentence(const ThreadsFacts& threads) {
    const auto first =
        std::find_if(threads.intervals.begin(), threads.intervals.end(),
                     [](const ShareInterval& interval) { return interval.share.threads > 1; });
    if (first != threads.intervals.end()) {
        return wrapped("asterope_memcpy_mt shares copies of " + format_size(first->above + 1) +
                       " and more among threads.");
    }
    return "";
}

/// The lines of a table, words to the left, numbers to the right; the first two columns are the
/// size's and the data's, then come those of these axes. `small`: the only words of their row.
std::string in_columns(std::vector<std::vector<std::string>> table,
                       const std::vector<std::size_t>& shown, Axes axes, std::string_view small) {
    std::vector<std::size_t> widths(table[0].size(), 0);
    for (auto& line : table) {
        line.resize(widths.size());
        for (std::size_t i = 0; i < widths.size(); ++i) {
            // what only the first row has must not widen the column
            if (line[i] != small) widths[i] = std::max(widths[i], line[i].size());
        }
    }
    std::string out;
    for (const auto& line : table) {
        std::string text;
        for (std::size_t i = 0; i < widths.size(); ++i) {
            if (widths[i] == 0) continue;
            const std::size_t size = std::min(widths[i], line[i].size());
            const std::string padding(widths[i] - size, ' ');
            const bool left = i < 2 || (i - 2 < shown.size() && axes[shown[i - 2]].words);
            text += (text.empty() ? "" : " ") + (left ? line[i] + padding : padding + line[i]);
            if (line[i] == small) break;
        }
        text.erase(text.find_last_not_of(' ') + 1);
        out += text + '\n';
    }
    return out;
}

} // namespace

std::string routine_rows(const std::vector<Candidate>& space, const PipelineFacts& pipelines,
                         const std::optional<SmallFacts>& small) {
    if (pipelines.found.empty()) return "";
    const std::size_t bound = small_bound(small);
    const std::vector<Row> rows = rows_of(space, pipelines, bound);
    const bool senses =
        std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.copies.size() > 1; });
    const Operation operation = pipelines.operation;
    const Axes axes = space.front().axes();
    const std::vector<std::size_t> shown = shown_axes(rows, axes);
    std::vector<std::vector<std::string>> table = {{"Up to", senses ? "data" : ""}};
    for (const std::size_t i : shown) table[0].emplace_back(axes[i].title);
    const std::vector<Workload> workloads = row_workloads(pipelines);
    for (const Workload workload : workloads) table[0].emplace_back(name_of(workload));
    if (bound) {
        table.push_back({format_size(bound), "", std::string(facts_of(operation).small)});
    }
    for (const Row& row : rows) {
        for (std::size_t i = 0; i < row.copies.size(); ++i) {
            const bool first = i == 0;
            table.push_back(
                {first ? format_size(row.up_to) : "", row.copies.size() < 2 ? "" : kData[i]});
            for (const std::size_t j : shown) table.back().push_back(cell_of(row.copies[i][j]));
            for (const Workload workload : workloads) {
                const auto ratios = row.ratios.find(workload);
                const bool timed = ratios != row.ratios.end();
                const std::string text = timed ? times(ratios->second.mean()).substr(0, 4) : "-";
                table.back().push_back(first ? text : "");
            }
        }
    }
    return in_columns(std::move(table), shown, axes, facts_of(operation).small) +
           legend(rows, operation);
}

std::string exam_sentence(const ExamFacts& exam, Operation operation) {
    constexpr std::size_t kNamed = 5;
    const std::string small = std::string(facts_of(operation).small) + " under ";
    std::string text = "The compiled routine, timed once more in " + std::to_string(exam.cells) +
                       " situations and sizes, is ";
    if (exam.losses.empty()) return text + "nowhere slower than libc beyond the noise.";
    std::vector<ExamLoss> losses = exam.losses;
    std::stable_sort(losses.begin(), losses.end(), [](const ExamLoss& a, const ExamLoss& b) {
        return a.ratio.median < b.ratio.median;
    });
    text += "slower than libc beyond the noise in " + std::to_string(losses.size()) + ": ";
    for (std::size_t i = 0; i < std::min(kNamed, losses.size()); ++i) {
        if (i > 0) text += ", ";
        append(text, "%s%s %.2f times as fast", losses[i].size ? "" : small.c_str(),
               losses[i].size
                   ? (format_size(losses[i].size) + " under " + losses[i].workload).c_str()
                   : losses[i].workload.c_str(),
               losses[i].ratio.median);
    }
    return text + (losses.size() > kNamed ? " and others." : ".");
}

std::string result_sentences(const PipelineFacts& pipelines, const std::optional<SmallFacts>& small,
                             const std::optional<ThreadsFacts>& threads, const LeftOut& left_out,
                             const std::optional<ExamFacts>& exam) {
    if (pipelines.found.empty()) return "";
    const std::size_t bound = small_bound(small);
    std::vector<std::map<Workload, Ratios>> intents(pipelines.objectives.size());
    const std::size_t largest = pipelines.found.back().results.front().size;
    const std::size_t above = largest > bound ? bound : 0;
    for (const Found& found : pipelines.found) {
        if (found.results.front().size <= above) continue;
        for (std::size_t j = 1; j < intents.size(); ++j) {
            for (const auto& [workload, measured] : found.results[j].finalists.front().workloads) {
                intents[j][workload].add(measured.ratio.median);
            }
        }
    }
    std::string out = situations(pipelines, above);
    if (small) {
        const std::string title(facts_of(pipelines.operation).small_title);
        out += wrapped(title + ", of up to " + format_size(bound) + " in mixed sizes: " +
                       times(small->result.finalists.front().ratio) + " as fast as libc.");
    }
    out += entry_points_sentence(pipelines, intents);
    if (threads) out += threads_sentence(*threads);
    std::string noise;
    append(noise, "Smaller differences than %.0f %% are noise: libc's own times differ as much.",
           std::max(1.0, noise_percent(pipelines)));
    out += noise + '\n';
    if (exam) out += wrapped(exam_sentence(*exam, pipelines.operation));
    if (!left_out.empty()) out += wrapped(left_out_sentence(left_out));
    return out;
}

} // namespace asterope
