// The workloads hot, hot_read and aliased: a run of calls on the very same buffers, each at another
// misalignment. They leave out cache misses.
#include <algorithm>
#include <memory>

#include "space/limits.hpp"
#include "timing/buffer_access.hpp"
#include "timing/clock.hpp"
#include "timing/fresh_memory.hpp"
#include "timing/placement.hpp"
#include "timing/workloads/workload_timer.hpp"

namespace asterope {

namespace {

/// Untimed calls before a sample. The traces of another copy (a destination that its non-temporal
/// stores evicted) are gone after up to three copies. Buffers that outgrow the caches are not in
/// them however often they are copied.
constexpr std::size_t kWarmUp = 3;

/// The same where the sample before has left the caches as this copy does.
constexpr std::size_t kWarmUpFollowing = 1;

/// The same where the sample begins in buffers that were not cached. Of 8 and 16 MiB, a sensing
/// routine's fourth and fifth copies still took 1.2 times as long as those from the sixth on.
/// (libc's were steady from the third on.) A sample of one call would have been such a copy.
constexpr std::size_t kWarmUpElsewhere = 8;

/// A copy that takes so many times as long as libc's in its untimed calls gets as few timed ones.
/// At 1 KiB non-temporal stores take 200 times as long where all is cached, and half of the space
/// has them. The last digits of hopeless figures decide nothing.
constexpr double kHopeless = 8;

/// `calls` calls from the `first` one on, at least one. All values that make an address or a length
/// must stay in the six registers that a call preserves. Otherwise the loop loads them. A load with
/// the page offset of one of the copy's stores waits for that store. It delays the next copy by a
/// dozen cycles (2 KiB: a sixth of its time).
///
/// So each kind has a function of its own, and the counter is also the multiple of the golden
/// ratio. Its end is in memory: it only feeds a branch, which is predicted. `source`: as
/// SecondArgument gives it.
template <bool kRead, bool kAliased, bool kSource = true>
[[gnu::noinline]] std::uint64_t run_calls(CopyFunction copy, std::size_t distance, std::size_t size,
                                          char* destination, const char* source,
                                          std::uint32_t first, std::uint32_t calls) {
    const volatile std::uint32_t end = (first + calls) * kGolden;
    volatile std::uint64_t sum = 0;
    std::uint32_t scattered = first * kGolden;
    do {
        Misalignment past = scattered_misalignment(scattered);
        // 0 to 255 bytes past the source, modulo the page
        if (kAliased) past.destination = past.source + (scattered >> 18 & 255);
        const char* from = kSource ? source + past.source : source;
        copy(destination + past.destination, from, size, distance);
        if (kRead) {
            past = scattered_misalignment(scattered);
            sum = sum + read_copy(destination + past.destination, size);
        }
        scattered += kGolden;
    } while (scattered != end);
    return sum;
}

/// The buffers of one sample.
struct HotBuffers {
    const char* source;
    char* destination;
    std::unique_ptr<FreshMemory> fresh = nullptr; ///< where the destination is, if it is fresh
    std::size_t warm_up = kWarmUp;
};

/// The buffers in which a sample begins, cached from the sample before. A copy that chooses begins
/// in others in three of four rounds. One is a slot that was last touched a whole arena ago, one is
/// new pages, one is such a slot for the destination alone. A copy must not keep up the state that
/// it found. One that stores uncached data past the caches would find it uncached for ever, and be
/// a third as fast as libc.
HotBuffers hot_buffers(Buffers& buffers, const SampleTask& task, bool aliased) {
    const std::size_t place = roam(task.round), phase = aliased ? 0 : kPhase;
    const char* const sources = buffers.arena.source();
    HotBuffers hot{sources + buffers.hot_source + place,
                   buffers.arena.destination() + buffers.cold_bytes + place + phase};
    if (task.follows) hot.warm_up = kWarmUpFollowing;
    if (!task.copy.chooses || task.size < kSensingMinimum || aliased ||
        outgrows(task.size, buffers.cache_bytes)) {
        return hot;
    }
    if (task.round % 4 != 0) hot.warm_up = kWarmUpElsewhere;
    if (task.round % 4 == 1) {
        SlotPair& slots = buffers.slots(task.size);
        const std::size_t to = slots.destination.take(), from = slots.source.take();
        hot.source = sources + from + (to - from) % 4096; // the slot's own, where nothing is mapped
        hot.destination = buffers.arena.destination() + to + phase;
    } else if (task.round % 4 == 3) {
        const std::size_t to = buffers.slots(task.size).destination.take();
        hot.source = sources + buffers.hot_source + to % 4096; // at the same place in its page
        hot.destination = buffers.arena.destination() + to + phase;
    } else if (task.round % 4 == 2) {
        hot.fresh = std::make_unique<FreshMemory>(task.size + kRoaming + kPhase + 64);
        hot.destination = hot.fresh->begin() + place + phase;
    }
    return hot;
}

template <bool kAliased>
double time_hot(Buffers& buffers, const WorkloadFacts& facts, const SampleTask& task) {
    const HotBuffers hot = hot_buffers(buffers, task, kAliased);
    const char* source = SecondArgument(task.copy)(hot.source);
    char* destination = hot.destination;
    const bool sets = !facts_of(task.copy.operation).reads;
    const auto loop = facts.reads ? sets ? run_calls<true, false, false> : run_calls<true, false>
                      : sets ? run_calls<false, false, false>
                                  : run_calls<false, kAliased>;
    const auto run = [&](std::size_t calls) {
        return loop(task.copy.function, task.copy.argument, task.size, destination, source,
                    static_cast<std::uint32_t>(task.round), static_cast<std::uint32_t>(calls));
    };
    std::uint64_t sum = 0;
    std::size_t calls = task.calibration.calls;
    if (!outgrows(task.size, buffers.cache_bytes)) {
        if (hot.fresh) sum += run(1); // the page faults, which the next calls are not judged by
        const std::size_t untimed = std::max(hot.warm_up, calls / 8);
        const std::uint64_t start = ticks();
        sum += run(untimed);
        const double seconds = seconds_between(start, ticks()) / static_cast<double>(untimed);
        const double libc_seconds = task.calibration.seconds;
        if (libc_seconds > 0 && seconds > kHopeless * libc_seconds)
            calls = std::min(untimed, calls);
    }
    const std::uint64_t begin = ticks();
    sum += run(calls);
    const std::uint64_t end = ticks();
    buffers.sum_read += sum;
    return seconds_between(begin, end) / static_cast<double>(calls);
}

} // namespace

const WorkloadTimer workloads::hot = {time_hot<false>};
const WorkloadTimer workloads::aliased = {time_hot<true>};

} // namespace asterope
