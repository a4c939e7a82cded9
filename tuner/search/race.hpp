// The race: times entrants beside libc, keeps the best, and settles it in a run-off.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/statistics.hpp"
#include "search/objective.hpp"
#include "space/limits.hpp"
#include "timing/cache_effect.hpp"
#include "timing/paired.hpp"
#include "timing/timed_copies.hpp"
#include "timing/workload.hpp"

namespace asterope {

/// How a copy did under one workload; times in ns are medians of a call. In race_beside_first(),
/// entrant 0 has libc's place: libc_ns is its time.
struct Measured {
    double ns = 0, libc_ns = 0;
    Estimate ratio{1, 1, 1}; ///< libc's time over the copy's, paired in each round
    /// The same ratio for the fastest of libc and the references, and the name of that one.
    std::optional<Estimate> best_ratio = std::nullopt;
    std::string best_reference = {};
    double noise = kLossNoise; ///< a loss inside it, as a logarithm, counts once
    double worth = 0;          ///< the worth of the logarithm of the judged ratio, see utility()

    /// The ratio that a copy is judged by.
    const Estimate& judged_ratio() const { return best_ratio ? *best_ratio : ratio; }
};

struct Finalist {
    Entrant candidate;
    std::map<Workload, Measured> workloads;
    double ratio;     ///< weighted geometric mean of the workloads' median ratios
    bool tied;        ///< its lag behind the winner is inside the noise, or it was faster
    double score = 0; ///< weighted mean of the judged ratios' worths, see utility()
};

/// The floor's interval may reach this far from 1, by the objective's weights. Beyond it a race
/// tells little: a winner must lead the plain copy beyond doubt, or the plain copy wins. On an idle
/// machine the interval reaches 1.05. On a shared one it seldom exceeds 1.2. A limit of 1.5 would
/// take real winners from a machine on which a sample in twenty is interrupted.
inline constexpr double kWidestFloor = 2;

struct SizeResult {
    std::size_t size;
    std::vector<Finalist> finalists;          ///< The winner first, then the next in line.
    std::map<Workload, Estimate> noise_floor; ///< libc's time over libc's, paired alike
    int rounds;
    /// How often the winner was timed in this race, screening and run-off, under the workloads that
    /// count for it.
    std::size_t samples = 0;
    /// The winner's lead: the time of the runner-up, finalists[1], over its own, by the objective's
    /// weights; 1 where it was not measured. It can be below 1 if the winner won a tie, or if the
    /// runner-up loses more in one of the workloads.
    Estimate lead{1, 1, 1};
    /// Noise hid which copy is the fastest, see kWidestFloor. The plain copy won this race. The
    /// winner may be another one, if its worth at other sizes has crowned it.
    bool undecided = false;

    Entrant winner() const { return finalists.front().candidate; }
    /// The findings about one of the finalists.
    const Finalist& of(Entrant finalist) const;
};

/// The lags behind the best that count as ties, as logarithms of the ratio.
struct TieBand {
    /// Lags up to this tie if the score does not lag by more than `never`. Timings move as much
    /// where code or buffers move (another run, the routine's build).
    double always = 0.01;
    /// Larger lags never tie, however noisy the machine. Two runs may choose differently among tied
    /// candidates, but lose no more than this by it.
    double never = 0.02;
};

/// One race: the samples so far and the steps that add to them. It may be run for several
/// objectives at once: each entrant is timed once, and each objective ranks and chooses for itself.
class Race {
  public:
    /// `objectives`: the first is the one that matters most, see best(). Each counts the workloads
    /// that are timed at that size (weights_at). `random` shuffles the entrants of sample(). A
    /// race that is a run-off alone has no use for it.
    Race(std::size_t size, const std::vector<Weights>& objectives, const TimedCopies& timings,
         const std::mt19937_64& random = {});
    Race(std::size_t size, const Weights& weights, const TimedCopies& timings,
         const std::mt19937_64& random = {})
        : Race(size, std::vector<Weights>{weights}, timings, random) {}

    /// from_start: the workloads of screening_weights(). all: every one above 0.
    enum class Weighed { from_start, all };

    /// Adds `samples` log ratios to each entrant under each workload that `weighed` selects.
    /// Shuffled entrants make up heats. libc takes part before each stretch of a heat and at its
    /// end. Then the heat is put in the order of cache effects, and all of libc's timings lie among
    /// those of its own.
    void sample(const std::vector<Entrant>& entrants, int samples,
                Weighed weighed = Weighed::from_start);

