// The workloads of producers. First the sources of a group of calls are written, all in one stretch
// that stays cached as far as it fits. Then the copies of the group are timed, to slots as cold
// ones.
//
// Above 8 KiB a group is one call. Below, it is as many calls as keep their sources in the first
// cache. The clock is read twice a group. That costs tens of nanoseconds, as much as a copy of 128
// bytes.
//
// produce_walk copies to one destination after the other, as cold_walk does. produce_again copies
// to the same destination, which is cached if it fits. In produce_copied, libc's copy of uncached
// memory makes the sources, as when a program takes data from a file or a message.
#include "timing/workloads/buffers.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include "timing/buffer_access.hpp"
#include "timing/clock.hpp"
#include "timing/placement.hpp"
#include "timing/workloads/workload_timer.hpp"

namespace asterope {

namespace {

/// The sources of a group take so many bytes at most. That is half of a small first cache, as the
/// destinations' lines come to stay there, too.
constexpr std::size_t kGroupBytes = std::size_t{16} << 10;

/// Makes the sources, and returns where the next destination begins, in bytes, behind the arena's.
using Make = void (*)(Buffers& buffers, char* source, std::size_t size);
using Take = std::function<std::size_t()>;

void write(Buffers& buffers, char* source, std::size_t size) {
    write_source(source, size, buffers.written);
    buffers.written += size / 8 + 1;
}

void copy_uncached(Buffers& buffers, char* source, std::size_t size) {
    std::memcpy(source, buffers.arena.source() + buffers.slots(size).take().source, size);
}

template <Make make>
double time_groups(Buffers& buffers, bool reads, const SampleTask& task, const Take& take) {
    struct Call {
        char *destination, *source;
    };
    std::array<Call, kGroupCalls> group;
    const std::size_t size = task.size, calls = task.calibration.calls;
    const std::size_t most = std::clamp<std::size_t>(kGroupBytes / size, 1, kGroupCalls);
    // Each source begins at its destination's place in the page, less kPhase: no aliasing here
    // either. So each has room for a page, the misalignment and itself.
    const std::size_t pitch = (size / 4096 + 2) * 4096;
    char* sources = buffers.arena.writable_source() + buffers.cold_bytes;
    const TimedCopy copy = task.copy;
    std::uint64_t elapsed = 0, sum = 0;
    for (std::size_t done = 0; done < calls;) {
        const std::size_t count = std::min(most, calls - done);
        for (std::size_t i = 0; i < count; ++i, ++done) {
            const Misalignment past = misalignment(task.round + done);
            const std::size_t at = take();
            group[i] = {buffers.arena.destination() + kPhase + at + past.destination,
                        sources + i * pitch + at % 4096 + past.source};
            make(buffers, group[i].source, size);
        }
        const std::uint64_t begin = ticks();
        for (std::size_t i = 0; i < count; ++i) {
            copy.function(group[i].destination, group[i].source, size, copy.argument);
            if (reads) sum += read_copy(group[i].destination, size);
        }
        elapsed += ticks() - begin;
    }
    buffers.sum_read += sum;
    return seconds_between(0, elapsed) / static_cast<double>(calls);
}

template <Make make>
double time_produce(Buffers& buffers, const WorkloadFacts& facts, const SampleTask& task) {
    if (facts.destination_cached) {
        const std::size_t tail = buffers.cold_bytes;
        return time_groups<make>(buffers, facts.reads, task, [=] { return tail; });
    }
    if (!facts.walks) {
        SlotPair& slots = buffers.slots(task.size);
        return time_groups<make>(buffers, facts.reads, task,
                                 [&] { return slots.take().destination; });
    }
    return buffers.walk(buffers.arena, walked_stride(task.size), [&](WalkPair& walk) {
        return time_groups<make>(buffers, facts.reads, task,
                                 [&] { return walk.take().destination; });
    });
}

} // namespace

const WorkloadTimer workloads::produce = {time_produce<write>};
const WorkloadTimer workloads::produce_copied = {time_produce<copy_uncached>};

} // namespace asterope
