// The workloads fresh, fresh_huge and so on: each destination is mapped alone, as malloc maps a
// large block, and given back after the copy. The page faults are timed, mapping is not.
//
// malloc writes its header into the first page and returns the address 16 bytes behind it. A copy
// that finds its first page touched must still be right about the others. (Rejected: one mapping
// for several destinations, with all pages untouched. On a Zen 4 a copy of 1 MiB had 1.06 of libc's
// speed there, and 0.75 to 0.93 in programs. We did not find out which difference it was.)
#include <algorithm>

#include "timing/buffer_access.hpp"
#include "timing/clock.hpp"
#include "timing/fresh_memory.hpp"
#include "timing/placement.hpp"
#include "timing/workloads/workload_timer.hpp"

namespace asterope {

namespace {

/// The bytes before a block that malloc has mapped: its header.
constexpr std::size_t kHeader = 16;

/// The most of a sample's memory that is mapped, touched and given back before it. The system hands
/// out first what it got back last, and clears it. So the sample before decides whether these pages
/// are in the caches (16 KiB: one copy took 7.3 us or 12.8 us). With this, each sample begins with
/// the same.
constexpr std::size_t kGivenBack = std::size_t{1} << 20;

double time_fresh(Buffers& buffers, const WorkloadFacts& facts, const SampleTask& task) {
    const std::size_t calls = task.calibration.calls, size = task.size;
    const PageAdvice advice = advice_of(facts);
    const std::size_t room = size + kHeader;
    {
        const FreshMemory before(std::min(kGivenBack, room), FreshMemory::own, advice);
        touch_pages(before.begin(), before.bytes());
    }
    const SecondArgument second(task.copy);
    std::uint64_t elapsed = 0, sum = 0;
    const auto next_source = [&] { // sets have none: it would take memory for nothing
        return facts_of(task.copy.operation).reads ? buffers.source_in_pages(size, facts)
                                                   : buffers.arena.source();
    };
    const char* source = next_source();
    for (std::size_t done = 0; done < calls; ++done) {
        if (!facts.source_cached && done > 0) source = next_source();
        // Half of the sources begin where malloc's blocks do, the others anywhere in their page.
        const std::uint64_t turn = task.round + done;
        const std::size_t past =
            turn % 2 ? kHeader : static_cast<std::uint32_t>(turn / 2 * kGolden) % page_size();
        const char* const from = source + past;
        if (facts.source_cached) sum += read_copy(from, size);
        const FreshMemory block(room, FreshMemory::own, advice);
        char* const to = block.begin() + kHeader;
        *static_cast<volatile char*>(block.begin()) = 1;
        const std::uint64_t begin = ticks();
        task.copy.function(to, second(from), size, task.copy.argument);
        if (facts.reads) sum += read_copy(to, size);
        elapsed += ticks() - begin;
    }
    keep(sum);
    return seconds_between(0, elapsed) / static_cast<double>(calls);
}

} // namespace

const WorkloadTimer workloads::fresh = {time_fresh};

} // namespace asterope
