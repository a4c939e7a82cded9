// Samples are interleaved with libc's in heats; a run-off compares finalists inside each round.
#include "search/race.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>

#include "base/contains.hpp"
#include "base/random.hpp"
#include "search/utility.hpp"
#include "timing/paired.hpp"

namespace asterope {

namespace {

/// The most candidates in a heat. Caches settle once for each of its cache effects. With 24
/// candidates, settling took half of a standard search's screening. The heat is small enough that a
/// disturbed one does not repeat much.
///
/// A stretch is the candidates between two of libc's timings, near enough that a slow phase of the
/// machine hits both. (The order of cache effects then takes those of other effects away from
/// libc.)
constexpr std::size_t kHeat = 96, kStretch = 12;

} // namespace

const Finalist& SizeResult::of(Entrant finalist) const {
    return *std::ranges::find(finalists, finalist, &Finalist::candidate);
}

Race::Race(std::size_t size, const std::vector<Weights>& objectives, const TimedCopies& timings,
           const std::mt19937_64& random)
    : size_(size), timings_(timings), random_(random) {
    for (const Weights& asked : objectives) {
        objectives_.push_back(weights_at(size, asked));
        for (const auto& [workload, weight] : objectives_.back()) {
            if (!contains(workloads_, workload)) workloads_.push_back(workload);
        }
    }
}

void Race::sample(const std::vector<Entrant>& entrants, int samples, Weighed weighed) {
    timings_.enter(Timings::Stage::screening);
    for (int i = 0; i < samples; ++i) {
        for (const Workload workload : workloads_) {
            const bool counts = std::ranges::any_of(objectives_, [&](const Weights& weights) {
                const Weights asked =
                    weighed == Weighed::from_start ? screening_weights(weights) : weights;
                return std::ranges::any_of(asked, [&](const auto& weighted) {
                    return weighted.first == workload && weighted.second > 0;
                });
            });
            if (counts) sample_once(entrants, workload);
        }
    }
}

void Race::rank(std::vector<Entrant>& entrants, std::size_t objective) const {
    if (entrants.empty()) return;
    std::map<Entrant, double> scores; // each from medians of samples: computed once
    for (const auto& weighted : objectives_[objective]) { // clang 14 cannot capture a binding
        const Workload workload = weighted.first;
        const bool known = std::ranges::all_of(entrants, [&](Entrant entrant) {
            return samples_.count({entrant, workload}) > 0;
        });
        if (weighted.second == 0 || !known) continue;
        const double best = best_center(workload);
        for (const Entrant entrant : entrants) {
            scores[entrant] += weighted.second * utility(center(entrant, workload) - best);
        }
    }
    std::ranges::stable_sort(entrants, [&](Entrant a, Entrant b) { return scores[a] > scores[b]; });
}

std::vector<Entrant> Race::best_for(std::size_t objective, std::vector<Entrant> entrants,
                                    std::size_t keep) const {
    rank(entrants, objective);
    entrants.resize(std::min(entrants.size(), keep));
    return entrants;
}

std::vector<Entrant> Race::best(const std::vector<Entrant>& entrants, std::size_t keep) const {
    const std::size_t others = objectives_.size() - 1;
    std::vector<Entrant> kept = best_for(0, entrants, keep);
    for (std::size_t objective = 1; objective <= others; ++objective) {
        const std::size_t share = std::max<std::size_t>(1, keep / 2 / others);
        for (const Entrant entrant : best_for(objective, entrants, share)) {
            if (!contains(kept, entrant)) kept.push_back(entrant);
        }
    }
    return kept;
}

double Race::center(Entrant entrant, Workload workload) const {
    return median(samples_.at({entrant, workload}));
}

/// The center of the better of libc and the references.
double Race::best_center(Workload workload) const {
    double best = 0; // libc's
    for (const Entrant reference : timings_.references()) {
        best = std::max(best, center(reference, workload));
    }
    return best;
}

void Race::sample_once(std::vector<Entrant> entrants, Workload workload) {
    shuffle(entrants, random_);
    for (std::size_t begin = 0; begin < entrants.size(); begin += kHeat, ++round_) {
        const std::size_t end = std::min(begin + kHeat, entrants.size());
        // libc at the beginning, at the end and between, among entrants of its cache effect.
        const std::size_t stretch = std::clamp<std::size_t>((end - begin) / 2, 1, kStretch);
        std::vector<Entrant> heat;
        for (std::size_t i = begin; i < end; ++i) {
            if ((i - begin) % stretch == 0) heat.push_back(kLibc);
            heat.push_back(entrants[i]);
        }
        heat.push_back(kLibc);
        const std::vector<Entrant> references = timings_.references();
        heat.insert(heat.begin() + std::ssize(heat) / 2, references.begin(), references.end());
        order_.apply(heat, [&](Entrant entrant) { return timings_.leaves(entrant); });
        std::vector<double> times; // their logarithms, of the last try
        do {
            times.clear();
            for (const Entrant entrant : heat) {
                const Sample sample = timings_.sample(size_, workload, entrant, round_);
                times.push_back(std::log(sample.seconds()));
            }
        } while (timings_.end_round());
        std::vector<std::ptrdiff_t> libc;
        for (std::size_t i = 0; i < heat.size(); ++i) {
            if (heat[i] == kLibc) libc.push_back(static_cast<std::ptrdiff_t>(i));
        }
        const auto libc_around = [&](std::size_t i) { // the median of three, or of all
            const auto next = std::ranges::lower_bound(libc, static_cast<std::ptrdiff_t>(i));
            const std::ptrdiff_t most = std::max<std::ptrdiff_t>(0, std::ssize(libc) - 3);
            const auto first =
                libc.begin() + std::clamp<std::ptrdiff_t>(next - libc.begin() - 2, 0, most);
            std::vector<double> around;
            for (auto one = first; one != libc.end() && one - first < 3; ++one) {
                around.push_back(times[static_cast<std::size_t>(*one)]);
            }
            return median(around);
        };
        for (std::size_t i = 0; i < heat.size(); ++i) {
            if (heat[i] == kLibc) continue;
            samples_[{heat[i], workload}].push_back(libc_around(i) - times[i]);
        }
    }
}

std::vector<SizeResult> Race::run_offs(const std::vector<Entrant>& finalists, int rounds,
                                       const std::vector<std::vector<Entrant>>& favourites,
                                       Entrant plain, const TieBand& ties) {
    timings_.enter(Timings::Stage::run_off);
    std::vector<Entrant> everybody = finalists;
    everybody.push_back(kLibc);
    everybody.push_back(kLibcAgain);
    std::vector<PairedWorkload> timed;
    for (const Workload workload : workloads_) {
        const auto every = [&](const Weights& weights) { return run_off_every(weights, workload); };
        timed.emplace_back(workload, std::ranges::min(objectives_ | std::views::transform(every)));
    }
    for (const Entrant reference : timings_.references()) everybody.push_back(reference);
    run_off_ =
        RunOff{Paired(everybody, timed, rounds, round_, timings_, size_), finalists, rounds, ties};
    round_ += static_cast<std::uint64_t>(rounds);
    std::vector<SizeResult> results;
    for (std::size_t i = 0; i < objectives_.size(); ++i) {
        results.push_back(choose(objectives_[i], favourites[i], plain));
    }
    return results;
}

Measured Race::measured(Entrant entrant, Workload workload) const {
    const Paired& paired = run_off_->paired;
    Measured one{paired.seconds(entrant, workload) * 1e9, paired.seconds(kLibc, workload) * 1e9,
                 paired.ratio(kLibc, entrant, workload)};
    const std::vector<Entrant> references = timings_.references();
    if (!references.empty()) {
        Entrant best = kLibc;
        for (const Entrant other : references) {
            if (paired.seconds(other, workload) < paired.seconds(best, workload)) best = other;
        }
        one.best_ratio = paired.ratio(best, entrant, workload);
        one.best_reference = timings_.reference_name(best);
    }
    const double floor = std::log(paired.ratio(kLibc, kLibcAgain, workload).median);
    one.noise = std::max(kLossNoise, std::abs(floor));
    one.worth = utility(std::log(one.judged_ratio().median), one.noise);
    return one;
}

/// The finalists with the run-off's figures, by falling score.
std::vector<Finalist> Race::ranked_finalists(const Weights& weights) const {
    std::vector<Finalist> ranked;
    for (const Entrant entrant : run_off_->finalists) {
        Finalist finalist{entrant, {}, 0, false};
        double mean = 0;
        for (const Workload workload : workloads_) {
            finalist.workloads[workload] = measured(entrant, workload);
        }
        for (const auto& [workload, weight] : weights) {
            const Measured& here = finalist.workloads[workload];
            mean += weight * std::log(here.ratio.median);
            finalist.score += weight * here.worth;
        }
        finalist.ratio = std::exp(mean);
        ranked.push_back(finalist);
    }
    std::ranges::stable_sort(ranked, std::greater(), &Finalist::score);
    return ranked;
}

namespace {

/// The run-off's figures for one objective; it says which lags count as ties.
struct Lags {
    const Paired& paired;
    const Weights& weights;
    const TieBand& ties;
    Estimate floor = paired.mean_log_ratio(kLibcAgain, kLibc, weights); ///< libc behind itself

