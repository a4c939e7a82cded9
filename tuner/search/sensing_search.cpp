// Copies that sense where their data is: what a probe reads, and how they go on.
#include "search/sensing_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/statistics.hpp"

namespace asterope {

namespace {

/// How far apart cached and uncached readings must be, as a ratio.
constexpr double kApart = 1.25;

/// Distinct thresholds of one probe: each is a sensing copy of its own in the routine.
constexpr int kSharedThresholds = 2;

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
    return word_of(probe, "kind") == "each";
}

namespace {

/// Sizes by index, each with its own threshold.
using OwnThresholds = std::vector<std::pair<std::size_t, Threshold>>;

/// The threshold that most of `own` can share. Moves those that cannot to `others`.
std::optional<Threshold> shared_threshold(OwnThresholds& own, OwnThresholds& others) {
    while (!own.empty()) {
        double cached = 0, uncached = own.front().second.uncached_ticks;
        std::vector<double> logs;
        for (const auto& [i, one] : own) {
            cached = std::max(cached, one.cached_ticks);
            uncached = std::min(uncached, one.uncached_ticks);
            logs.push_back(std::log(one.ticks));
        }
        if (const auto shared = threshold_between(cached, uncached)) return shared;
        const double middle = median(logs);
        std::size_t farthest = 0;
        for (std::size_t i = 1; i < logs.size(); ++i) {
            if (std::abs(logs[i] - middle) > std::abs(logs[farthest] - middle)) farthest = i;
        }
        others.push_back(own[farthest]);
        own.erase(own.begin() + static_cast<std::ptrdiff_t>(farthest));
    }
    return std::nullopt;
}

} // namespace

std::vector<std::optional<Threshold>> common_thresholds(const std::vector<Readings>& by_size) {
    OwnThresholds own, others;
    for (std::size_t i = 0; i < by_size.size(); ++i) {
        if (const auto one = find_threshold(by_size[i])) own.emplace_back(i, *one);
    }
    std::vector<std::optional<Threshold>> thresholds(by_size.size());
    for (int shared = 0; shared < kSharedThresholds; ++shared) {
        const auto threshold = shared_threshold(own, others);
        for (const auto& one : own) thresholds[one.first] = threshold;
        own = std::exchange(others, {});
    }
    return thresholds;
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
    TimedCopy copy{probe->copy, reinterpret_cast<std::size_t>(&sensing), cache_effect_of(cold),
                   nullptr, name()};
    copy.chooses = true;
    return copy;
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

} // namespace asterope
