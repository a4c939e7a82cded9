// Thresholds between percentiles of readings, and the calls of sensing and of reading copies.
#include "search/sensing_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/statistics.hpp"

namespace asterope {

namespace {

/// How far apart cached and uncached readings must be, as a ratio.
constexpr double kApart = 1.25;

/// Up to so many percent of the uncached readings may look cached, as some destinations of a walk
/// do. The timing of copies shows whether such a probe is worth its time. (Rejected: 10. Chance
/// then decided whether a size had a threshold. Emerald Rapids, 260 MiB of last cache.)
constexpr double kSeldomCached = 20;

/// Whether the probe is that of a set, which has no source.
bool is_of_set(const asterope_copy& probe) {
    return word_of(probe, "kind") == "destination";
}

/// Sizes by index, each with its own threshold.
using OwnThresholds = std::map<std::size_t, Threshold>;

/// The sizes of `own` that can share a threshold, of those with cached_ticks up to `cached`.
SharedThreshold shared_below(const OwnThresholds& own, double cached) {
    SharedThreshold shared;
    double uncached = std::numeric_limits<double>::infinity();
    for (const auto& [i, one] : own) {
        if (one.cached_ticks > cached || !threshold_between(cached, one.uncached_ticks)) continue;
        uncached = std::min(uncached, one.uncached_ticks);
        shared.sizes.push_back(i);
    }
    shared.threshold = threshold_between(cached, uncached).value();
    return shared;
}

} // namespace

std::optional<Threshold> find_threshold(const Readings& readings) {
    if (readings.cached.empty() || readings.uncached.empty()) return std::nullopt;
    return threshold_between(std::max(1.0, percentile(readings.cached, 90)),
                             percentile(readings.uncached, kSeldomCached));
}

std::optional<Threshold> threshold_between(double cached, double uncached) {
    const double middle = std::sqrt(cached * uncached);
    if (!(uncached >= kApart * cached) || middle > 4e9) return std::nullopt;
    return Threshold{static_cast<std::uint32_t>(middle), cached, uncached};
}

std::size_t pipelines_behind(const asterope_copy& probe) {
    const std::string kind = word_of(probe, "kind");
    return kind == "both" ? 4 : kind == "each" ? 3 : 2;
}

bool heeds_sites(const asterope_copy& probe, std::size_t size) {
    return is_of_set(probe) || (pipelines_behind(probe) == 4 && size < kHeededBelow);
}

const Candidate& SensingCopy::on_fetched() const {
    return fetch ? *fetch : is_of_set(*probe) ? hot : cold;
}

std::optional<SharedThreshold> common_threshold(const std::vector<Readings>& by_size) {
    OwnThresholds own;
    for (std::size_t i = 0; i < by_size.size(); ++i) {
        if (const auto one = find_threshold(by_size[i])) own.emplace(i, *one);
    }
    std::optional<SharedThreshold> most;
    for (const auto& [i, one] : own) {
        SharedThreshold found = shared_below(own, one.cached_ticks);
        if (!most || found.sizes.size() > most->sizes.size()) most = std::move(found);
    }
    if (!most) return most;
    for (std::size_t i = most->sizes.back() + 1; i < by_size.size(); ++i) {
        const std::vector<double>& uncached = by_size[i].uncached;
        if (own.count(i) > 0 || uncached.empty()) continue;
        if (percentile(uncached, kSeldomCached) > most->threshold.ticks) most->sizes.push_back(i);
    }
    return most;
}

asterope_sensing SensingCopy::arguments() const {
    return {threshold.ticks,
            hot.variant->copy,
            hot.distance(),
            cold.variant->copy,
            cold.distance(),
            fetch ? fetch->variant->copy : nullptr,
            fetch ? fetch->distance() : 0,
            produce ? produce->variant->copy : nullptr,
            produce ? produce->distance() : 0};
}

TimedCopy SensingCopy::timed(const asterope_sensing& sensing) const {
    TimedCopy copy{probe->copy, argument_of(sensing),
                   cache_effect_of(is_of_set(*probe) ? hot : cold), nullptr, name()};
    copy.chooses = true;
    copy.operation = operation_of(*hot.variant);
    return copy;
}

std::string SensingCopy::name() const {
    return std::string(probe->name) + " > " + std::to_string(threshold.ticks) + ": " + cold.name() +
           (produce ? ", produce " + produce->name() : "") +
           (fetch ? ", fetch " + fetch->name() : "") + ", else " + hot.name();
}

void* ReadingCopy::run(void* destination, const void* source, std::size_t bytes, std::size_t self) {
    auto& reading = *reinterpret_cast<ReadingCopy*>(self);
    const std::uint64_t ticks = reading.probe.read(destination, source, bytes);
    reading.ticks.source.push_back(static_cast<double>(ticks & 0xFFFFFFFF));
    if (pipelines_behind(reading.probe) > 2) {
        reading.ticks.destination.push_back(static_cast<double>(ticks >> 32));
    }
    return reading.copy.function(destination, source, bytes, reading.copy.argument);
}

} // namespace asterope
