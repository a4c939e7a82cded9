// Sentences are put together from the choices; neighbouring rows with the same words are merged.
#include "profile/short_result.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/contains.hpp"
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

/// The states of data that a copy that senses tells apart, and the workloads of their GB/s.
constexpr std::array kData = {"cached", "uncached", "fetch", "produce"};
constexpr std::array kDataWorkloads = {Workload::hot, Workload::cold, Workload::fetch,
                                       Workload::produce};

struct Line {
    std::size_t up_to;
    std::vector<std::string> copies; ///< one, or in the order of kData
    GeometricMean ratios;
    std::vector<double> bandwidths; ///< GB/s, of each of the copies
};

std::size_t lines_of(const std::vector<Line>& rows) {
    std::size_t lines = 0;
    for (const Line& row : rows) lines += row.copies.size();
    return lines;
}

/// Whether the sentences tell of a workload: the usual ones and those that count.
bool is_shown(Workload workload, const Weights& weights) {
    return workload == Workload::hot || workload == Workload::cold ||
           workload == Workload::consume || workload == Workload::fetch ||
           weight_of(weights, workload) > 0;
}

/// The largest size that small copies take; 0 without small copies.
std::size_t small_bound(const Profile& profile, Operation operation) {
    const Choice* small = profile.first(ChoiceKind::small, operation);
    return small ? small->up_to : 0;
}

/// Neighbours that read the same share a row. Without the sizes that small copies do.
std::vector<Line> rows_of(const Profile& profile, Operation operation, Detail detail) {
    std::vector<Line> rows;
    for (const Choice* one : profile.of(ChoiceKind::pipelines, operation)) {
        if (one->up_to <= small_bound(profile, operation)) continue;
        std::vector<std::string> copies;
        if (const auto& sensing = one->sensing) {
            copies = {in_words(sensing->hot, detail), in_words(sensing->cold, detail)};
            if (sensing->fetch) copies.push_back(in_words(*sensing->fetch, detail));
            if (sensing->produce) copies.push_back(in_words(*sensing->produce, detail));
        } else {
            copies = {in_words(one->pipeline(), detail)};
        }
        if (rows.empty() || rows.back().copies != copies) {
            rows.push_back({0, copies, {}, std::vector<double>(copies.size())});
        }
        rows.back().up_to = one->up_to;
        rows.back().ratios.add(one->ratio);
        for (std::size_t i = 0; i < copies.size(); ++i) {
            double& most = rows.back().bandwidths[i];
            most = std::max(most, one->sensing ? one->bandwidth(kDataWorkloads[i]) : one->gb_per_s);
        }
    }
    return rows;
}

/// Where it happens, as a sentence ends: "1.4 times as fast as libc where nothing is cached".
std::string where(Workload workload) {
    const std::string_view words = facts_of(workload).where;
    return words.empty() ? "under " + name_of(workload) : std::string(words);
}

std::string times(double ratio) {
    return formatted("%.2f times", ratio);
}

std::string legend(std::size_t most_copies) {
    std::string text =
        "x libc: libc's time over ours (2.00: twice as fast), the mean of all that it was "
        "tuned for. GB/s: the most that it reached in any situation";
    text += most_copies > 1 ? ", or in that of the row." : ".";
    if (most_copies > 1) text += " A size with several rows looks first whether its data is cached";
    if (most_copies > 2) text += "; fetch: only the destination is";
    if (most_copies > 3) text += "; produce: only the source is";
    return wrapped(text + (most_copies > 1 ? "." : ""));
}

/// The ratio below which a difference does not matter.
constexpr double kLeast = 1.01;

/// How far libc seems to be from itself, as a ratio above 1: the middle one of all sizes and
/// workloads.
double usual_noise(const Profile& profile, Operation operation) {
    std::vector<double> all;
    for (const Choice* one : profile.of(ChoiceKind::pipelines, operation)) {
        for (const auto& [workload, floor] : one->noise_floor) {
            all.push_back(std::max({kLeast, floor.high, 1 / floor.low}));
        }
    }
    return all.empty() ? kLeast : median(std::move(all));
}

