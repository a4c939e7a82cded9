// Linux's affinity masks; where several CPUs are allowed, the last one is taken.
#include "machine/affinity.hpp"

#include <cerrno>
#include <cstring>
#include <sched.h>
#include <string>

#include "base/contains.hpp"
#include "base/error.hpp"

namespace asterope {

std::vector<int> allowed_cpus() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        throw Failure(std::string("cannot read the CPU affinity: ") + std::strerror(errno));
    }
    std::vector<int> cpus;
    for (int i = 0; i < CPU_SETSIZE; ++i) {
        if (CPU_ISSET(i, &allowed)) cpus.push_back(i);
    }
    return cpus;
}

void require_allowed(int cpu) {
    if (!contains(allowed_cpus(), cpu)) {
        throw BadInput("CPU " + std::to_string(cpu) +
                       " is not there or not allowed to this process: see 'taskset -p $$'");
    }
}

int pin_to_cpu(int cpu) {
    if (cpu < 0) {
        cpu = allowed_cpus().back();
    } else {
        require_allowed(cpu);
    }
    pin_this_thread(cpu);
    return cpu;
}

void pin_this_thread(int cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) {
        throw Failure("cannot pin to CPU " + std::to_string(cpu) + ": " + std::strerror(errno));
    }
}

} // namespace asterope
