// Chooses the values of glibc's tunables that make its memcpy fastest on this machine.
#include "bench/peers/tuned_glibc.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/interrupt.hpp"
#include "base/statistics.hpp"
#include "machine/libc.hpp"
#include "timing/timed_copy.hpp"

namespace asterope {

namespace {

/// The least that glibc 2.36 takes as threshold of non-temporal stores.
constexpr std::size_t kLeastNonTemporal = 0x4040;
/// Larger than any copy.
constexpr std::size_t kNever = std::size_t{1} << 50;

constexpr double kLeastGain = 1.01;
constexpr std::uint64_t kRounds = 5;

std::set<std::size_t> non_temporal_thresholds(const Machine& machine) {
    std::set<std::size_t> thresholds;
    for (const Cache& cache : machine.caches) {
        if (cache.level != 2) continue;
        thresholds.insert({cache.bytes, 4 * cache.bytes});
        break;
    }
    if (!machine.caches.empty()) {
        const Cache& last = machine.caches.back();
        const int sharers = last.shared_by > 0 ? last.shared_by : std::max(1, machine.cpus);
        thresholds.insert(last.bytes / static_cast<std::size_t>(sharers));
    }
    thresholds.erase(thresholds.begin(), thresholds.lower_bound(kLeastNonTemporal));
    return thresholds;
}

} // namespace

TunedGlibc tune_glibc(const Machine& machine, const Gain& gain) {
    LibcThresholds best;
    double best_gain = 1;
    int tried = 0;
    const auto try_each = [&](const char* name, const std::set<std::size_t>& values) {
        const LibcThresholds others = best;
        for (const std::size_t value : values) {
            LibcThresholds thresholds = others;
            thresholds[name] = value;
            const double gained = gain(thresholds);
            ++tried;
            if (gained <= best_gain * kLeastGain) continue;
            best = thresholds;
            best_gain = gained;
        }
    };
    try_each(kNonTemporalThreshold, non_temporal_thresholds(machine));
    try_each(kRepMovsbThreshold, {1024, kNever});
    const std::string of = std::to_string(tried) + " settings of its tunables";
    if (best.empty()) return {best, "glibc as it is: none of " + of + " is faster"};
    return {best, "glibc with GLIBC_TUNABLES=" + tunables_text(best) + ", best of " + of};
}

Gain measured_gain(Stopwatch& here, const RemoteSetup& setup, const std::vector<std::size_t>& sizes,
                   const std::vector<Workload>& workloads) {
    for (const Workload workload : workloads) {
        for (const std::size_t size : sizes) {
            here.calibrate(size, workload, trial_seconds(workload));
        }
    }
    return [&here, setup, sizes, workloads](const LibcThresholds& thresholds) {
        RemoteCopy remote(thresholds, setup);
        int cache_effect = 0; // another one each time: what the remote copy left is not libc's here
        double logs = 0;
        int count = 0;
        for (const Workload workload : workloads) {
            for (const std::size_t size : sizes) {
                throw_if_interrupted();
                const Calibration calibration = here.calibration(size, workload);
                std::vector<double> ratios;
                for (std::uint64_t round = 0; round < kRounds; ++round) {
                    double there = 0, own = 0;
                    for (const bool first : {true, false}) {
                        if (first == (round % 2 == 0)) {
                            there = remote.time(size, workload, round, calibration);
                        } else {
                            own =
                                here.time({libc_copy(), 0, ++cache_effect}, workload, size, round);
                        }
                    }
                    ratios.push_back(std::log(own / there));
                }
                logs += median(ratios);
                ++count;
            }
        }
        return std::exp(logs / count);
    };
}

} // namespace asterope
