// libc's memcpy, as the application's own calls would reach it.
#pragma once

#include "workload.hpp"

namespace asterope {

/// Through the dynamic linker's choice for this CPU, and such that no compiler can inline it.
CopyFunction libc_copy();

} // namespace asterope
