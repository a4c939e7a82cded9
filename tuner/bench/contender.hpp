// A contender: one of the copies that are timed side by side.
#pragma once

#include <string>
#include <vector>

#include "timing/timed_copy.hpp"

namespace asterope {

struct Contender {
    std::string name, description;
    CopyFunction copy;
    bool threaded = false;                   ///< Uses more than the calling thread.
    std::vector<std::string> workloads = {}; ///< It takes part under these. Empty: under all.
    CopyFunction move = nullptr;             ///< Its memmove. Null: its buffers must not overlap.
    bool ours = false;      ///< The routine, by whichever entry point: not its own rival.
    bool reference = false; ///< The routine is judged by it, as by libc.
};

/// libc first, then the routine, then the others. They are told apart by their places.
using Contenders = std::vector<Contender>;

/// A copy, or a suite, that was asked for and is not timed.
struct NotTimed {
    std::string name, reason;
};

} // namespace asterope