    /// How far `one` is behind `other`, as a logarithm.
    Estimate lag(Entrant one, Entrant other) const {
        return paired.mean_log_ratio(one, other, weights);
    }
    /// Whether the lag's interval reaches 0, or it is at most ties.always or libc's lag behind
    /// itself. A lag above ties.never does not tie.
    ///
    /// A lag is the median of the rounds' means. A score is a mean over the workloads' medians, as
    /// reports show them. Under heavy tails the two differ by more than a tie may cost. Only scores
    /// count losses several times. So both must tie.
    bool tie(const Finalist& one, const Finalist& other) const {
        const Estimate behind = lag(one.candidate, other.candidate);
        const double noise = std::max(ties.always, std::abs(floor.median));
        return (behind.low <= 0 || behind.median <= noise) && behind.median <= ties.never &&
               other.score - one.score <= ties.never;
    }
    bool lost_in_noise() const {
        return std::max(std::abs(floor.low), std::abs(floor.high)) > std::log(kWidestFloor);
    }
};

/// The first favourite among the tied ones, else the lowest index.
Entrant pick(const std::vector<Entrant>& tied, const std::vector<Entrant>& favourites) {
    for (const Entrant favourite : favourites) {
        if (contains(tied, favourite)) return favourite;
    }
    return *std::ranges::min_element(tied);
}

} // namespace

SizeResult Race::choose(const Weights& weights, const std::vector<Entrant>& favourites,
                        Entrant plain) const {
    std::vector<Finalist> ranked = ranked_finalists(weights);
    const Lags lags{run_off_->paired, weights, run_off_->ties};
    std::vector<Entrant> tied;
    for (const Finalist& finalist : ranked) {
        if (lags.tie(finalist, ranked.front())) tied.push_back(finalist.candidate);
    }
    const Entrant chosen = pick(tied, favourites);
    const bool undecided = lags.lost_in_noise() && contains(run_off_->finalists, plain) &&
                           lags.lag(plain, chosen).low <= 0;
    SizeResult result = crowned(undecided ? plain : chosen, weights, std::move(ranked));
    result.undecided = undecided;
    return result;
}

SizeResult Race::won_by(Entrant winner, std::size_t objective) const {
    const Weights& weights = objectives_[objective];
    return crowned(winner, weights, ranked_finalists(weights));
}

SizeResult Race::crowned(Entrant chosen, const Weights& weights,
                         std::vector<Finalist> ranked) const {
    const auto& [paired, finalists, rounds, ties] = *run_off_;
    const Lags lags{paired, weights, ties};
    const auto winner = std::ranges::find(ranked, chosen, &Finalist::candidate);
    std::rotate(ranked.begin(), winner, winner + 1);
    for (Finalist& finalist : ranked) finalist.tied = lags.tie(finalist, ranked.front());
    SizeResult result{size_, std::move(ranked), {}, rounds};
    for (const Workload workload : workloads_) {
        result.noise_floor[workload] = paired.ratio(kLibc, kLibcAgain, workload);
    }
    for (const auto& [workload, weight] : weights) {
        if (weight == 0) continue;
        const auto screened = samples_.find({chosen, workload});
        if (screened != samples_.end()) result.samples += screened->second.size();
        result.samples += paired.rounds(chosen, workload);
    }
    if (result.finalists.size() > 1) {
        result.lead = exponentiate(lags.lag(result.finalists[1].candidate, chosen));
    }
    return result;
}

SizeResult race_beside_first(const std::vector<Entrant>& entrants, std::size_t size,
                             const Weights& weights, int rounds, const TimedCopies& timings) {
    return Race(size, weights, timings.against(0)).run_off(entrants, rounds, 0, 0);
}

} // namespace asterope
