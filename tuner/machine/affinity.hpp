// Keeps the tuner on one CPU.
#pragma once

#include <vector>

namespace asterope {

/// The CPUs that this process may use, ascending. Throws Failure where the system does not tell.
std::vector<int> allowed_cpus();

/// Throws BadInput where `cpu` is not there or not allowed to this process.
void require_allowed(int cpu);

/// Pins this process to `cpu`, or to the last CPU it may use where `cpu` is negative (the first
/// ones take most interrupts). Returns the CPU. Throws BadInput where it is not there or not
/// allowed, Failure where the system refuses.
int pin_to_cpu(int cpu);

/// Pins the calling thread to `cpu`, also if it was pinned to another. Throws Failure where the
/// system refuses.
void pin_this_thread(int cpu);

} // namespace asterope
