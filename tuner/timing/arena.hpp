// The memory that copies are timed in: two large areas, touched, with huge pages where granted.
#pragma once

#include <cstddef>
#include <optional>

#include "machine/machine.hpp"
#include "timing/fresh_memory.hpp"
#include "timing/source_map.hpp"

namespace asterope {

/// Writes data that no two lines share. Zeros would mislead: on AMD's Zen 4, non-temporal stores of
/// zeros go to memory twice as fast as those of anything else.
void fill_with_data(char* begin, std::size_t bytes);

/// A source and a destination area of equal size, 2 MiB aligned. Every byte is written once, so
/// that no timed copy meets a page fault, the shared zero page or zeros. A source map replaces the
/// source area. It has its own length, is page aligned, and must not be written; every page of it
/// is read once.
class Arena {
  public:
    /// Throws Failure where the memory is not to be had.
    explicit Arena(std::size_t bytes_a_side, std::optional<SourceMap> source_map = std::nullopt);

    const char* source() const { return source_; }
    char* destination() const { return destination_; }
    std::size_t bytes() const { return bytes_; } ///< of the destination
    std::size_t source_bytes() const { return source_map_ ? source_map_->bytes() : bytes_; }
    bool maps_source() const { return source_map_.has_value(); }

    /// The source, to be written. Throws Failure where it is mapped.
    char* writable_source() const;

    /// Reads a byte of each huge page and writes it again, except in a mapped source. The host of a
    /// virtual machine may have taken pages away to see whether they are used. It gives them back
    /// now and not in a sample.
    void touch() const;

  private:
    std::optional<SourceMap> source_map_;
    std::size_t bytes_;
    FreshMemory memory_; ///< the areas that are not mapped from a file
    const char* source_;
    char* destination_;
};

/// Whether a side of the arena may be four times as large as `size`. Where it is no larger, cold
/// copies of this size have one slot: a cache that holds both its sides still has them.
bool has_room_for(std::size_t size, const Machine& machine);

/// The bytes of each side of the arena: the hot buffers of `largest_size`, and cold room. Cold room
/// is four times the last cache level, and at least eight of the largest copies and 256 MiB. So a
/// line is evicted long before it comes round again. Walks get half as much again (see Buffers). A
/// side takes at most 1.25 GiB, or a quarter of usable_memory() where that is less. Throws Failure
/// where three of the largest copies and 1 MiB do not fit.
std::size_t arena_bytes(std::size_t largest_size, const Machine& machine);

} // namespace asterope