/// Situations and sizes that the headline tells of together.
class Group {
  public:
    /// A cell: it differs where its own pairs say so, beyond `libc`'s ratio to itself. The interval
    /// of that one is as wide as all that disturbed its few rounds, and tells nothing of the pairs.
    void add(const Estimate& ratio, double libc) {
        ratios_.push_back(ratio.median);
        faster_ += ratio.low > std::max(1.0, libc) && ratio.median > kLeast;
        slower_ += ratio.high < std::min(1.0, libc) && ratio.median * kLeast < 1;
    }
    /// The median, not the mean: one size that a busy machine spoiled would be told as the gain of
    /// all.
    double middle() const { return median(ratios_); }
    /// Whether most of its cells differ. The noise of all cells together does not decide: where one
    /// situation is noisy, the others would be told of as noisy, too.
    bool stands_apart() const { return 2 * std::max(faster_, slower_) > ratios_.size(); }

  private:
    std::vector<double> ratios_;
    std::size_t faster_ = 0, slower_ = 0;
};

/// Ratios under one workload, and at which size the lowest is.
struct Summary {
    GeometricMean ratios;
    std::size_t lowest_at = 0;

    void add(double ratio, std::size_t size) {
        if (ratio < ratios.least()) lowest_at = size;
        ratios.add(ratio);
    }
    std::string text() const {
        return formatted("%5.2f %5.2f %-8s", ratios.mean(), ratios.least(),
                         format_size(lowest_at).c_str());
    }
};

/// A line a situation: the mean and the lowest of libc's time over the routine's. With references,
/// the same of the fastest of libc and the references follows.
std::string situations(const Profile& profile, Operation operation, std::size_t above) {
    std::map<Workload, std::pair<Summary, Summary>> summaries; // against libc, against the fastest
    const Weights weights = value_in(profile.search.weights, operation);
    bool references = false;
    for (const Choice* one : profile.of(ChoiceKind::pipelines, operation)) {
        if (one->size <= above) continue;
        for (const auto& [workload, measured] : one->workloads) {
            if (!is_shown(workload, weights)) continue;
            references = references || measured.best_ratio;
            summaries[workload].first.add(measured.ratio.median, one->size);
            summaries[workload].second.add(measured.best_ratio.value_or(measured.ratio).median,
                                           one->size);
        }
    }
    std::string out = "Sizes above " + format_size(above) + ':';
    if (above == 0) out = "All sizes:";
    out += " libc's time over ours, mean and lowest";
    if (references) out += "; then that of the fastest of libc and the references";
    out += "\n";
    for (const auto& [workload, summary] : summaries) {
        out += formatted(" %s%s  %s: %s\n", summary.first.text().c_str(),
                         references ? summary.second.text().c_str() : "", name_of(workload).c_str(),
                         where(workload).c_str());
    }
    return out;
}

std::string left_out_sentence(const LeftOut& left_out) {
    std::string out;
    if (!left_out.sizes.empty()) {
        out += formatted(" the winners of %zu sizes", left_out.sizes.size());
    }
    for (const Step step : left_out.steps) {
        out += (out.empty() ? " " : ", ") + std::string(title_of(step));
    }
    return "Left out, as the time was up:" + out + ". The same command with --resume goes on.";
}

/// The sentence about the functions for callers who know the situation.
std::string entry_points_sentence(const Profile& profile, Operation operation, std::size_t above) {
    std::map<Workload, GeometricMean> intents;
    std::map<Workload, double> small;
    for (const Choice& one : profile.choices) {
        if (!one.intent || one.operation != operation) continue;
        if (one.kind == ChoiceKind::small) small[*one.intent] = one.ratio;
        if (one.size > above) intents[*one.intent].add(one.ratio);
    }
    std::string known;
    for (const auto& [workload, ratios] : intents) {
        known += (known.empty() ? "" : ", ") + symbol_of(operation) + '_' + name_of(workload) +
                 ' ' + times(ratios.mean());
        if (const auto own = small.find(workload); own != small.end()) {
            known += " (its own small copies " + times(own->second) + ")";
        }
    }
    return known.empty() ? "" : wrapped("Entry points, each in its own situation: " + known + '.');
}

