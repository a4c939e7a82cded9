// The stopwatch's side of each workload: functions that take a sample of it in given buffers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "timing/timed_copy.hpp"
#include "timing/workload.hpp"
#include "timing/workloads/buffers.hpp"

namespace asterope {

/// A sample to be taken.
struct SampleTask {
    const TimedCopy& copy;
    std::size_t size; ///< bytes; 0 where the workload has sizes of its own
    std::uint64_t round;
    Calibration calibration;
    /// The sample before was of the same buffers, and its copy leaves the caches alike.
    bool follows = false;
};

/// How the workloads of one name in the table's column `timed_by` are timed.
struct WorkloadTimer {
    /// Seconds a call of one sample.
    double (*time)(Buffers& buffers, const WorkloadFacts& facts, const SampleTask& task);
    /// Calls in one sample where that does not depend on the machine; null: they are calibrated.
    std::size_t (*calls)(const WorkloadFacts& facts) = nullptr;
    /// Does the preparations of the first sample. Returns false where there is nothing to time. May
    /// be null.
    bool (*prepare)(Buffers& buffers, const WorkloadFacts& facts) = nullptr;
};

/// One for each name in that column, in the source file of that name. But `aliased` is in hot.cpp,
/// `lookup` in fetch.cpp, `produce_copied` in produce.cpp, and `overlapping_pages` in
/// overlapping.cpp.
namespace workloads {
extern const WorkloadTimer hot, aliased, cold, fetch, lookup, produce, produce_copied, half_cached,
    fresh, bystander, mix, page_end, fixed, overlapping, overlapping_pages;
}

} // namespace asterope
