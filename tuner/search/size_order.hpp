// The sizes that are searched, in their order: from coarse to fine, so that a run that ends early
// has covered the whole range.
#pragma once

#include <cstddef>
#include <vector>

#include "machine/cpu.hpp"

namespace asterope {

/// The largest usual size. Some rigors add larger ones; a quick search may do without this one.
inline constexpr std::size_t kUsualLargest = std::size_t{32} << 20;

/// See default_sizes.
inline constexpr std::size_t kAllCoarseSizes = 0, kNoCoarseSizes = ~std::size_t{0};

/// Powers of two from 128 bytes to 32 MiB, but every second one from the size `coarse_from` on.
/// Within that range it adds sizes just below and above each cache's size (an eighth of it), where
/// the fastest copy changes. Where sizes are coarse these are below 16 MiB. Where all are coarse it
/// adds none, and has no 32 MiB if the last cache holds both sides of such a copy. Then 64 MiB and
/// 256 MiB, up to `largest`: arrays and frames are as large, and the last row serves all above it.
/// Ascending.
std::vector<std::size_t> default_sizes(const std::vector<Cache>& caches,
                                       std::size_t coarse_from = kNoCoarseSizes,
                                       std::size_t largest = kUsualLargest);

/// The indices of `count` ascending sizes. The first and the last come first. Then comes the middle
/// of each gap that is left, the lower gaps first, until all are closed.
std::vector<std::size_t> coarse_to_fine(std::size_t count);

} // namespace asterope
