// Tries a function at many sizes and offsets: it must write the right bytes, and no others.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace asterope {

/// A copy function, the sizes it must copy right at all offsets, and those at a few.
struct CheckedCopy {
    std::function<const void*(void*, const void*, std::size_t)> copy;
    std::vector<std::size_t> sizes;
    std::vector<std::size_t> sizes_at_few_offsets = {};
    /// Instead of copies between buffers, moves within one, up and down: these sizes by every
    /// distance, and those at few offsets by some.
    bool moves = false;
    /// Instead of copies, sets: the second argument is the byte.
    bool sets = false;
};

/// The first fault, or "": "wrong byte 3 of 129 (source +1, destination +63)". The fault of a set
/// reads "wrong byte 3 of 129 (value 85, destination +63)". Canaries stand around the destination.
std::string first_fault(const CheckedCopy& checked);

} // namespace asterope
