// Slots scatter over the arena, and walks step through it. Other memory is taken at its first use.
#include "timing/workloads/buffers.hpp"

#include <numeric>

#include "base/contains.hpp"
#include "base/error.hpp"

namespace asterope {

namespace {

/// Cold slots of small copies stand at least this many lines apart, beyond the lines that
/// adjacent-line and page-local prefetchers fetch along.
constexpr std::size_t kLeastLines = 17;

/// A third is walked through: see arena_bytes.
std::size_t walk_bytes_of(std::size_t cold_bytes) {
    return cold_bytes / 3 / 4096 * 4096;
}

/// Throws BadInput where calls count and no size can be drawn.
void refuse_undrawable(const SmallCalls& small) {
    if (small.weighting == Weighting::calls && !small.statistics.sizes.up_to(small.largest)) {
        throw BadInput("distribution " + small.statistics.name + " has no size of up to " +
                       std::to_string(small.largest) + " bytes");
    }
}

} // namespace

Slots::Slots(std::size_t stride, std::size_t room)
    : stride(stride), count(std::max<std::size_t>(1, room / stride)) {
    // Steps of the golden ratio scatter best; coprime to the count they visit every slot.
    step = std::max<std::size_t>(
        1, static_cast<std::size_t>(0.6180339887 * static_cast<double>(count)));
    while (std::gcd(step, count) != 1) ++step;
}

std::size_t Walk::take() {
    if (next + stride + 64 > end) next = begin + next % 64; // misaligned as it would have been
    const std::size_t at = next;
    next += stride;
    return at;
}

OtherData::OtherData(const std::vector<Cache>& caches)
    : near(64, cache_bytes(caches, 2) / 2),
      far(64, std::min(cache_bytes(caches, 3), kMostOfACache) / 4),
      memory((near.count + far.count) * 64) {
    // written: of pages that were only read the system has one, of zeros
    for (std::size_t at = 0; at < memory.bytes(); at += 64) memory.begin()[at] = 1;
}

SourcePages::SourcePages(std::size_t bytes, PageAdvice advice)
    : memory(bytes, FreshMemory::own, advice) {
    fill_with_data(memory.begin(), bytes);
}

const char* SourcePages::take(std::size_t size) {
    const std::size_t page = page_size();
    const std::size_t places =
        std::max<std::size_t>(1, memory.bytes() / (size / page * page + 2 * page));
    const std::size_t place = static_cast<std::uint32_t>(taken++ * kGolden) % places;
    return memory.begin() + place * (size / page + 2) * page;
}

Buffers::Buffers(const Arena& arena, std::size_t largest_size, std::size_t cache_bytes,
                 SmallCalls small_calls)
    : arena(arena), cache_bytes(cache_bytes), largest_size(largest_size),
      cold_bytes((arena.bytes() - std::max(largest_size + 2 * 4096, kWrittenRoom)) / 4096 * 4096),
      slot_bytes(cold_bytes - walk_bytes_of(cold_bytes)),
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
        pair.destination = {lines * 64, slot_bytes - kPhase - 64};
        pair.source = pair.destination;
        // In a map, the two sides' slots have other places in their pages. There is room to move
        // each source to its destination's place.
        if (arena.maps_source()) pair.source = {lines * 64 + 4096, arena.source_bytes()};
    }
    return pair;
}

const char* Buffers::source_in_pages(std::size_t size, const WorkloadFacts& facts) {
    const PageAdvice advice = advice_of(facts);
    // Enough to evict the copies before. The arena leaves memory for half a side of it more.
    const std::size_t bytes =
        std::min(std::max(4 * cache_bytes, largest_size + 4 * page_size()), arena.bytes() / 2);
    const std::size_t needed = size + 3 * page_size();
    if (advice == PageAdvice::huge || arena.maps_source() || needed > bytes) {
        return arena.source() + slots(size).take().source;
    }
    return sources_.try_emplace(advice, bytes, advice).first->second.take(size);
}

WalkPair Buffers::next_walk(const Arena& in, std::size_t stride) const {
    const bool own = &in == &arena; // else one of small copies alone, without slots or tail
    const std::size_t room = (own ? cold_bytes : in.bytes()) - kPhase - 64;
    // In a small arena, a walk of the largest copies begins among the slots.
    const std::size_t begin = std::min(own ? slot_bytes : 0, (room - stride - 128) / 4096 * 4096);
    WalkPair walk;
    walk.destination = {begin, room, 0, stride};
    walk.source = walk.destination;
    // with room for each source to be moved to its destination's place in the page
    if (in.maps_source()) walk.source = {0, in.source_bytes() - 4096, 0, stride};
    const Sides<std::size_t> last = value_in(walked_, &in);
    const auto go_on = [](Walk& side, std::size_t from) {
        side.next = std::max(side.begin, (from + 4095) / 4096 * 4096);
    };
    go_on(walk.source, last.source);
    go_on(walk.destination, last.destination);
    return walk;
}

} // namespace asterope
