// Times a winner again beside libc and its runner-up, and tells by a rule whether it still holds.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "search/objective.hpp"
#include "search/race.hpp"

namespace asterope {

/// How far behind a winner must fall, besides the noise, as a share of the other's speed. Code and
/// buffers may move (another process, other pages), which moves timings by a percent. Ties cost up
/// to two (see TieBand). So two good runs may differ by this much.
inline constexpr double kHoldBand = 0.03;

/// Rounds in which a winner is timed. Its interval (sign test, 95 %) leaves out five at each end.
inline constexpr int kHoldRounds = 21;

/// The winner and its runner-up, if it has one, as entrants.
inline constexpr Entrant kHolder = 0, kRival = 1;

/// The figures from when the winner was chosen; 1 where the profile does not say.
struct TunedResult {
    double ratio = 1; ///< libc's time over the winner's, weighted geometric mean
    double lead = 1;  ///< the runner-up's time over the winner's
};

enum class Verdict { holds, behind_libc, behind_rival };

/// The present figures, all as in TunedResult.
struct PresentResult {
    Estimate ratio;
    std::optional<Estimate> lead; ///< Empty without a runner-up.
    Estimate floor;               ///< Libc's time over libc's.
    std::vector<double> rounds{}; ///< Libc's time over the winner's in each round.
    Verdict verdict = Verdict::holds;
};

/// Whether a winner has become slower than it may be. The bound is 1, or `tuned` if that is less:
/// its ratio when it was chosen. A winner may have been slower than libc from the start, or have
/// lost a tie. It is behind where its whole interval `now` lies below that bound by more than
/// kHoldBand and libc's distance from itself.
bool is_behind(const Estimate& now, double tuned, const Estimate& floor);

/// A winner that seems to have fallen behind is timed once more, on fresh rounds. It counts as
/// fallen only if it falls behind again, in the same way. Of two dozen sizes with two comparisons
/// each, one looks bad by chance every so often. The result is of the last time. `size` in bytes, 0
/// for small copies; `weights` above 0, adding up to 1.
PresentResult check_winner(std::size_t size, const Weights& weights, bool with_rival,
                           const TunedResult& tuned, const TimedCopies& timings);

/// So many winners of one operation are needed for a verdict about the whole profile. They come
/// from coarse to fine: the smallest and the largest size, the small copies, and two in between.
inline constexpr std::size_t kFewestTimed = 5;

/// The findings about a whole profile.
struct Retimed {
    struct Count {
        std::size_t fitting = 0; ///< winners whose buffers fit in the memory
        std::size_t timed = 0;   ///< of these
    };
    std::map<Operation, Count> counts = {};
    std::size_t all = 0;        ///< winners that the profile has
    std::string fallen = {};    ///< the labels of those that do not hold: "64 KiB, memset 1 KiB"
    std::string disturbed = {}; ///< why its rounds say nothing; empty where they do

    /// For --json: a row for each winner.
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
};

/// The one line of the conclusion, without its end, and whether the profile is stale. After too few
/// winners, or too many disturbed rounds, it gives no verdict. Then the profile is stale only
/// where it `differs` from this machine.
struct Closing {
    std::string line;
    bool stale;
};
Closing closing_of(const Retimed& retimed, bool differs);

} // namespace asterope
