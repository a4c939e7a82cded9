// What a tuning run ends with: what was gained, the routine in a few rows, what it is worth in a
// few sentences.
#include "profile/short_result.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include "base/size_text.hpp"
#include "base/statistics.hpp"
#include "base/text.hpp"

namespace asterope {

namespace {

constexpr std::size_t kMostRows = 14;

/// Above this size in bytes, more than most second caches hold, the headline tells of copies apart.
constexpr std::size_t kLarge = 1024 * 1024;

/// "64-byte registers", or the instruction: "rep movsb".
std::string carrier(std::string_view rt) {
    constexpr std::pair<std::string_view, const char*> kRegisters[] = {
        {"R64", "general"}, {"X", "general"},   {"MM", "8-byte"},   {"Q", "16-byte"},
        {"SVE", "SVE"},     {"XMM", "16-byte"}, {"YMM", "32-byte"}, {"ZMM", "64-byte"}};
    for (const auto& [name, width] : kRegisters) {
        if (rt == name) return std::string(width) + " registers";
    }
    std::string text(rt);
    for (char& c : text) c = c == '_' ? ' ' : static_cast<char>(std::tolower(c));
    return text;
}

/// How much of a copy its words tell.
enum class Detail { all, no_distance, carrier };

/// "64-byte registers, non-temporal stores, prefetches 4 lines ahead".
std::string in_words(const Candidate& candidate, Detail detail) {
    const asterope_variant& variant = *candidate.variant;
    std::string text = carrier(variant.rt);
    if (detail == Detail::carrier) return text;
    const bool loads = variant.lt == std::string_view("NT");
    const bool stores = variant.st == std::string_view("NT");
    if (loads || stores) {
        text += std::string(", non-temporal ") + (loads && stores ? "both ways"
                                                  : loads         ? "loads"
                                                                  : "stores");
    }
    if (!candidate.prefetches()) return text;
    text += ", prefetches";
    const bool distance = detail == Detail::all && candidate.pd > 0;
    return distance ? text + ' ' + std::to_string(candidate.pd) + " lines ahead" : text;
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
    std::vector<std::string> copies; ///< one, or in the order of kData
    Ratios ratios;
};

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

/// What the sentences tell of: the usual ones and those that count.
bool is_shown(Workload workload, const PipelineFacts& pipelines) {
    return workload == Workload::hot || workload == Workload::cold ||
           workload == Workload::consume || workload == Workload::fetch ||
           weight_of(pipelines.objectives.front().weights, workload) > 0;
}

/// Neighbours that read the same share a row. Without the sizes up to `above`: a small copy's.
std::vector<Row> rows_of(const std::vector<Candidate>& space, const PipelineFacts& pipelines,
                         std::size_t above, Detail detail) {
    std::vector<Row> rows;
    for (const SizeInterval& interval : pipelines.intervals.front()) {
        if (interval.up_to <= above) continue;
        std::vector<std::string> copies;
        const Finalist& winner = taken(pipelines, interval.result);
        if (const auto& sensing = pipelines.sensing[interval.result]) {
            const SensingCopy& copy = sensing->copy;
            copies = {in_words(copy.hot, detail), in_words(copy.cold, detail)};
            if (copy.fetch) copies.push_back(in_words(*copy.fetch, detail));
        } else {
            copies = {in_words(space[static_cast<std::size_t>(winner.candidate)], detail)};
        }
        if (rows.empty() || rows.back().copies != copies) rows.push_back({0, copies, {}});
        rows.back().up_to = interval.up_to;
        rows.back().ratios.add(winner.ratio);
    }
    return rows;
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

std::string legend(std::size_t most_copies) {
    std::string text =
        "x libc: libc's time over ours (2.00: twice as fast), the mean of all that it was "
        "tuned for.";
    if (most_copies > 1) text += " A size with several rows looks first whether its data is cached";
    if (most_copies > 2) text += "; fetch: only the destination is";
    return wrapped(text + (most_copies > 1 ? "." : ""));
}

/// In percent, 1 at least: how far libc seems to be from itself, the middle one of all sizes and
/// workloads.
double noise_percent(const PipelineFacts& pipelines) {
    std::vector<double> widths;
    for (const Found& found : pipelines.found) {
        for (const auto& [workload, floor] : found.results.front().noise_floor) {
            widths.push_back(std::max(floor.high, 1 / floor.low));
        }
    }
    return widths.empty() ? 1 : std::max(1.0, 100 * (median(std::move(widths)) - 1));
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

/// Where a loss is: "at 512 B under hot", "in small copies under fixed".
std::string where(const ExamLoss& loss, Operation operation) {
    const std::string small(facts_of(operation).small);
    return (loss.size ? "at " + format_size(loss.size) : "in " + small) + " under " + loss.workload;
}

/// The worst first.
std::vector<ExamLoss> sorted_losses(const ExamFacts& exam) {
    std::vector<ExamLoss> losses = exam.losses;
    std::stable_sort(losses.begin(), losses.end(), [](const ExamLoss& a, const ExamLoss& b) {
        return a.ratio.median < b.ratio.median;
    });
    return losses;
}

/// The losses behind the worst, which the headline names; nothing where there are none.
std::string losses_sentence(const ExamFacts& exam, Operation operation) {
    constexpr std::size_t kNamed = 5;
    const std::vector<ExamLoss> losses = sorted_losses(exam);
    if (losses.size() < 2) return "";
    std::string text =
        "The compiled routine, timed once more, is slower than libc beyond the noise: ";
    for (std::size_t i = 0; i < std::min(kNamed, losses.size()); ++i) {
        append(text, "%s%.2f times as fast %s", i ? ", " : "", losses[i].ratio.median,
               where(losses[i], operation).c_str());
    }
    return wrapped(text + (losses.size() > kNamed ? " and others." : "."));
}

/// "; 2 of 570 cells slower, the worst 0.90 at 512 B under hot_read".
std::string exam_words(const std::optional<ExamFacts>& exam, Operation operation) {
    if (!exam) return "; not examined";
    std::string text;
    if (exam->losses.empty()) {
        append(text, "; none of %zu cells slower", exam->cells);
    } else {
        const ExamLoss worst = sorted_losses(*exam).front();
        append(text, "; %zu of %zu cells slower, the worst %.2f %s", exam->losses.size(),
               exam->cells, worst.ratio.median, where(worst, operation).c_str());
    }
    return text;
}

} // namespace

std::string headline(const PipelineFacts& pipelines, const std::optional<SmallFacts>& small,
                     const std::optional<ExamFacts>& exam) {
    if (pipelines.found.empty()) return "";
    const OperationFacts& operation = facts_of(pipelines.operation);
    std::map<std::string, std::vector<double>> groups;
    if (small) groups[std::string(operation.small)] = {small->result.finalists.front().ratio};
    for (std::size_t i = 0; i < pipelines.found.size(); ++i) {
        const std::size_t size = pipelines.found[i].results.front().size;
        if (size <= small_bound(small)) continue;
        for (const auto& [workload, measured] : taken(pipelines, i).workloads) {
            if (weight_of(pipelines.objectives.front().weights, workload) == 0) continue;
            groups[std::string(is_uncached(workload) ? "uncached " : "cached ") + operation.many +
                   (size > kLarge ? " above " : " up to ") + format_size(kLarge)]
                .push_back(measured.ratio.median);
        }
    }
    const double noise = 1 + noise_percent(pipelines) / 100;
    std::vector<std::pair<double, std::string>> apart;
    for (const auto& [name, ratios] : groups) {
        // Not the mean: one size that a busy machine spoiled would be told as everybody's gain.
        const double middle = median(ratios);
        if (std::max(middle, 1 / middle) > noise) apart.emplace_back(-middle, name);
    }
    std::sort(apart.begin(), apart.end()); // the largest gain first
    std::string text;
    for (const auto& [minus_ratio, name] : apart) {
        text += (text.empty() ? "" : ", ") + name + ' ' + times(-minus_ratio);
        if (&minus_ratio == &apart.front().first) text += " as fast as libc";
    }
    if (apart.empty()) {
        text = std::string("all ") + operation.many + " as fast as libc";
    } else if (apart.size() < groups.size()) {
        text += ", the rest as libc";
    }
    text.front() = static_cast<char>(std::toupper(text.front()));
    return wrapped(text + exam_words(exam, pipelines.operation) + '.');
}

std::string routine_rows(const std::vector<Candidate>& space, const PipelineFacts& pipelines,
                         const std::optional<SmallFacts>& small) {
    if (pipelines.found.empty()) return "";
    const std::size_t bound = small_bound(small);
    std::vector<Row> rows;
    for (const Detail detail : {Detail::all, Detail::no_distance, Detail::carrier}) {
        rows = rows_of(space, pipelines, bound, detail);
        if (lines_of(rows) <= kMostRows) break;
    }
    std::size_t most = 1;
    for (const Row& row : rows) most = std::max(most, row.copies.size());
    std::vector<std::vector<std::string>> table = {
        {"Up to", most > 1 ? "data" : "", "x libc", "how"}};
    if (bound) {
        table.push_back({format_size(bound), "",
                         times(small->result.finalists.front().ratio).substr(0, 4),
                         std::string(facts_of(pipelines.operation).small)});
    }
    for (const Row& row : rows) {
        for (std::size_t i = 0; i < row.copies.size(); ++i) {
            table.push_back({i ? "" : format_size(row.up_to), row.copies.size() < 2 ? "" : kData[i],
                             i ? "" : times(row.ratios.mean()).substr(0, 4), row.copies[i]});
        }
    }
    return aligned(table, {"Up to", "data", "how"}) + legend(most);
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
           noise_percent(pipelines));
    out += noise + '\n';
    if (exam) out += losses_sentence(*exam, pipelines.operation);
    if (!left_out.empty()) out += wrapped(left_out_sentence(left_out));
    return out;
}

} // namespace asterope
