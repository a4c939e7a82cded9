// The functions that are the same on every processor.
#include "machine/cpu.hpp"

#include <sys/prctl.h>

#include "base/contains.hpp"

namespace asterope {

bool has_feature(const Cpu& cpu, std::string_view name) {
    return contains(cpu.features, name);
}

bool counter_forbidden() {
    int mode = PR_TSC_ENABLE;
    return prctl(PR_GET_TSC, &mode) == 0 && mode != PR_TSC_ENABLE;
}

std::string why_no_sensing() {
    if (counter_forbidden()) return "this process may not read the counter (PR_SET_TSC)";
    return why_counter_is_unfit();
}

} // namespace asterope
