// asterope-tune tunables: which GLIBC_TUNABLES make glibc's memcpy fastest on this machine.
#pragma once

#include <map>
#include <string>

#include "tunables/choice.hpp"

namespace asterope {

/// The tunables that can be set. Throws BadInput where this libc lacks them. `why`: why they could
/// not be listed.
Knobs knobs_of(const std::string& libc, const std::map<std::string, Tunable>& tunables,
               const std::string& why);

} // namespace asterope
