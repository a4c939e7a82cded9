// Proves that a copy of unknown origin copies right before it is timed.
#pragma once

#include <functional>
#include <string>

#include "timing/timed_copy.hpp"

namespace asterope {

/// What is wrong with a copy, or "": "wrong byte 3 of 129 (source +1, destination +63)", "died:
/// Segmentation fault", "still runs after 20 s"; of a set "wrong byte 3 of 129 (value 85,
/// destination +63)". All is done in a child process: `find` as well, which looks for the copy
/// (loading a library runs its code), and which may return nullptr after it has set `reason`.
/// `moves`: buffers that overlap are tried, too. Throws Failure where no child can be had.
std::string fault_of(const std::function<CopyFunction(std::string& reason)>& find,
                     double seconds = 20, bool moves = false,
                     Operation operation = Operation::copy);

/// The same of a copy that this process has called before, found in this process: what it copies
/// after so many calls. A copy that crashes or hangs takes the process along, see run_watched().
std::string fault_since(CopyFunction copy, std::string_view name,
                        Operation operation = Operation::copy);

} // namespace asterope