std::string threads_sentence(const Profile& profile, Operation operation) {
    for (const Choice* one : profile.of(ChoiceKind::threads, operation)) {
        if (one->share().threads == 1) continue;
        return wrapped("asterope_memcpy_mt shares copies of " + format_size(one->above + 1) +
                       " and more among threads.");
    }
    return "";
}

std::string fresh_sentence(const Profile& profile, Operation operation) {
    GeometricMean ratios;
    std::size_t above = 0;
    for (const Choice* one : profile.of(ChoiceKind::fresh, operation)) {
        if (one->stage().piece == 0) continue;
        if (ratios.count() == 0) above = one->above;
        ratios.add(one->ratio);
    }
    if (ratios.count() == 0) return "";
    return wrapped(symbol_of(operation) + "_fresh prepares the pages of " + format_size(above + 1) +
                   " and more: " + times(ratios.mean()) + " beside " + symbol_of(operation) +
                   " into memory that was just mapped.");
}

/// Where a loss is: "at 512 B under hot", "in small copies under fixed".
std::string where(const ExamLoss& loss, Operation operation) {
    const std::string small(facts_of(operation).small);
    return (loss.size ? "at " + format_size(loss.size) : "in " + small) + " under " + loss.workload;
}

/// The worst first.
std::vector<ExamLoss> sorted_losses(const ExamFacts& exam) {
    std::vector<ExamLoss> losses = exam.losses;
    std::ranges::stable_sort(losses, [](const ExamLoss& a, const ExamLoss& b) {
        return a.ratio.median < b.ratio.median;
    });
    return losses;
}

/// The losses behind the worst, which the headline names; empty without losses.
std::string losses_sentence(const ExamFacts& exam, Operation operation) {
    constexpr std::size_t kNamed = 5;
    const std::vector<ExamLoss> losses = sorted_losses(exam);
    if (losses.size() < 2) return "";
    std::string text =
        "The compiled routine, timed once more, is slower than libc beyond the noise: ";
    for (std::size_t i = 0; i < std::min(kNamed, losses.size()); ++i) {
        text += formatted("%s%.2f times as fast %s", i ? ", " : "", losses[i].ratio.median,
                          where(losses[i], operation).c_str());
    }
    return wrapped(text + (losses.size() > kNamed ? " and others." : "."));
}

/// The ratio of the worst round in a hundred; empty where rounds were not counted.
std::string rounds_sentence(const ExamFacts& exam) {
    if (!exam.rounds || exam.rounds->count == 0) return "";
    return wrapped(formatted("Libc's time over the routine's in the exam's %zu rounds: %.2f in the "
                             "middle, and %.2f or less in 1 of 100 (%.2f for libc beside itself).",
                             exam.rounds->count, exam.rounds->median, exam.rounds->slowest,
                             exam.rounds->floor));
}

/// The result of its exam; null without an exam.
const ExamFacts* exam_of(const Profile& profile, Operation operation) {
    const auto own = profile.exam.find(operation);
    return own == profile.exam.end() ? nullptr : &own->second;
}

/// "; 2 of 570 cells slower, the worst 0.90 at 512 B under hot_read".
std::string exam_words(const ExamFacts* exam, Operation operation) {
    if (!exam) return "; not examined";
    if (exam->losses.empty()) return formatted("; none of %zu cells slower", exam->cells);
    const ExamLoss worst = sorted_losses(*exam).front();
    return formatted("; %zu of %zu cells slower, the worst %.2f %s", exam->losses.size(),
                     exam->cells, worst.ratio.median, where(worst, operation).c_str());
}

} // namespace

