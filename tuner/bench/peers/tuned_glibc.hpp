// Chooses the values of glibc's tunables that make its memcpy fastest on this machine.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "machine/machine.hpp"
#include "timing/remote_copy.hpp"
#include "timing/stopwatch.hpp"

namespace asterope {

/// The best setting, and a line that says so; no thresholds where none is better than glibc's own.
struct TunedGlibc {
    LibcThresholds thresholds;
    std::string description;
};

/// How much faster glibc is with the thresholds than as it is: 1 is no change.
using Gain = std::function<double(const LibcThresholds& thresholds)>;

/// Tries in turn:
/// - x86_non_temporal_threshold, from where on stores bypass the caches: the second cache, four of
///   it, and the last cache's share of one CPU. (glibc's own choice is three quarters of what the
///   processor says is the last cache's share of a thread, and virtual machines pass on numbers of
///   their own there.)
/// - with the best of these, x86_rep_movsb_threshold: no `rep movsb` at all, and from 1 KiB on.
/// A setting must gain more than 1 % over the best one so far.
TunedGlibc tune_glibc(const Machine& machine, const Gain& gain);

/// Gains as measured: the geometric mean over sizes and workloads of the median, over some paired
/// rounds, of libc's time here over that of a RemoteCopy. `here` is calibrated along. Workloads
/// that cannot be served are passed over; one must be left.
Gain measured_gain(Stopwatch& here, const RemoteSetup& setup, const std::vector<std::size_t>& sizes,
                   const std::vector<Workload>& workloads);

} // namespace asterope
