// Where the buffers of a call begin, and which sizes outgrow a cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace asterope {

/// Where one call's buffers begin, in bytes past a line.
struct Misalignment {
    std::size_t source, destination;
};

/// Multiples of the golden ratio scatter best. It has 32 bits, so that an instruction can hold it.
inline constexpr std::uint32_t kGolden = 0x9E3779B9u;

inline Misalignment scattered_misalignment(std::uint32_t scattered) {
    return {scattered >> 26, scattered >> 20 & 63};
}

/// The misalignments of the `i`-th call: the whole grid of 64 x 64 in a scattered order. They are
/// computed, not looked up. A table's loads would alias the copy's stores at some page offsets.
/// That took a quarter of the time of a 1 KiB copy, and is not the copy's fault.
inline Misalignment misalignment(std::uint64_t i) {
    return scattered_misalignment(static_cast<std::uint32_t>(i) * kGolden);
}

/// The distance of destinations from their sources modulo 4096: half a page and some lines. So at
/// no misalignment does the CPU mistake a load for one behind a store in flight (4K aliasing).
inline constexpr std::size_t kPhase = 2048 + 5 * 64;

/// How much longer than the copies the buffers must be that roam() moves.
inline constexpr std::size_t kRoaming = 4096;

/// Bytes by which both buffers of a repeated copy are moved in `round`: less than kRoaming, whole
/// lines. Otherwise memory that the timing loop itself touches (the stack) would alias the same
/// copies in every round.
inline std::size_t roam(std::uint64_t round) {
    return round * 27 % 64 * 64;
}

/// The least that a mapped source may have: a copy of `largest_size` bytes at every misalignment
/// and in every line of a page.
constexpr std::size_t source_bytes_needed(std::size_t largest_size) {
    return largest_size + 2 * 4096;
}

/// Whether the two sides of a copy outgrow a cache together. "The same buffers again" are then not
/// cached either. A cache of 0 bytes is one that is not known.
inline bool outgrows(std::size_t size, std::size_t cache_bytes) {
    return cache_bytes > 0 && size > cache_bytes / 2;
}

/// From this size on, in bytes, it matters which copy ran before where nothing is cached. Below, a
/// copy with non-temporal stores waits so long for their end that no other copy's dirty lines show.
inline constexpr std::size_t kSettledFrom = 16 << 10;

/// Copies into fresh memory of at least so many bytes have a whole huge page in their destination,
/// wherever it begins. See Stopwatch::time.
inline constexpr std::size_t kPagesSettledFrom = 4 << 20;

/// See settling_bytes.
inline constexpr std::size_t kMostSettling = std::size_t{64} << 20;

/// The bytes to copy until a last cache of `cache_bytes` is as the copy leaves it. At most 64 MiB:
/// machines report last caches of which a process gets a part only.
inline std::size_t settling_bytes(std::size_t cache_bytes) {
    return std::min(cache_bytes + cache_bytes / 4, kMostSettling);
}

/// The bytes to copy before the first sample of another cache effect. To fill a last cache of more
/// than 64 MiB costs more than it tells. So there the inner caches alone are settled.
///
/// With 260 MiB of last cache, copies of 16 KiB to 8 MiB were as fast behind 16, 64 and 256 MiB, as
/// far as two runs agree. Behind 4 MiB, non-temporal stores had 0.93 of that speed. 64 MiB took a
/// quarter of a search.
inline std::size_t settling_bytes_of_sample(std::size_t cache_bytes) {
    constexpr std::size_t kInner = std::size_t{16} << 20;
    return cache_bytes <= kMostSettling ? settling_bytes(cache_bytes) : kInner;
}

} // namespace asterope
