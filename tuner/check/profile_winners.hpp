// The winners of a profile, each with its runner-up, as `check --measure` times them again.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "check/rule.hpp"
#include "machine/machine.hpp"
#include "profile/profile.hpp"
#include "search/objective.hpp"
#include "space/candidates.h"
#include "space/space.hpp"
#include "timing/stopwatch.hpp"
#include "timing/timed_copy.hpp"

namespace asterope {

/// The winner of one size. `tuned` is 1 where the profile does not say.
struct ProfileWinner {
    std::size_t size = 0; ///< bytes; 0: small copies, of all sizes up to their bound
    std::string label;    ///< "4 KiB", "to 256 B", "memset 4 KiB"
    Weights weights;      ///< above 0, adding up to 1
    TimedCopy holder;     ///< the copy, or set, of the routine
    std::optional<TimedCopy> rival;
    TunedResult tuned;
};

/// The winners of a profile, and the objects that they refer to.
class ProfileWinners {
  public:
    /// `has`: this CPU's features. `senses`: whether copies that sense can be used here. If not,
    /// the routine takes the winner that does not sense. If so, that winner is the runner-up.
    /// Throws BadInput if this build and CPU cannot run a winner, and if all weights are 0. It does
    /// so, too, if the sources were mapped, as the mapped file is not known for sure.
    ProfileWinners(const Profile& profile, const HasFeature& has, bool senses);
    ProfileWinners(const ProfileWinners&) = delete; // sensing copies are handed its own addresses
    ProfileWinners& operator=(const ProfileWinners&) = delete;

    /// The winners from coarse to fine, so that a check that stops early has seen the whole range.
    /// The small copies come after the first two. Where memset was tuned, too, its winners take
    /// turns with those of the copies.
    const std::vector<ProfileWinner>& all() const { return winners_; }
    std::size_t operations() const { return operations_; } ///< how many they have
    /// Why the small copies or sets are left out, for the user. Empty where they are not, and where
    /// the profile has no such copies.
    const std::string& small_left_out() const { return small_left_out_; }

  private:
    using Winners = std::vector<ProfileWinner>;
    TimedCopy pipeline(const Candidate& copy, std::size_t size) const;
    TimedCopy sensing(const SensingCopy& copy, std::size_t size);
    ProfileWinner winner_of(const Choice& choice, const Weights& weights);
    std::optional<ProfileWinner> small_winner(const Choice& small, const SearchFacts& search,
                                              const Winners& pipelines);
    Winners winners_of(const Profile& profile, Operation operation);

    HasFeature has_;
    bool senses_;
    std::deque<asterope_sensing> arguments_; ///< never moved
    Winners winners_;
    std::size_t operations_ = 0;
    std::string small_left_out_;
};

/// Pins this process to `cpu` (negative: the last one allowed). Times as many of the winners as
/// fit in some 15 seconds, and prints a row for each and the rule. The verdict is closing_of()'s.
/// Throws BadInput for a CPU that is not allowed, Failure, Interrupted.
Retimed time_winners_again(const ProfileWinners& winners, const Machine& machine, int cpu);

} // namespace asterope