std::string headline(const Profile& profile, Operation operation) {
    if (!profile.first(ChoiceKind::pipelines, operation)) return "";
    const OperationFacts& facts = facts_of(operation);
    const Weights weights = value_in(profile.search.weights, operation);
    std::map<std::string, Group> groups;
    if (const Choice* small = profile.first(ChoiceKind::small, operation)) {
        const double noise = usual_noise(profile, operation), ratio = small->ratio;
        groups[std::string(facts.small)].add({ratio, ratio / noise, ratio * noise}, 1);
    }
    for (const Choice* one : profile.of(ChoiceKind::pipelines, operation)) {
        if (one->size <= small_bound(profile, operation)) continue;
        for (const auto& [workload, measured] : one->workloads) {
            if (weight_of(weights, workload) == 0) continue;
            const Estimate floor = value_in(one->noise_floor, workload, {1, 1, 1});
            groups[std::string(is_uncached(workload) ? "uncached " : "cached ") + facts.many +
                   (one->size > kLarge ? " above " : " up to ") + format_size(kLarge)]
                .add(measured.ratio, floor.median);
        }
    }
    std::vector<std::pair<double, std::string>> apart;
    for (const auto& [name, group] : groups) {
        if (group.stands_apart()) apart.emplace_back(-group.middle(), name);
    }
    std::ranges::sort(apart); // the largest gain first
    std::string text;
    for (const auto& [minus_ratio, name] : apart) {
        text += (text.empty() ? "" : ", ") + name + ' ' + times(-minus_ratio);
        if (&minus_ratio == &apart.front().first) text += " as fast as libc";
    }
    const ExamFacts* exam = exam_of(profile, operation);
    // A group that is as fast in its middle may have cells that are not: then "all" would be wrong.
    const std::string mostly = exam && !exam->losses.empty() ? "mostly " : "";
    if (apart.empty()) {
        text = (mostly.empty() ? "all " : "") + std::string(facts.many) + ' ' + mostly +
               "as fast as libc";
    } else if (apart.size() < groups.size()) {
        text += ", the rest " + mostly + "as libc";
    }
    text.front() = static_cast<char>(std::toupper(text.front()));
    return wrapped(text + exam_words(exam, operation) + '.');
}

std::string routine_rows(const Profile& profile, Operation operation) {
    std::vector<Line> rows;
    for (const Detail detail : {Detail::all, Detail::no_distance, Detail::carrier}) {
        rows = rows_of(profile, operation, detail);
        if (lines_of(rows) <= kMostRows) break;
    }
    std::size_t most = 1;
    for (const Line& row : rows) most = std::max(most, row.copies.size());
    std::vector<std::vector<std::string>> table = {
        {"Up to", most > 1 ? "data" : "", "x libc", "GB/s", "how"}};
    if (const Choice* small = profile.first(ChoiceKind::small, operation)) {
        table.push_back({format_size(small->up_to), "", times(small->ratio).substr(0, 4), "",
                         std::string(facts_of(operation).small)});
    }
    for (const Line& row : rows) {
        for (std::size_t i = 0; i < row.copies.size(); ++i) {
            table.push_back({i ? "" : format_size(row.up_to), row.copies.size() < 2 ? "" : kData[i],
                             i ? "" : times(row.ratios.mean()).substr(0, 4),
                             bandwidth_text(row.bandwidths[i]), row.copies[i]});
        }
    }
    return aligned(table, {"Up to", "data", "how"}) + legend(most);
}

std::string result_sentences(const Profile& profile, Operation operation) {
    const std::vector<const Choice*> choices = profile.of(ChoiceKind::pipelines, operation);
    if (choices.empty()) return "";
    const Choice* small = profile.first(ChoiceKind::small, operation);
    const std::size_t bound = small_bound(profile, operation);
    const std::size_t above = choices.back()->size > bound ? bound : 0;
    std::string out = situations(profile, operation, above);
    if (small) {
        const std::string title(facts_of(operation).small_title);
        out += wrapped(title + ", of up to " + format_size(bound) +
                       " in mixed sizes: " + times(small->ratio) + " as fast as libc.");
    }
    out += entry_points_sentence(profile, operation, above);
    out += threads_sentence(profile, operation);
    out += fresh_sentence(profile, operation);
    out +=
        formatted("Smaller differences than %.0f %% are noise: libc's own times differ as much.\n",
                  100 * (usual_noise(profile, operation) - 1));
    if (const ExamFacts* exam = exam_of(profile, operation))
        out += rounds_sentence(*exam) + losses_sentence(*exam, operation);
    const LeftOut left_out = value_in(profile.left_out, operation);
    if (!left_out.empty()) out += wrapped(left_out_sentence(left_out));
    return out;
}

} // namespace asterope
