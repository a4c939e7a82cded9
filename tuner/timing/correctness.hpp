// Proves that a copy of unknown origin copies right before it is timed.
#pragma once

#include <functional>
#include <string>

#include "timing/timed_copy.hpp"

namespace asterope {

/// Checks a copy and returns its fault, or "" where it copies right. Faults read "wrong byte 3 of
/// 129 (source +1, destination +63)" or "died: Segmentation fault" or "still runs after 20 s of
/// checking". The fault of a set reads "wrong byte 3 of 129 (value 85, destination +63)".
///
/// A child process does all of it. It calls `find` as well, which looks for the copy: loading a
/// library runs its code. `find` may return nullptr after it has set `reason`. `moves`: overlapping
/// buffers are tried, too. After `seconds` the child has failed. Throws Failure where no child
/// process can be started.
std::string fault_of(const std::function<CopyFunction(std::string& reason)>& find,
                     Operation operation = Operation::copy, bool moves = false,
                     double seconds = 20);

/// The same for a copy that this process has called before. This process checks it, so its state is
/// that after those calls. A copy that crashes or hangs takes the process along, see run_watched().
std::string fault_since(CopyFunction copy, std::string_view name,
                        Operation operation = Operation::copy);

} // namespace asterope
