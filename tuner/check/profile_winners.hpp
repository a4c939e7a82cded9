// The winners of a profile, each with its runner-up, as `check --measure` times them again.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "check/rule.hpp"
#include "machine/machine.hpp"
#include "profile/profile.hpp"

namespace asterope {

/// The winner of one size. `tuned` is 1 where the profile does not say.
struct ProfileWinner {
    std::size_t size = 0; ///< bytes; 0: small copies, of all sizes up to their bound
    std::string label;    ///< "4 KiB", "to 256 B", "memset 4 KiB"
    Weights weights;      ///< above 0, adding up to 1
    TimedCopy holder;     ///< the copy, or set, of the routine
    std::optional<TimedCopy> rival = {};
    TunedResult tuned = {};
};

struct ProfileWinners {
    /// From coarse to fine, so that a check that stops early has seen the whole range. The small
    /// copies come after the first two. Where memset was tuned, too, its winners take turns with
    /// those of the copies.
    std::vector<ProfileWinner> all;
    /// Why the small copies are left out, for the user. Empty where they are not, and where the
    /// profile has none.
    std::string small_left_out;
    /// Of sensing copies, which are handed their addresses.
    std::vector<std::unique_ptr<asterope_sensing>> arguments;
};

/// `has`: this CPU's features. `senses`: whether copies that sense can be used here. If not, the
/// routine takes the winner that does not sense. If so, that winner is the runner-up. Throws
/// BadInput if this build and CPU cannot run a winner, and if all weights are 0. It does so, too,
/// if the sources were mapped, as the mapped file is not known for sure.
ProfileWinners winners_of(const Profile& profile, const HasFeature& has, bool senses);

/// Pins this process to `cpu` (negative: the last one allowed). Times as many of the winners as
/// are begun in 16 seconds, in 20 at most, and prints a row for each and the rule. The verdict is
/// closing_of()'s. Throws BadInput for a CPU that is not allowed, Failure, Interrupted.
Retimed time_winners_again(const ProfileWinners& winners, const Machine& machine, int cpu);

} // namespace asterope
