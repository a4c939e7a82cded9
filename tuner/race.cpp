// The race: times entrants beside libc, keeps the best, and settles it in a run-off.
#include "race.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "paired.hpp"
#include "shuffle.hpp"

namespace asterope {

namespace {

/// Candidates between two timings of libc while screening: near enough that a slow phase of the
/// machine hits both, many enough that libc costs a tenth of the time.
constexpr std::size_t kHeat = 24;

} // namespace

Race::Race(std::size_t size, Weights weights, std::mt19937_64& random, Timings& timings,
           double worst_ratio)
    : size_(size), weights_(std::move(weights)), random_(random), timings_(timings),
      worst_ratio_(worst_ratio) {
    double sum = 0;
    for (const auto& [workload, weight] : weights_) sum += weight;
    for (auto& [workload, weight] : weights_) weight /= sum;
}

void Race::sample(const std::vector<Entrant>& entrants, int samples) {
    for (int i = 0; i < samples; ++i) {
        for (const auto& [workload, weight] : weights_) {
            if (weight > 0) sample_once(entrants, workload);
        }
    }
}

bool Race::acceptable(Entrant entrant) const {
    return std::all_of(weights_.begin(), weights_.end(), [&](const auto& weighted) {
        return weighted.second == 0 || center(entrant, weighted.first) >= std::log(worst_ratio_);
    });
}

void Race::rank(std::vector<Entrant>& entrants) const {
    std::map<Entrant, double> scores; // each from medians of samples: computed once
    for (const Entrant entrant : entrants) {
        double& score = scores[entrant];
        for (const auto& [workload, weight] : weights_) {
            if (weight > 0) score += weight * center(entrant, workload);
        }
    }
    std::stable_sort(entrants.begin(), entrants.end(),
                     [&](Entrant a, Entrant b) { return scores[a] > scores[b]; });
}

std::vector<Entrant> Race::best(std::vector<Entrant> entrants, std::size_t keep) const {
    rank(entrants);
    std::vector<Entrant> kept;
    std::size_t reserved = std::min<std::size_t>(
        keep / 2, static_cast<std::size_t>(std::count_if(
                      entrants.begin(), entrants.end(), [&](Entrant e) { return acceptable(e); })));
    for (const Entrant entrant : entrants) {
        const bool good = acceptable(entrant);
        if (kept.size() + reserved < keep || (good && reserved > 0 && kept.size() < keep)) {
            kept.push_back(entrant);
            if (good && reserved > 0) --reserved;
        }
    }
    return kept;
}

double Race::log_seconds(Workload workload, Entrant entrant) {
    return std::log(timings_.seconds(size_, workload, entrant, round_));
}

double Race::center(Entrant entrant, Workload workload) const {
    return median(samples_.at({entrant, workload}));
}

void Race::sample_once(std::vector<Entrant> entrants, Workload workload) {
    shuffle(entrants, random_);
    for (std::size_t begin = 0; begin < entrants.size(); begin += kHeat, ++round_) {
        const std::size_t end = std::min(begin + kHeat, entrants.size());
        std::vector<double> libc = {log_seconds(workload, kLibc)}, heat;
        for (std::size_t i = begin; i < end; ++i) {
            heat.push_back(log_seconds(workload, entrants[i]));
            if (i == (begin + end) / 2) libc.push_back(log_seconds(workload, kLibc));
        }
        libc.push_back(log_seconds(workload, kLibc));
        const double reference = median(libc);
        for (std::size_t i = begin; i < end; ++i) {
            samples_[{entrants[i], workload}].push_back(reference - heat[i - begin]);
        }
    }
}

SizeResult Race::run_off(const std::vector<Entrant>& finalists, int rounds, Entrant favourite,
                         const TieBand& ties) {
    std::vector<Entrant> everybody = finalists;
    everybody.push_back(kLibc);
    everybody.push_back(kLibcAgain);
    std::vector<Workload> workloads;
    for (const auto& [workload, weight] : weights_) workloads.push_back(workload);
    const Paired paired(everybody, workloads, rounds, round_,
                        [&](Entrant entrant, Workload workload, std::uint64_t round) {
                            return timings_.seconds(size_, workload, entrant, round);
                        });

    SizeResult result{size_, {}, {}, rounds};
    for (const auto& [workload, weight] : weights_) {
        result.noise_floor[workload] = paired.ratio(kLibc, kLibcAgain, workload);
    }
    for (const Entrant entrant : finalists) {
        Finalist finalist{entrant, {}, 0, false};
        double mean = 0;
        for (const auto& [workload, weight] : weights_) {
            const Measured measured{paired.seconds(entrant, workload),
                                    paired.seconds(kLibc, workload),
                                    paired.ratio(kLibc, entrant, workload)};
            mean += weight * std::log(measured.ratio.median);
            finalist.workloads[workload] = measured;
        }
        finalist.ratio = std::exp(mean);
        result.finalists.push_back(finalist);
    }
    const auto loses_nowhere = [&](const Finalist& finalist) {
        return std::all_of(weights_.begin(), weights_.end(), [&](const auto& weighted) {
            return weighted.second == 0 ||
                   finalist.workloads.at(weighted.first).ratio.median >= worst_ratio_;
        });
    };
    auto& ranked = result.finalists;
    std::stable_sort(ranked.begin(), ranked.end(), [&](const Finalist& a, const Finalist& b) {
        return std::tuple(loses_nowhere(a), a.ratio) > std::tuple(loses_nowhere(b), b.ratio);
    });

    // Ties: a lag whose interval reaches 0, or that is smaller than libc's from itself.
    const Entrant leader = ranked.front().candidate;
    const Estimate floor = paired.mean_log_ratio(kLibcAgain, kLibc, weights_);
    const auto ties_with = [&](Entrant one) {
        return [&, one](Entrant other) {
            const Estimate lag = paired.mean_log_ratio(other, one, weights_);
            const double noise = std::max(ties.always, std::abs(floor.median));
            return (lag.low <= 0 || lag.median <= noise) && lag.median <= ties.never;
        };
    };
    const auto ties_with_leader = ties_with(leader);
    Entrant chosen = leader;
    for (const Finalist& finalist : ranked) {
        const Entrant entrant = finalist.candidate;
        if (loses_nowhere(finalist) != loses_nowhere(ranked.front())) continue;
        if (!ties_with_leader(entrant)) continue;
        if (entrant == favourite) {
            chosen = favourite;
            break;
        }
        chosen = std::min(chosen, entrant);
    }
    const auto ties_with_winner = ties_with(chosen);
    for (Finalist& finalist : ranked) finalist.tied = ties_with_winner(finalist.candidate);
    const auto winner = std::find_if(ranked.begin(), ranked.end(),
                                     [&](const Finalist& f) { return f.candidate == chosen; });
    std::rotate(ranked.begin(), winner, winner + 1);
    return result;
}

} // namespace asterope
