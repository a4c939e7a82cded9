// The workloads fresh and fresh_hot: memory for the destinations of a group of calls is mapped
// anew, with the pages that the system gives unasked; then the copies of the group are timed, each
// to untouched pages, and so the page faults. The sources are those of cold copies, or one that was
// just read. Smaller blocks of a heap than the table's from_bytes are mostly used again.
#include <algorithm>

#include "timing/buffer_access.hpp"
#include "timing/clock.hpp"
#include "timing/fresh_memory.hpp"
#include "timing/placement.hpp"
#include "timing/workloads/workload_timer.hpp"

namespace asterope {

namespace {

/// What is mapped for a group, if that is enough for one call: mapping and unmapping, which no
/// figure has, take as long as a few page faults.
constexpr std::size_t kMappedBytes = std::size_t{256} << 10;

/// The most of a trial's memory that is mapped, touched and given back before it. The system hands
/// out first what it got back last, and clears it: what the trial before left decides whether these
/// pages are in the caches (16 KiB: 7.3 us and 12.8 us for one copy, by what ran before it), unless
/// each trial begins with the same.
constexpr std::size_t kGivenBack = std::size_t{1} << 20;

void give_pages_back(std::size_t bytes) {
    const FreshMemory memory(bytes);
    for (std::size_t at = 0; at < bytes; at += page_size()) {
        *static_cast<volatile char*>(memory.begin() + at) = 1;
    }
}

double time_fresh(Buffers& buffers, const WorkloadFacts& facts, const TrialTask& task) {
    const std::size_t calls = task.calibration.calls;
    // Each destination has whole pages, with room for its source's place in the page plus kPhase,
    // and for the misalignment.
    const std::size_t page = page_size();
    const std::size_t room = (task.size / page + 3) * page;
    const std::size_t most = std::max<std::size_t>(1, kMappedBytes / room);
    SlotPair& slots = buffers.slots(task.size);
    give_pages_back(std::min(kGivenBack, std::min(calls, most) * room));
    std::uint64_t elapsed = 0, sum = 0;
    std::size_t from = slots.take().source;
    for (std::size_t done = 0; done < calls;) {
        const std::size_t end = std::min(calls, done + most);
        const FreshMemory memory((end - done) * room);
        char* pages = memory.begin();
        if (facts.source_cached) sum += read_copy(buffers.arena.source() + from, task.size + 64);
        const std::uint64_t begin = ticks();
        for (; done < end; ++done, pages += room) {
            const Misalignment past = misalignment(task.round + done);
            if (!facts.source_cached && done > 0) from = slots.take().source;
            task.copy.function(pages + (from + kPhase) % 4096 + past.destination,
                               buffers.arena.source() + from + past.source, task.size,
                               task.copy.distance);
        }
        elapsed += ticks() - begin;
    }
    keep(sum);
    return seconds_between(0, elapsed) / static_cast<double>(calls);
}

} // namespace

const WorkloadTimer workloads::fresh = {time_fresh};

} // namespace asterope
