// What the routine is expected to bring the program whose recording it was tuned for.
#include "profile/expected_gain.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"

namespace asterope {

namespace {

/// A value and its variance.
struct Uncertain {
    double value = 0, variance = 0;
};

/// An interval holds 95 %: 1.96 standard deviations on each side.
constexpr double kDeviations = 1.96;

Uncertain uncertain(const Estimate& estimate) {
    const double deviation = (estimate.high - estimate.low) / (2 * kDeviations);
    return {estimate.median, deviation * deviation};
}

Estimate interval_of(const Uncertain& one) {
    const double half = kDeviations * std::sqrt(one.variance);
    return {one.value, one.value - half, one.value + half};
}

/// Seconds of libc's copy under a workload, without the reader that some time along: what was
/// recorded of a program is the time of its copies alone.
double copy_alone(Workload workload, const std::map<Workload, Measured>& measured) {
    const auto libc = [&](Workload one) {
        const auto found = measured.find(one);
        return found == measured.end() ? 0.0 : found->second.libc_seconds;
    };
    const auto other = find_workload(facts_of(workload).copy_alone);
    const Workload like = other.value_or(workload);
    const double whole = libc(workload);
    double alone = libc(like);
    // What is read then is cached.
    if (facts_of(like).reads) alone -= libc(Workload::hot_read) - libc(Workload::hot);
    // Walks are not timed at all sizes; and a difference of two noisy figures may be nothing.
    constexpr double kLeast = 0.25;
    return alone > 0 ? std::clamp(alone, kLeast * whole, whole) : whole;
}

/// The routine's time over libc's where libc's is shared among the workloads by their weights. A
/// workload that reads the copy counts by what it saves of the copy's own time.
Uncertain relative_time(const std::map<Workload, Measured>& measured, const Weights& weights) {
    Uncertain sum;
    double total = 0;
    for (const auto& [workload, weight] : weights) {
        const auto found = measured.find(workload);
        if (weight == 0 || found == measured.end()) continue;
        const Estimate& ratio = found->second.ratio;
        const Uncertain inverse = uncertain({1 / ratio.median, 1 / ratio.high, 1 / ratio.low});
        const double alone = copy_alone(workload, measured);
        const double lever = alone > 0 ? found->second.libc_seconds / alone : 1;
        sum.value += weight * (1 - lever * (1 - inverse.value));
        sum.variance += weight * weight * lever * lever * inverse.variance;
        total += weight;
    }
    if (total == 0) return {1, 0};
    return {sum.value / total, sum.variance / (total * total)};
}

/// Mixes of sizes alone: the other situations of small copies are no program's.
Weights mixes_of(Weights weights) {
    std::erase_if(weights, [](const auto& one) { return facts_of(one.first).level == 0; });
    return weights;
}

/// Of the copies of a band, from the evaluated sizes that are nearest to theirs.
Uncertain relative_time(const ProgramBand& band, const PipelineFacts& pipelines) {
    Uncertain sum;
    const Weights& weights = pipelines.objectives.front().weights;
    std::vector<std::size_t> evaluated;
    for (const Found& found : pipelines.found) {
        evaluated.push_back(found.results.front().size);
    }
    for (const auto& [size, share] : band.sizes) {
        const std::size_t i = nearest(size, evaluated);
        const auto& sensing = pipelines.sensing[i];
        const SizeResult& result = pipelines.found[i].results.front();
        const Finalist& taken = sensing ? sensing->finalist : result.finalists.front();
        const Uncertain one = relative_time(taken.workloads, weights_at(result.size, weights));
        sum.value += share * one.value;
        sum.variance += share * share * one.variance;
    }
    return band.sizes.empty() ? Uncertain{1, 0} : sum;
}

} // namespace

ProgramOutcome expected_gain(const Program& program, const PipelineFacts& pipelines,
                             const std::optional<SmallFacts>& small, const Weights& small_weights) {
    ProgramOutcome outcome{profile_name(program.name), program.share, {}, std::nullopt};
    const std::size_t bound = small_bound(small);
    Uncertain saved;
    for (const ProgramBand& band : program.bands) {
        const Uncertain time =
            small && band.above < bound
                ? relative_time(small->result.finalists.front().workloads, mixes_of(small_weights))
                : relative_time(band, pipelines);
        const Uncertain share = uncertain(band.share);
        saved.value += share.value * (1 - time.value);
        saved.variance += (1 - time.value) * (1 - time.value) * share.variance +
                          share.value * share.value * time.variance;
        const Estimate inverse = interval_of(time);
        outcome.bands.push_back(
            {band.above,
             band.up_to,
             band.share.median,
             {1 / inverse.median, 1 / inverse.high, 1 / std::max(0.01, inverse.low)}});
    }
    outcome.saved = interval_of(saved);
    return outcome;
}

std::string expected_sentence(const ProgramOutcome& outcome) {
    std::string text = outcome.name;
    append(text, " spends %.1f %% of its time copying (%.1f to %.1f). ", 100 * outcome.share.median,
           100 * outcome.share.low, 100 * outcome.share.high);
    const auto faster = [](double saved) { return 100 * (1 / (1 - std::min(saved, 0.99)) - 1); };
    const double median = faster(outcome.saved->median);
    const double low = faster(outcome.saved->low), high = faster(outcome.saved->high);
    text += "With this routine it is expected to be ";
    if (low <= 0 && high >= 0) {
        append(text, "about as fast (%+.1f %%, %+.1f to %+.1f)", median, low, high);
    } else {
        append(text, "%.1f %% %s (%.1f to %.1f)", std::abs(median),
               median < 0 ? "slower" : "faster", std::min(std::abs(low), std::abs(high)),
               std::max(std::abs(low), std::abs(high)));
    }
    text += ": asterope-prove measures it.";
    return text;
}

} // namespace asterope
