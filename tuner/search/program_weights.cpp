// What a program's recording says about how much each workload counts.
#include "search/program_weights.hpp"

#include <algorithm>
#include <map>

#include "base/size_text.hpp"
#include "search/default_sizes.hpp"
#include "search/small_search.hpp"
#include "space/space.hpp"
#include "timing/workloads/small_calls.hpp"

namespace asterope {

namespace {

/// So many samples count as much as the balanced objective: with fewer the shares of situations
/// are off by more than a tenth.
constexpr double kBelievedSamples = 20;

/// What all sizes share of the importance, whatever was recorded.
constexpr double kShareOfAllSizes = 0.1;

/// No size counts more than so many others: each is measured with noise of its own.
constexpr double kMostImportance = 5;

/// What of small copies is not drawn from the recording.
constexpr double kShareOfGuards = 1.0 / 3;

/// Copies of above < bytes <= up_to are timed under this workload as soon as any of them is.
bool is_timed_in(const ProgramBand& band, Workload workload) {
    const WorkloadFacts& facts = facts_of(workload);
    return band.up_to >= facts.from_bytes && (facts.to_bytes == 0 || band.above < facts.to_bytes);
}

/// What surrounds a program's copy. `fresh`: its destination was never touched.
struct Situation {
    bool source_cached, destination_cached, fresh, read;
};

/// The workloads of one size that time it, alike.
std::vector<Workload> workloads_of(const Situation& situation, const ProgramBand& band) {
    std::vector<Workload> all, like;
    for (const Workload workload : kTunable) {
        const WorkloadFacts& facts = facts_of(workload);
        if (facts.source_cached != situation.source_cached ||
            facts.destination_cached != situation.destination_cached ||
            facts.fresh != situation.fresh || !is_timed_in(band, workload)) {
            continue;
        }
        all.push_back(workload);
        if (facts.reads == situation.read) like.push_back(workload);
    }
    // There is none of each kind: nothing is timed that reads what was produced.
    return like.empty() ? all : like;
}

WeightList band_weights(const ProgramBand& band, const WeightList& balanced) {
    std::map<Workload, double> sum;
    const double read = band.read.value_or(0.5);
    const double uncached =
        band.situations[situation_of(false, false)] + band.situations[situation_of(true, false)];
    const bool timed = is_timed_in(band, Workload::fresh);
    const double fresh = timed && uncached > 0 ? std::min(1.0, band.fresh / uncached) : 0;
    const auto add = [&](const Situation& situation, double share) {
        const std::vector<Workload> workloads = workloads_of(situation, band);
        for (const Workload one : workloads) {
            sum[one] += share / static_cast<double>(workloads.size());
        }
    };
    for (const bool source : {false, true}) {
        for (const bool reads : {false, true}) {
            const double part = reads ? read : 1 - read;
            const double uncached_share = part * band.situations[situation_of(source, false)];
            add({source, true, false, reads}, part * band.situations[situation_of(source, true)]);
            add({source, false, false, reads}, uncached_share * (1 - fresh));
            add({source, false, true, reads}, uncached_share * fresh);
        }
    }
    const double believed = band.probed / (band.probed + kBelievedSamples);
    for (auto& [workload, weight] : sum) weight *= believed;
    for (const auto& [workload, weight] : balanced) sum[workload] += (1 - believed) * weight;
    WeightList weights(sum.begin(), sum.end());
    std::erase_if(weights, [](const auto& one) { return !(one.second > 0); });
    return weights;
}

/// By size, how much it counts beside the others: by the time of the copies that are nearest to it.
std::vector<double> importances(const Program& program, const std::vector<std::size_t>& sizes) {
    std::vector<double> shares(sizes.size(), 0);
    double whole = 0;
    for (const ProgramBand& band : program.bands) {
        for (const auto& [size, share] : band.sizes) {
            if (size < kMinimumBytes) continue;
            shares[nearest(size, sizes)] += share * program.time_share(band);
            whole += share * program.time_share(band);
        }
    }
    double sum = 0;
    for (double& share : shares) {
        const double own = whole > 0 ? share / whole * static_cast<double>(sizes.size()) : 0;
        share = std::min(kMostImportance, kShareOfAllSizes + (1 - kShareOfAllSizes) * own);
        sum += share;
    }
    for (double& share : shares) share *= static_cast<double>(sizes.size()) / sum;
    return shares;
}

} // namespace

Objective program_objective(const Program& program, const std::vector<std::size_t>& sizes) {
    const WeightList balanced = parse_objective("balanced").weights;
    const std::vector<double> importance = importances(program, sizes);
    Objective objective{"recorded", {}};
    std::map<Workload, double> sum;
    for (const ProgramBand& band : program.bands) {
        const WeightList weights = band_weights(band, balanced);
        for (const auto& [workload, weight] : weights) {
            sum[workload] += program.time_share(band) * weight;
        }
        // Each size that is searched ends a band of its own, as each counts differently.
        std::size_t above = band.above;
        const auto add = [&](std::size_t up_to) {
            objective.weights.bands.push_back(
                {above, up_to, weights, importance[nearest(up_to, sizes)]});
            above = up_to;
        };
        for (const std::size_t size : sizes) {
            if (size > above && size < band.up_to) add(size);
        }
        add(band.up_to);
    }
    std::erase_if(sum, [](const auto& one) { return !(one.second > 0); });
    objective.weights.assign(sum.begin(), sum.end());
    if (sum.empty()) objective.weights.assign(balanced.begin(), balanced.end());
    return objective;
}

std::vector<std::size_t> with_sizes_of(const Program& program, std::vector<std::size_t> sizes) {
    constexpr std::size_t kMost = 4;
    constexpr double kMuch = 0.1, kNear = 1.1;
    std::vector<std::pair<double, std::size_t>> by_bytes;
    double sum = 0;
    for (const auto& [size, probability] : program.statistics.sizes.pairs()) {
        const double bytes = probability * static_cast<double>(size);
        sum += bytes;
        if (size >= kMinimumBytes && size <= sizes.back()) by_bytes.emplace_back(bytes, size);
    }
    std::sort(by_bytes.rbegin(), by_bytes.rend());
    for (std::size_t i = 0; i < std::min(kMost, by_bytes.size()); ++i) {
        const auto [bytes, size] = by_bytes[i];
        const auto near = [size = size](std::size_t other) {
            return static_cast<double>(std::max(size, other)) <
                   kNear * static_cast<double>(std::min(size, other));
        };
        if (bytes < kMuch * sum || std::any_of(sizes.begin(), sizes.end(), near)) continue;
        sizes.insert(std::upper_bound(sizes.begin(), sizes.end(), size), size);
    }
    return sizes;
}

std::vector<std::size_t> sizes_to_search(const std::string& given, const std::vector<Cache>& caches,
                                         const std::optional<Program>& program) {
    if (!given.empty()) return parse_size_list(given);
    const std::vector<std::size_t> sizes = default_sizes(caches);
    return program ? with_sizes_of(*program, sizes) : sizes;
}

bool copies_small(const Program& program) {
    constexpr double kLeastCalls = 1000;
    double calls = 0;
    for (const ProgramBand& band : program.bands) {
        if (band.up_to <= kLargestMixed) calls += band.calls;
    }
    return calls >= kLeastCalls;
}

Weights program_small_weights(const Program& program) {
    // What is uncached, and read, of the calls that small copies make.
    double uncached = 0, read = 0, calls = 0, watched = 0;
    for (const ProgramBand& band : program.bands) {
        if (band.above >= kLargestMixed) continue;
        const double believed = band.probed / (band.probed + kBelievedSamples) * band.calls;
        uncached += believed * (1 - band.situations[situation_of(true, true)]);
        calls += believed;
        if (band.read) read += band.calls * *band.read;
        if (band.read) watched += band.calls;
    }
    const double in_memory = calls > 0 ? uncached / calls : 0.25;
    const double reads = watched > 0 ? read / watched : 0.5;
    // A recording tells cached from uncached, not one cache from another: the smaller is likelier.
    const std::map<int, double> levels = {{1, 0.5 * (1 - in_memory)},
                                          {2, 0.3 * (1 - in_memory)},
                                          {3, 0.2 * (1 - in_memory)},
                                          {4, in_memory}};
    Weights weights = small_weights();
    double guards = 0;
    for (const auto& [workload, weight] : weights) {
        if (facts_of(workload).level == 0) guards += weight;
    }
    for (auto& [workload, weight] : weights) {
        const WorkloadFacts& facts = facts_of(workload);
        weight = facts.level == 0 ? kShareOfGuards * weight / guards
                                  : (1 - kShareOfGuards) * levels.at(facts.level) *
                                        (facts.reads ? reads : 1 - reads);
    }
    return weights;
}

} // namespace asterope
