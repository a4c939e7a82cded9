// Times a profile's copies again, says of each size whether it holds, and ends in time.
#pragma once

#include "check/contests.hpp"
#include "machine/machine.hpp"

namespace asterope {

/// Pins this process to `cpu` (negative: the last one allowed), times as many of the contests as
/// fit in some 15 seconds, and prints a row for each and the rule. The verdict is closing_of()'s.
/// Throws BadInput for a CPU that is not allowed, Failure, Interrupted.
Retimed time_winners_again(const CheckContests& contests, const Machine& machine, int cpu);

} // namespace asterope
