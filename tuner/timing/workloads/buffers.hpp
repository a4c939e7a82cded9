// The buffers of all workloads: where they lie, and the data that was read and written there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "timing/arena.hpp"
#include "timing/fresh_memory.hpp"
#include "timing/placement.hpp"
#include "timing/workload.hpp"
#include "timing/workloads/small_calls.hpp"

namespace asterope {

/// The most calls in a group: the pages of so many sources fit in the first level of every TLB.
/// So many copies of even 128 bytes take a microsecond.
inline constexpr std::size_t kGroupCalls = 32;

/// The most that the sources of a group spread over: each may begin anywhere in its first page.
inline constexpr std::size_t kWrittenRoom = kGroupCalls * 2 * 4096;

/// The slots of an area that cold buffers of one size go to, visited in a scattered order.
struct Slots {
    Slots() = default;
    Slots(std::size_t stride, std::size_t room); ///< both in bytes
    std::size_t take() {                         ///< the next slot's offset in bytes
        const std::size_t at = next * stride;
        next += step;
        if (next >= count) next -= count;
        return at;
    }
    std::size_t stride = 0, count = 0, step = 0, next = 0;
};

/// A walk through a stretch of an area: blocks one after the other, all at the same distance from
/// the one before. Programs take blocks from a large memory like this. So a prefetcher may bring
/// lines before they are asked for, if it learns strides by instruction or runs on from block to
/// block.
struct Walk {
    std::size_t take();                   ///< the next block's offset in bytes
    std::size_t begin, end, next, stride; ///< all in bytes
};

/// Calls before a walk is timed, except producers': a prefetcher knows the stride after five.
inline constexpr std::size_t kLeadIn = 6;

/// Bytes from the beginning of one block of a walk to that of the next. The next one begins behind
/// the block's last line, plus one byte. So a walk has all misalignments and yet one stride.
constexpr std::size_t walked_stride(std::size_t size) {
    return (size + 63) / 64 * 64 + 1;
}

/// The next calls' places on both sides. They differ only where the source is mapped.
template <class Place> struct Sides {
    Place source, destination;
    /// The next call's offsets. The source is moved to its destination's place in the page, which
    /// is where it is already unless the source is mapped.
    Sides<std::size_t> take() {
        const std::size_t to = destination.take(), place = source.take();
        return {place + (to - place) % 4096, to};
    }
};
using SlotPair = Sides<Slots>;
using WalkPair = Sides<Walk>;

/// The other data that the program of the workload bystander has in the caches. It is two working
/// sets, read line by line in a scattered order.
struct OtherData {
    explicit OtherData(const std::vector<Cache>& caches);
    Slots near, far; ///< half of the second cache, and behind it a quarter of the last one
    FreshMemory memory;
};

/// Sources in pages of the size that programs get, which is not that of the arena's.
struct SourcePages {
    SourcePages(std::size_t bytes, PageAdvice advice); ///< every byte written
    /// Where the next copy of `size` bytes begins: a page's beginning, in a scattered order.
    const char* take(std::size_t size);
    FreshMemory memory;
    std::size_t taken = 0;
};

struct Buffers {
    /// See Stopwatch.
    Buffers(const Arena& arena, std::size_t largest_size, std::size_t cache_bytes,
            SmallCalls small);

    /// The slots of cold copies of `size` bytes.
    SlotPair& slots(std::size_t size);

    /// Where an uncached source of `size` bytes begins, in pages of the workload's kind. Pages are
    /// the arena's where they are to be huge, where memory is too short for others, or where the
    /// source is mapped.
    const char* source_in_pages(std::size_t size, const WorkloadFacts& facts);

    /// Returns `time(walk)`, of a walk in steps of `stride` bytes. It begins at the page behind the
    /// end of the last walk through `in`, of any workload and size. So no walk meets lines of an
    /// earlier one, until the whole stretch has gone by.
    template <class Time> double walk(const Arena& in, std::size_t stride, const Time& time) {
        WalkPair walk = next_walk(in, stride);
        const double seconds = time(walk);
        walked_[&in] = {walk.source.next, walk.destination.next};
        return seconds;
    }

    const Arena& arena;
    std::size_t cache_bytes;
    std::size_t largest_size;
    std::size_t cold_bytes; ///< of each side, whole pages; behind them is the tail
    /// Of each side, whole pages: where the slots are. Behind them, up to cold_bytes, only walks
    /// are taken, so that neither meets lines that the other has just brought into a cache.
    std::size_t slot_bytes;
    std::size_t hot_source;      ///< where the source's tail begins: there, or in the map
    std::uint64_t sum_read = 0;  ///< by all readers: read_copy of each copy
    std::uint64_t written = 0;   ///< the next source's first word
    std::uint64_t looked_up = 0; ///< keys so far, of lookup

    SmallCalls small;
    std::map<int, CallSequence> sequences; ///< of mixes, by level; of page_end, spread
    std::optional<PageEnds> page_ends;     ///< once there is a sequence of page_end
    std::optional<OtherData> other_data;   ///< once there was a sample of bystander

  private:
    WalkPair next_walk(const Arena& in, std::size_t stride) const;

    std::map<std::size_t, SlotPair> slots_;
    std::map<PageAdvice, SourcePages> sources_;         ///< once there was a sample that takes them
    std::map<const Arena*, Sides<std::size_t>> walked_; ///< the ends of walks, in bytes
};

} // namespace asterope
