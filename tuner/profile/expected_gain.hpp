// What the routine is expected to bring the program whose recording it was tuned for.
#pragma once

#include <optional>
#include <string>

#include "profile/make_profile.hpp"
#include "program/program.hpp"

namespace asterope {

/// From the time that the program's copies took, and what the routine's copies were timed at in the
/// same situations. Its interval holds what is uncertain of both, as if each were independent of
/// the others; not how far the workloads are from what the program does.
ProgramOutcome expected_gain(const Program& program, const PipelineFacts& pipelines,
                             const std::optional<SmallFacts>& small, const Weights& small_weights);

/// "redis-server spends 3.1 % of its time copying (2.8 to 3.4). With this routine it is expected to
/// be 1.2 % faster (0.9 to 1.5): asterope-prove measures it." As there and in recordings, faster is
/// the time under libc over the other, less 1.
std::string expected_sentence(const ProgramOutcome& outcome);

} // namespace asterope
