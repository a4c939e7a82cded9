// What the size of the working set does: copies of the same buffers from L1 out to memory.
#include <algorithm>
#include <cmath>

#include "base/interrupt.hpp"
#include "base/size_text.hpp"
#include "diagnose/comparison.hpp"
#include "diagnose/sections.hpp"
#include "timing/paired.hpp"

namespace asterope::diagnosis {

namespace {

constexpr std::size_t kSmallest = 256;

double gb_per_s(std::size_t bytes, double seconds) {
    return static_cast<double>(bytes) / seconds / 1e9;
}

std::string format_rate(double rate) {
    char text[40];
    std::snprintf(text, sizeof text, "%.1f", rate);
    return text;
}

/// "113.2 GB/s in L1, 58.0 in L2": the median of each level's sizes, nearest first.
std::string by_level(const std::vector<std::pair<std::string, double>>& rates) {
    std::string out;
    for (std::size_t i = 0; i < rates.size(); ++i) {
        const std::string& level = rates[i].first;
        if (i > 0 && rates[i - 1].first == level) continue;
        std::vector<double> own;
        for (const auto& [name, rate] : rates) {
            if (name == level) own.push_back(rate);
        }
        out += (out.empty() ? "" : ", ") + format_rate(median(std::move(own))) +
               (out.empty() ? " GB/s in " : " in ") + level;
    }
    return out;
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
    const bool winners = !context.copies.empty();
    if (winners) {
        section.columns.insert(section.columns.end(),
                               {"winner", "winner GB/s", "x libc", "(low..high)"});
    }
    std::vector<std::size_t> sizes;
    for (std::size_t size = kSmallest; size <= context.largest_copy; size *= 2) {
        sizes.push_back(size);
    }
    std::vector<std::pair<std::string, double>> libc_rates, winner_rates;
    Stopwatch stopwatch(context.arena, context.largest_copy);
    enum { kLibc, kLibcAgain, kWinner };
    constexpr Workload hot = Workload::hot;
    for (const std::size_t size : sizes) {
        const Candidate* winner = context.copies.winner(size);
        std::vector<int> entrants = {kLibc, kLibcAgain};
        if (winner) entrants.push_back(kWinner);
        stopwatch.calibrate(size, hot, trial_seconds(hot));
        const double share = 1.0 / static_cast<double>(sizes.size() * entrants.size()) /
                             static_cast<double>(context.rounds);
        context.watched.enter_step();
        const Paired paired(
            entrants, {hot}, context.rounds, 0,
            [&](int who, Workload, std::uint64_t round) {
                throw_if_interrupted();
                context.advance(share);
                const Copy copy =
                    who == kWinner ? Copy{winner->variant->copy, winner->distance()} : libc();
                return context.watched.time(
                    [&] { return stopwatch.time(copy.function, copy.distance, size, hot, round); });
            },
            nullptr, [&] { return context.watched.disturbed(); });
        const std::string level = fits_in(size, context.machine.caches);
        const double seconds = paired.seconds(kLibc, hot);
        const Estimate floor = paired.ratio(kLibc, kLibcAgain, hot);
        libc_rates.emplace_back(level, gb_per_s(size, seconds));
        section.cells.push_back(
            {format_size(size), level, format_time(seconds), format_rate(libc_rates.back().second),
             '(' + format_factor(floor.low) + ".." + format_factor(floor.high) + ')'});
        nlohmann::ordered_json row = {
            {"size", size},
            {"fits_in", level},
            {"libc", {{"ns", seconds * 1e9}, {"gb_per_s", libc_rates.back().second}}},
            {"noise_floor", estimate_json(floor)}};
        if (winner) {
            const double own = paired.seconds(kWinner, hot);
            const Estimate ratio = paired.ratio(kLibc, kWinner, hot);
            winner_rates.emplace_back(level, gb_per_s(size, own));
            for (const std::string& cell :
                 {winner->name(), format_rate(winner_rates.back().second),
                  format_factor(ratio.median),
                  '(' + format_factor(ratio.low) + ".." + format_factor(ratio.high) + ')'}) {
                section.cells.back().push_back(cell);
            }
            row["winner"] = {{"ns", own * 1e9},
                             {"gb_per_s", winner_rates.back().second},
                             {"candidate", winner->name()}};
            row["ratio"] = estimate_json(ratio);
        }
        section.rows.push_back(std::move(row));
    }
    std::string caches;
    for (const Cache& cache : context.machine.caches) {
        caches += (caches.empty() ? "L" : ", L") + std::to_string(cache.level) + ' ' +
                  format_size(cache.bytes);
    }
    if (!caches.empty()) section.notes.push_back("caches: " + caches);
    if (libc_rates.back().first != "memory") {
        section.notes.push_back(
            "the last cache is larger than the buffers: none is in memory only");
    }
    section.verdict = "libc: " + by_level(libc_rates);
    if (!winner_rates.empty()) section.verdict += "; winners: " + by_level(winner_rates);
    return section;
}

} // namespace asterope::diagnosis
