// The section `critical_stride`: the cost of small copies whose buffers all fall into the same sets
// of a cache.
#include <algorithm>

#include "base/size_text.hpp"
#include "diagnose/comparison.hpp"
#include "diagnose/sections.hpp"

namespace asterope::diagnosis {

namespace {

constexpr std::size_t kSize = 256;
constexpr std::size_t kLine = 64;
constexpr std::size_t kMostSpan = std::size_t{256} << 20;

/// Copies from one slot after the other; sources and destinations fall into different sets.
CopyLoop strided(const Arena& arena, std::size_t stride, std::size_t slots) {
    return [=, &arena](const TimedCopy& copy, std::size_t calls, std::uint64_t round) {
        const char* source = arena.source() + roam(round);
        char* destination = arena.destination() + kPhase + roam(round);
        std::size_t slot = 0;
        for (std::size_t i = 0; i < calls; ++i) {
            copy(destination + slot * stride, source + slot * stride, kSize);
            if (++slot == slots) slot = 0;
        }
    };
}

} // namespace

std::vector<CriticalStride> critical_strides(const std::vector<Cache>& caches) {
    std::vector<CriticalStride> strides;
    std::size_t inner = 0; // bytes of the cache before
    for (const Cache& cache : caches) {
        if (cache.ways <= 0 || cache.bytes == 0) continue;
        const auto ways = static_cast<std::size_t>(cache.ways);
        CriticalStride stride{cache.level, cache.bytes / ways, 2 * ways};
        // Spread out, the buffers must exceed the inner cache, too: else only its misses would
        // show. (Unless that takes gigabytes, as beside an L3.)
        CriticalStride more = stride;
        more.buffers = std::max(stride.buffers, inner / kSize);
        if (more.span() <= kMostSpan) stride = more;
        std::erase_if(strides,
                      [&](const CriticalStride& other) { return other.bytes == stride.bytes; });
        strides.push_back(stride);
        inner = cache.bytes;
    }
    return strides;
}

Section critical_stride(const Context& context) {
    const std::string question = "what do small copies cost if their buffers lie so far apart that "
                                 "all fall into the same sets of a cache?";
    const std::vector<CriticalStride> strides = critical_strides(context.machine.caches);
    if (strides.empty()) {
        return {.question = question,
                .skipped = "this machine does not say how many ways its caches have"};
    }
    std::vector<Group> groups;
    std::vector<std::string> notes;
    for (const CriticalStride& stride : strides) {
        const std::string name = 'L' + std::to_string(stride.level);
        const std::size_t slots = stride.buffers;
        if (stride.span() + kPhase + kSize + kRoaming > context.arena.bytes()) {
            notes.push_back(name + " left out: " + std::to_string(slots) + " buffers " +
                            format_size(stride.bytes) + " apart take too much memory");
            continue;
        }
        const std::string spread = "the stride and a line";
        const auto condition = [&](const std::string& label, std::size_t bytes) -> Condition {
            return {label,
                    spread,
                    {{"level", stride.level}, {"stride", bytes}, {"buffers", slots}},
                    strided(context.arena, bytes, slots)};
        };
        groups.push_back({name + ", " + std::to_string(slots) + " at " + format_size(stride.bytes),
                          kSize,
                          {condition(spread, stride.bytes + kLine),
                           condition("the critical stride", stride.bytes)}});
    }
    if (groups.empty()) {
        return {.question = question,
                .notes = notes,
                .skipped = "the strides of this machine's caches need more memory than there is"};
    }
    notes.push_back("copies of " + format_size(kSize) +
                    "; a stride that is critical to an outer cache is critical to the inner ones, "
                    "too");
    if (context.machine.huge_pages != "always" && context.machine.huge_pages != "madvise") {
        notes.emplace_back("without huge pages, strides beyond the page do not fall into the same "
                           "sets: memory is scattered");
    }
    return compared(context, question, groups, notes);
}

} // namespace asterope::diagnosis
