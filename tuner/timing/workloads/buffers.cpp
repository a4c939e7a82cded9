// What trials of all workloads share: where their buffers lie, and what was read and written there.
#include "timing/workloads/buffers.hpp"

#include <algorithm>
#include <numeric>

#include "timing/placement.hpp"
#include "timing/workloads/produce.hpp"

namespace asterope {

namespace {

/// Cold slots of small copies stand at least this many lines apart, beyond what adjacent-line and
/// page-local prefetchers fetch along.
constexpr std::size_t kLeastLines = 17;

} // namespace

Slots::Slots(std::size_t stride, std::size_t room)
    : stride(stride), count(std::max<std::size_t>(1, room / stride)) {
    // Steps of the golden ratio scatter best; coprime to the count they visit every slot.
    step = std::max<std::size_t>(
        1, static_cast<std::size_t>(0.6180339887 * static_cast<double>(count)));
    while (std::gcd(step, count) != 1) ++step;
}

std::size_t Slots::take() {
    const std::size_t at = next * stride;
    next += step;
    if (next >= count) next -= count;
    return at;
}

Buffers::Buffers(const Arena& arena, std::size_t largest_size, std::size_t cache_bytes,
                 SmallCalls small_calls)
    : arena(arena), cache_bytes(cache_bytes),
      cold_bytes((arena.bytes() - std::max(largest_size + 2 * 4096, kWrittenRoom)) / 4096 * 4096),
      hot_source(arena.maps_source()
                     ? (arena.source_bytes() - source_bytes_needed(largest_size)) / 4096 * 4096
                     : cold_bytes),
      small(std::move(small_calls)) {
    if (!small.arena) small.arena = &arena;
    refuse_undrawable(small);
}

SlotPair& Buffers::slots(std::size_t size) {
    SlotPair& pair = slots_[size];
    if (pair.destination.count == 0) {
        // An odd number of lines apart: the slots then fall into all sets of every cache.
        const std::size_t lines = std::max(kLeastLines, size / 64 + 3) | 1;
        pair.destination = {lines * 64, cold_bytes - kPhase - 64};
        pair.source = pair.destination;
        // In a map, where the two sides' slots have other places in their pages, with room for each
        // source to be moved to its destination's place.
        if (arena.maps_source()) pair.source = {lines * 64 + 4096, arena.source_bytes()};
    }
    return pair;
}

} // namespace asterope
