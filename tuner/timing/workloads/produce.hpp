// How much room the sources of produce take.
#pragma once

#include <cstddef>

namespace asterope {

/// Calls in a group, at most: the pages of so many sources fit in the first level of every TLB.
/// Even of 128 bytes, so many copies take a microsecond.
inline constexpr std::size_t kGroupCalls = 32;

/// The most that the sources of a group spread over: each may begin anywhere in its first page.
inline constexpr std::size_t kWrittenRoom = kGroupCalls * 2 * 4096;

} // namespace asterope
