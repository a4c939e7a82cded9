// What trials of all workloads share: where their buffers lie, and what was read and written there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "timing/arena.hpp"
#include "timing/workloads/small_calls.hpp"

namespace asterope {

/// The slots of an area that cold buffers of one size go to, visited in a scattered order.
struct Slots {
    Slots() = default;
    Slots(std::size_t stride, std::size_t room); ///< both in bytes
    std::size_t take();                          ///< the next slot's offset in bytes
    std::size_t stride = 0, count = 0, step = 0, next = 0;
};

/// The slots of both sides. They differ only where the source is mapped.
struct SlotPair {
    Slots source, destination;
};

struct Buffers {
    /// See Stopwatch.
    Buffers(const Arena& arena, std::size_t largest_size, std::size_t cache_bytes,
            SmallCalls small);

    /// Of cold copies of `size` bytes.
    SlotPair& slots(std::size_t size);

    const Arena& arena;
    std::size_t cache_bytes;
    std::size_t cold_bytes; ///< of each side, whole pages; behind them is the tail
    std::size_t hot_source; ///< where the source's tail begins: there, or in the map
    std::uint64_t sum_read =
        0;                     ///< what all readers summed up: read_copy of each copy that was read
    std::uint64_t written = 0; ///< what the next source will begin with

    SmallCalls small;
    std::map<int, CallSequence> sequences; ///< of mixes, by level, and of page_end
    std::optional<PageEnds> page_ends;     ///< once there is a sequence of page_end

  private:
    std::map<std::size_t, SlotPair> slots_;
};

} // namespace asterope
