// The section `working_set`: the speed of repeated copies, from those that fit in L1 to those
// beyond all caches.
#include "base/size_text.hpp"
#include "base/statistics.hpp"
#include "base/text.hpp"
#include "diagnose/comparison.hpp"
#include "diagnose/sections.hpp"

namespace asterope::diagnosis {

namespace {

constexpr std::size_t kSmallest = 256;

/// Throughputs by cache level, nearest level first: name, GB/s.
using Rates = std::vector<std::pair<std::string, double>>;

std::string format_rate(double gb_per_s) {
    return formatted("%.1f", gb_per_s);
}

std::string format_interval(const Estimate& ratio) {
    return '(' + format_factor(ratio.low) + ".." + format_factor(ratio.high) + ')';
}

/// "113.2 GB/s in L1, 58.0 in L2": the median of each level's sizes.
std::string by_level(const Rates& rates) {
    std::string out;
    for (std::size_t i = 0; i < rates.size();) {
        const std::string& level = rates[i].first;
        std::vector<double> own;
        for (; i < rates.size() && rates[i].first == level; ++i) own.push_back(rates[i].second);
        out += (out.empty() ? "" : ", ") + format_rate(median(std::move(own))) +
               (out.empty() ? " GB/s in " : " in ") + level;
    }
    return out;
}

/// Returns a copy's figures for the report, and adds its throughput to the `rates`.
nlohmann::ordered_json figures_json(const TakenTime& figures, std::size_t size,
                                    const std::string& level, Rates& rates) {
    rates.emplace_back(level, static_cast<double>(size) / figures.seconds / 1e9);
    return {{"ns", figures.seconds * 1e9}, {"gb_per_s", rates.back().second}};
}

} // namespace

std::string fits_in(std::size_t bytes, const std::vector<Cache>& caches) {
    const Cache* innermost = nullptr;
    for (const Cache& cache : caches) {
        if (bytes > cache.bytes / 2) continue;
        if (!innermost || cache.level < innermost->level) innermost = &cache;
    }
    return innermost ? 'L' + std::to_string(innermost->level) : "memory";
}

Section working_set(const Context& context) {
    Section section;
    section.question = "how fast is a repeated copy where both its sides fit in a cache, and where "
                       "they do not?";
    section.columns = {"size", "fits in", "libc", "libc GB/s", "(floor)"};
    if (!context.winners.empty()) {
        section.columns.insert(section.columns.end(),
                               {"winner", "winner GB/s", "x libc", "(low..high)"});
    }
    std::vector<Group> groups;
    for (std::size_t size = kSmallest; size <= context.largest_copy; size *= 2) {
        groups.push_back(
            {format_size(size),
             size,
             {{"repeated",
               "repeated",
               {},
               repeated(context.arena.destination() + kPhase, context.arena.source(), size)}}});
    }
    Rates libc_rates, winner_rates;
    for (const Comparison& found : compare(groups, context)) {
        const std::string level = fits_in(found.size, context.machine.caches);
        nlohmann::ordered_json row = {
            {"size", found.size},
            {"fits_in", level},
            {"libc", figures_json(found.libc, found.size, level, libc_rates)},
            {"noise_floor", estimate_json(found.floor)}};
        std::vector<std::string> cells = {found.group, level, format_time(found.libc.seconds),
                                          format_rate(libc_rates.back().second),
                                          format_interval(found.floor)};
        if (found.winner) {
            row["winner"] = figures_json(*found.winner, found.size, level, winner_rates);
            row["winner"]["candidate"] = found.candidate;
            row["ratio"] = estimate_json(found.ratio);
            cells.insert(cells.end(),
                         {found.candidate, format_rate(winner_rates.back().second),
                          format_factor(found.ratio.median), format_interval(found.ratio)});
        }
        section.cells.push_back(std::move(cells));
        section.rows.push_back(std::move(row));
    }
    const std::string caches = joined(context.machine.caches, [](const Cache& cache) {
        return 'L' + std::to_string(cache.level) + ' ' + format_size(cache.bytes);
    });
    if (!caches.empty()) section.notes.push_back("caches: " + caches);
    if (libc_rates.back().first != "memory") {
        section.notes.push_back(
            "the last cache is larger than the buffers: no row is of memory alone");
    }
    section.verdict = "libc: " + by_level(libc_rates);
    if (!winner_rates.empty()) section.verdict += "; winners: " + by_level(winner_rates);
    return section;
}

} // namespace asterope::diagnosis
