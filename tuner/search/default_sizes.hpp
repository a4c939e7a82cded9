// The transfer sizes that are evaluated where the user names none.
#pragma once

#include <cstddef>
#include <vector>

#include "machine/cpu.hpp"

namespace asterope {

/// Powers of two from 128 bytes to 32 MiB, and just below and above each cache's size (an eighth of
/// it), as far as that lies between: there what the fastest copy is changes. Ascending.
std::vector<std::size_t> default_sizes(const std::vector<Cache>& caches);

} // namespace asterope
