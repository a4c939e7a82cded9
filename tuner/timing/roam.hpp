// Where the buffers of a repeated copy begin in each round of a comparison.
#pragma once

#include <cstddef>
#include <cstdint>

namespace asterope {

/// How much longer than the copies the buffers must be that roam() moves.
inline constexpr std::size_t kRoaming = 4096;

/// Bytes by which both buffers are moved in `round`: less than kRoaming, whole lines. Without it,
/// what the timing loop itself touches (the stack) would alias the same copies in every round.
inline std::size_t roam(std::uint64_t round) {
    return round * 27 % 64 * 64;
}

} // namespace asterope
