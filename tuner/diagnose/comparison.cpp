// An entrant is a copy in a condition. All of them are paired, libc also with itself.
#include "diagnose/comparison.hpp"

#include <algorithm>

#include "base/contains.hpp"
#include "base/statistics.hpp"
#include "run/time_rounds.hpp"

namespace asterope::diagnosis {

namespace {

constexpr double kSampleSeconds = 20e-6;
constexpr double kWorthNaming = 1.05;

/// The copies that are timed in a condition.
enum CopyBy { kByLibc, kByWinner, kByLibcAgain, kCopies };

double time(const CopyLoop& loop, const TimedCopy& copy, std::size_t calls, std::uint64_t round) {
    return time_calls([&](std::size_t some) { loop(copy, some, round); }, calls);
}

std::size_t index_of(const std::string& label, const std::vector<Condition>& conditions) {
    return static_cast<std::size_t>(find_in(conditions, label, &Condition::label) -
                                    conditions.data());
}

std::vector<Comparison> compare(const Group& group, const Context& context, double share) {
    const std::vector<Condition>& conditions = group.conditions;
    const TimedCopy* winner = context.winners.at(group.size);
    const TimedCopy libc{libc_copy()};
    const auto entrant = [](std::size_t condition, CopyBy who) {
        return Entrant(condition * kCopies + who);
    };
    std::vector<Entrant> entrants = {entrant(0, kByLibcAgain)};
    for (std::size_t i = 0; i < conditions.size(); ++i) {
        entrants.push_back(entrant(i, kByLibc));
        if (winner) entrants.push_back(entrant(i, kByWinner));
    }
    const std::size_t calls = calls_that_take(kSampleSeconds, [&](std::size_t some) {
        return time(conditions.front().loop, libc, some, 0);
    });
    const Paired paired =
        time_rounds({.entrants = entrants,
                     .rounds = context.rounds,
                     .sample_cost = share / (static_cast<double>(entrants.size()) * context.rounds),
                     .time =
                         [&](Entrant which, std::uint64_t round) {
                             const CopyLoop& loop = conditions[which.index() / kCopies].loop;
                             const TimedCopy& copy =
                                 which.index() % kCopies == kByWinner ? *winner : libc;
                             return std::vector{time(loop, copy, calls, round)};
                         }},
                    context.timings, context.source);

    std::vector<Comparison> comparisons;
    for (std::size_t i = 0; i < conditions.size(); ++i) {
        const Condition& condition = conditions[i];
        const std::size_t base = index_of(condition.baseline, conditions);
        const auto figures = [&](CopyBy who) -> TakenTime {
            return {paired.seconds(entrant(i, who)),
                    paired.ratio(entrant(i, who), entrant(base, who))};
        };
        Comparison comparison{condition, group.name, group.size, figures(kByLibc),
                              paired.ratio(entrant(0, kByLibc), entrant(0, kByLibcAgain))};
        if (winner) {
            comparison.winner = figures(kByWinner);
            comparison.candidate = winner->name;
            comparison.ratio = paired.ratio(entrant(i, kByLibc), entrant(i, kByWinner));
        }
        comparisons.push_back(std::move(comparison));
    }
    return comparisons;
}

nlohmann::ordered_json figures_json(const TakenTime& figures, bool is_baseline) {
    nlohmann::ordered_json json = {{"ns", figures.seconds * 1e9}};
    if (!is_baseline) json["slowdown"] = estimate_json(figures.slowdown);
    return json;
}

nlohmann::ordered_json comparison_json(const Comparison& comparison) {
    nlohmann::ordered_json json = {
        {"condition", comparison.label}, {"group", comparison.group}, {"size", comparison.size}};
    json.update(comparison.keys);
    if (!comparison.is_baseline()) json["baseline"] = comparison.baseline;
    json["libc"] = figures_json(comparison.libc, comparison.is_baseline());
    if (comparison.winner) {
        json["winner"] = figures_json(*comparison.winner, comparison.is_baseline());
        json["winner"]["candidate"] = comparison.candidate;
        json["ratio"] = estimate_json(comparison.ratio);
    }
    json["noise_floor"] = estimate_json(comparison.floor);
    return json;
}

std::string cell(const TakenTime& figures, bool is_baseline) {
    return is_baseline ? format_time(figures.seconds) : format_factor(figures.slowdown.median);
}

/// The verdict's words about one copy; `of` picks its figures, null if it lacks them.
std::string worst_of(const std::vector<Comparison>& comparisons,
                     const std::function<const TakenTime*(const Comparison&)>& of) {
    const Comparison* worst = nullptr;
    double most = 1;
    for (const Comparison& comparison : comparisons) {
        const TakenTime* figures = of(comparison);
        if (!figures || comparison.is_baseline()) continue;
        const Estimate& slowdown = figures->slowdown;
        most = std::max(most, slowdown.median);
        if (slowdown.median < kWorthNaming) continue;
        if (slowdown.low <= std::max(1.0, comparison.floor.high)) continue;
        // the lower end counts: of hundreds of medians the highest is a lucky one
        if (!worst || slowdown.low > of(*worst)->slowdown.low) worst = &comparison;
    }
    if (!worst) return "nothing that stands out (at most " + format_factor(most) + " x)";
    return "worst " + format_factor(of(*worst)->slowdown.median) + " x slower at " + worst->label +
           " (" + worst->group + ")";
}

} // namespace

std::vector<Comparison> compare(const std::vector<Group>& groups, const Context& context) {
    std::vector<Comparison> comparisons;
    for (const Group& group : groups) {
        auto some = compare(group, context, 1.0 / static_cast<double>(groups.size()));
        std::move(some.begin(), some.end(), std::back_inserter(comparisons));
    }
    return comparisons;
}

CopyLoop repeated(char* destination, const char* source, std::size_t size) {
    return [=](const TimedCopy& copy, std::size_t calls, std::uint64_t round) {
        const std::size_t place = roam(round);
        for (std::size_t i = 0; i < calls; ++i) copy(destination + place, source + place, size);
    };
}

Section compared(const Context& context, const std::string& question,
                 const std::vector<Group>& groups, const std::vector<std::string>& notes) {
    Section section{.question = question, .notes = notes};
    fill(section, compare(groups, context));
    return section;
}

void fill(Section& section, const std::vector<Comparison>& comparisons) {
    std::vector<std::string> groups, labels;
    const auto note = [](std::vector<std::string>& names, const std::string& name) {
        if (!contains(names, name)) names.push_back(name);
    };
    for (const Comparison& comparison : comparisons) {
        note(groups, comparison.group);
        if (comparison.in_table) note(labels, comparison.label);
        section.rows.push_back(comparison_json(comparison));
    }
    const auto find = [&](const std::string& group, const std::string& label) {
        const auto found = std::ranges::find_if(
            comparisons, [&](const auto& c) { return c.group == group && c.label == label; });
        return found == comparisons.end() ? nullptr : &*found;
    };
    std::string winners;
    section.columns = {""};
    section.cells.resize(labels.size() + 1);
    for (std::size_t row = 0; row < labels.size(); ++row) section.cells[row] = {labels[row]};
    section.cells.back() = {"libc against libc"};
    for (const std::string& group : groups) {
        const Comparison* first = find_in(comparisons, group, &Comparison::group);
        const bool has_winner = first->winner.has_value();
        section.columns.push_back(group + " libc");
        if (has_winner) {
            winners += (winners.empty() ? "" : ", ") + group + " " + first->candidate;
        }
        if (has_winner) section.columns.insert(section.columns.end(), {"winner", "x libc"});
        for (std::size_t row = 0; row < labels.size(); ++row) {
            const Comparison* comparison = find(group, labels[row]);
            auto& cells = section.cells[row];
            if (!comparison) {
                cells.insert(cells.end(), has_winner ? 3 : 1, "");
                continue;
            }
            cells.push_back(cell(comparison->libc, comparison->is_baseline()));
            if (!has_winner) continue;
            cells.push_back(cell(*comparison->winner, comparison->is_baseline()));
            cells.push_back(format_factor(comparison->ratio.median));
        }
        auto& floors = section.cells.back();
        floors.push_back(format_factor(first->floor.low) + ".." + format_factor(first->floor.high));
        if (has_winner) floors.insert(floors.end(), 2, "");
    }
    if (!winners.empty()) section.notes.push_back("winners: " + winners);
    section.verdict = slowdown_verdict(comparisons);
}

std::string slowdown_verdict(const std::vector<Comparison>& comparisons) {
    std::string verdict =
        "libc: " + worst_of(comparisons, [](const Comparison& c) { return &c.libc; });
    const bool winners =
        std::ranges::any_of(comparisons, [](const Comparison& c) { return c.winner.has_value(); });
    if (!winners) return verdict;
    return verdict + "; winners: " + worst_of(comparisons, [](const Comparison& c) {
               return c.winner ? &*c.winner : nullptr;
           });
}

} // namespace asterope::diagnosis
