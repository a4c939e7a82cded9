// libc's memcpy and memmove, as the application's own calls would reach them.
#pragma once

#include "timing/workload.hpp"

namespace asterope {

/// Through the dynamic linker's choice for this CPU, and such that no compiler can inline it.
CopyFunction libc_copy();

/// The same of memmove.
CopyFunction libc_move();

} // namespace asterope
