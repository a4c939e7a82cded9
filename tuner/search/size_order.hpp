// The order in which sizes are searched: from coarse to fine, so that a run that ends early has
// covered the whole range.
#pragma once

#include <cstddef>
#include <vector>

namespace asterope {

/// The indices of `count` ascending sizes: the first, the last, then the middle of each gap that is
/// left, the gaps from below to above, and so on until there is none.
std::vector<std::size_t> coarse_to_fine(std::size_t count);

/// The indices of the nearest sizes below and above `index` that are done, the lower one first;
/// less than two where one or both are not there. What won there is likely to be good here, too.
std::vector<std::size_t> nearest_done(const std::vector<bool>& done, std::size_t index);

} // namespace asterope