    /// Sorts by falling weighted mean of the median ratios' worths (see utility). A workload counts
    /// only if all entrants were sampled under it.
    void rank(std::vector<Entrant>& entrants, std::size_t objective = 0) const;

    /// The best `keep` of the first objective. The others share half as many places more, but each
    /// has at least one.
    std::vector<Entrant> best(const std::vector<Entrant>& entrants, std::size_t keep) const;

    /// Times the finalists anew, each in every round, and chooses for each objective, which has its
    /// own favourites. The first favourite among the tied copies wins, else the lowest index.
    /// `plain`, one of the finalists, wins where noise hides the differences, see kWidestFloor. If
    /// it is kLibc, noise makes no copy the winner.
    std::vector<SizeResult> run_offs(const std::vector<Entrant>& finalists, int rounds,
                                     const std::vector<std::vector<Entrant>>& favourites,
                                     Entrant plain = kLibc, const TieBand& ties = {});

    /// The same where there is one objective.
    SizeResult run_off(const std::vector<Entrant>& finalists, int rounds, Entrant favourite,
                       Entrant plain = kLibc, const TieBand& ties = {}) {
        return run_offs(finalists, rounds, {{favourite}}, plain, ties).front();
    }

    /// libc's time over the entrant's in the last run-off, by the objective's weights; kLibcAgain:
    /// the floor.
    Estimate libc_over(Entrant entrant, std::size_t objective = 0) const {
        return exponentiate(
            run_off_->paired.mean_log_ratio(kLibc, entrant, objectives_[objective]));
    }
    /// The same in each of its rounds.
    std::vector<double> libc_over_by_round(Entrant entrant, const Weights& weights) const {
        std::vector<double> ratios = run_off_->paired.log_ratios(kLibc, entrant, weights);
        for (double& ratio : ratios) ratio = std::exp(ratio);
        return ratios;
    }
    std::vector<double> libc_over_by_round(Entrant entrant) const {
        return libc_over_by_round(entrant, objectives_.front());
    }

    /// The other's time over the one's in the last run-off. Both must have run in it.
    Estimate lead(Entrant one, Entrant other, std::size_t objective = 0) const {
        return exponentiate(run_off_->paired.mean_log_ratio(other, one, objectives_[objective]));
    }

    /// The result of the last run-off if `winner`, one of its finalists, wins. It was chosen by
    /// more than this race, say by its worth at other sizes. The run-off's ties count.
    SizeResult won_by(Entrant winner, std::size_t objective = 0) const;

  private:
    /// The figures of a run-off and its entrants.
    struct RunOff {
        Paired paired;
        std::vector<Entrant> finalists;
        int rounds;
        TieBand ties;
    };

    double center(Entrant entrant, Workload workload) const;
    double best_center(Workload workload) const;
    void sample_once(std::vector<Entrant> entrants, Workload workload);
    std::vector<Entrant> best_for(std::size_t objective, std::vector<Entrant> entrants,
                                  std::size_t keep) const;
    Measured measured(Entrant entrant, Workload workload) const;
    std::vector<Finalist> ranked_finalists(const Weights& weights) const;
    SizeResult choose(const Weights& weights, const std::vector<Entrant>& favourites,
                      Entrant plain) const;
    SizeResult crowned(Entrant winner, const Weights& weights, std::vector<Finalist> ranked) const;

    std::size_t size_;
    std::vector<Weights> objectives_;
    std::vector<Workload> workloads_; ///< of all objectives, at any weight
    TimedCopies timings_;
    std::mt19937_64 random_;
    std::uint64_t round_ = 0;
    CacheEffectOrder order_;
    std::optional<RunOff> run_off_;                                       ///< the last one
    std::map<std::pair<Entrant, Workload>, std::vector<double>> samples_; ///< log(libc / own)
};

/// A race at one size between a copy, entrant 0, and other ways to carry it out, simplest first.
/// Libc does not take part. A loss to entrant 0 counts several times, see utility(). Ties, and
/// differences that noise hides, go to it, then to the simplest.
SizeResult race_beside_first(const std::vector<Entrant>& entrants, std::size_t size,
                             const Weights& weights, int rounds, const TimedCopies& timings);

} // namespace asterope
