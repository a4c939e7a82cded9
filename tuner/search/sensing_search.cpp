// Finds out whether a copy that senses where its data is beats the fixed ones, and which.
#include "search/sensing_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace asterope {

namespace {

/// How far apart cached and uncached readings must be, as a ratio.
constexpr double kApart = 1.25;

} // namespace

std::optional<Threshold> find_threshold(const Readings& readings) {
    if (readings.cached.empty() || readings.uncached.empty()) return std::nullopt;
    return threshold_between(std::max(1.0, percentile(readings.cached, 90)),
                             percentile(readings.uncached, 10));
}

std::optional<Threshold> threshold_between(double cached, double uncached) {
    const double middle = std::sqrt(cached * uncached);
    if (!(uncached >= kApart * cached) || middle > 4e9) return std::nullopt;
    return Threshold{static_cast<std::uint32_t>(middle), cached, uncached};
}

bool looks_at_destination(const asterope_copy& probe) {
    return std::string_view(probe.name).starts_with("each ");
}

asterope_sensing SensingCopy::arguments() const {
    return {threshold.ticks,
            hot.variant->copy,
            hot.distance(),
            cold.variant->copy,
            cold.distance(),
            fetch ? fetch->variant->copy : nullptr,
            fetch ? fetch->distance() : 0};
}

TimedCopy SensingCopy::timed(const asterope_sensing& sensing) const {
    return {probe->copy, reinterpret_cast<std::size_t>(&sensing), cache_effect_of(cold), nullptr,
            name()};
}

std::string SensingCopy::name() const {
    return std::string(probe->name) + " > " + std::to_string(threshold.ticks) + ": " + cold.name() +
           (fetch ? ", fetch " + fetch->name() : "") + ", else " + hot.name();
}

void* ReadingCopy::run(void* destination, const void* source, std::size_t bytes, std::size_t self) {
    auto& reading = *reinterpret_cast<ReadingCopy*>(self);
    const std::uint64_t ticks = reading.probe.read(destination, source, bytes);
    reading.ticks.source.push_back(static_cast<double>(ticks & 0xFFFFFFFF));
    if (looks_at_destination(reading.probe)) {
        reading.ticks.destination.push_back(static_cast<double>(ticks >> 32));
    }
    return reading.copy.function(destination, source, bytes, reading.copy.distance);
}

std::optional<Finalist> race_sensing(std::size_t copies, std::size_t size, const Weights& weights,
                                     const Rigor& rigor, std::mt19937_64& random,
                                     const TimedCopies& timings) {
    if (copies == 0) return std::nullopt;
    std::vector<Entrant> entrants(copies);
    std::iota(entrants.begin(), entrants.end(), 1);
    Race race(size, weights, random, timings);
    race.sample(entrants, rigor.sensing_samples, Race::Weighed::all);
    std::vector<Entrant> finalists = race.best(entrants, static_cast<std::size_t>(rigor.finalists));
    finalists.push_back(0);
    const Finalist winner = race.run_off(finalists, rigor.rounds, 0, 0).finalists.front();
    if (winner.candidate == 0) return std::nullopt;
    return winner;
}

} // namespace asterope
