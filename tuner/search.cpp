// Finds the winner of one transfer size: drops the hopeless, then re-times the rest in a run-off.
#include "search.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "error.hpp"
#include "paired.hpp"
#include "shuffle.hpp"

namespace asterope {

namespace {

/// Candidates between two timings of libc while screening: near enough that a slow phase of the
/// machine hits both, many enough that libc costs a tenth of the time.
constexpr std::size_t kHeat = 24;

/// A lag below this is a tie however quiet the machine: what moves code or buffers, another run or
/// the routine's own build, moves timings by as much.
constexpr double kNarrowestTie = 0.01;

/// However noisy the machine, a lag beyond this is no tie: two runs may then choose differently
/// among tied candidates, but never lose more than this by it.
constexpr double kWidestTie = 0.02;

bool contains(const std::vector<int>& values, int value) {
    return std::find(values.begin(), values.end(), value) != values.end();
}

/// One size's search: the samples so far and the steps that add to them.
class Race {
  public:
    Race(std::size_t size, const std::vector<Workload>& workloads, std::mt19937_64& random,
         Timings& timings)
        : size_(size), workloads_(workloads), random_(random), timings_(timings) {}

    /// Adds `samples` log ratios to each entrant under each workload.
    void sample(const std::vector<Entrant>& entrants, int samples) {
        for (int i = 0; i < samples; ++i) {
            for (const Workload workload : workloads_) sample_once(entrants, workload);
        }
    }

    /// Mean over the workloads of the median log ratio to libc.
    double score(Entrant entrant) const {
        double sum = 0;
        for (const Workload workload : workloads_) sum += center(entrant, workload);
        return sum / static_cast<double>(workloads_.size());
    }

    bool acceptable(Entrant entrant) const {
        return std::all_of(workloads_.begin(), workloads_.end(), [&](Workload workload) {
            return center(entrant, workload) >= std::log(kWorstRatio);
        });
    }

    /// The best `keep`. Half of the places belong to those that lose nowhere, as one of them wins
    /// where there is one.
    std::vector<Entrant> best(std::vector<Entrant> entrants, std::size_t keep) const {
        rank(entrants);
        std::vector<Entrant> kept;
        std::size_t reserved = std::min<std::size_t>(
            keep / 2,
            static_cast<std::size_t>(std::count_if(entrants.begin(), entrants.end(),
                                                   [&](Entrant e) { return acceptable(e); })));
        for (const Entrant entrant : entrants) {
            const bool good = acceptable(entrant);
            if (kept.size() + reserved < keep || (good && reserved > 0 && kept.size() < keep)) {
                kept.push_back(entrant);
                if (good && reserved > 0) --reserved;
            }
        }
        return kept;
    }

    void rank(std::vector<Entrant>& entrants) const {
        std::map<Entrant, double> scores; // each is a median of samples: computed once
        for (const Entrant entrant : entrants) scores[entrant] = score(entrant);
        std::stable_sort(entrants.begin(), entrants.end(),
                         [&](Entrant a, Entrant b) { return scores[a] > scores[b]; });
    }

    SizeResult run_off(const std::vector<Entrant>& finalists, int rounds, Entrant neighbour);

  private:
    double log_seconds(Workload workload, Entrant entrant) {
        return std::log(timings_.seconds(size_, workload, entrant, round_));
    }

    double center(Entrant entrant, Workload workload) const {
        return median(samples_.at({entrant, workload}));
    }

    /// Heats of shuffled entrants, libc at the beginning, in the middle and at the end of each.
    void sample_once(std::vector<Entrant> entrants, Workload workload) {
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

    std::size_t size_;
    const std::vector<Workload>& workloads_;
    std::mt19937_64& random_;
    Timings& timings_;
    std::uint64_t round_ = 0;
    std::map<std::pair<Entrant, Workload>, std::vector<double>> samples_; ///< log(libc / own)
};

SizeResult Race::run_off(const std::vector<Entrant>& finalists, int rounds, Entrant neighbour) {
    std::vector<Entrant> everybody = finalists;
    everybody.push_back(kLibc);
    everybody.push_back(kLibcAgain);
    const Paired paired(everybody, workloads_, rounds, round_,
                        [&](Entrant entrant, Workload workload, std::uint64_t round) {
                            return timings_.seconds(size_, workload, entrant, round);
                        });

    SizeResult result{size_, {}, {}, rounds};
    for (const Workload workload : workloads_) {
        result.noise_floor[workload] = paired.ratio(kLibc, kLibcAgain, workload);
    }
    for (const Entrant entrant : finalists) {
        Finalist finalist{entrant, {}, 0, false};
        double mean = 0;
        for (const Workload workload : workloads_) {
            const Measured measured{paired.seconds(entrant, workload),
                                    paired.seconds(kLibc, workload),
                                    paired.ratio(kLibc, entrant, workload)};
            mean += std::log(measured.ratio.median) / static_cast<double>(workloads_.size());
            finalist.workloads[workload] = measured;
        }
        finalist.ratio = std::exp(mean);
        result.finalists.push_back(finalist);
    }
    const auto loses_nowhere = [&](const Finalist& finalist) {
        return std::all_of(finalist.workloads.begin(), finalist.workloads.end(),
                           [](const auto& w) { return w.second.ratio.median >= kWorstRatio; });
    };
    auto& ranked = result.finalists;
    std::stable_sort(ranked.begin(), ranked.end(), [&](const Finalist& a, const Finalist& b) {
        return std::tuple(loses_nowhere(a), a.ratio) > std::tuple(loses_nowhere(b), b.ratio);
    });

    // Ties: a lag whose interval reaches 0, or that is smaller than libc's from itself.
    const Entrant leader = ranked.front().candidate;
    const Estimate floor = paired.mean_log_ratio(kLibcAgain, kLibc);
    const auto ties_with = [&](Entrant one) {
        return [&, one](Entrant other) {
            const Estimate lag = paired.mean_log_ratio(other, one);
            const double noise = std::max(kNarrowestTie, std::abs(floor.median));
            return (lag.low <= 0 || lag.median <= noise) && lag.median <= kWidestTie;
        };
    };
    const auto ties_with_leader = ties_with(leader);
    Entrant chosen = leader;
    for (const Finalist& finalist : ranked) {
        const Entrant entrant = finalist.candidate;
        if (loses_nowhere(finalist) != loses_nowhere(ranked.front())) continue;
        if (!ties_with_leader(entrant)) continue;
        if (entrant == neighbour) {
            chosen = neighbour;
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

} // namespace

Rigor parse_rigor(std::string_view text) {
    if (text == "quick") {
        return {"quick", {2, 8}, {0, 8, 20}, 4, 1, {{40, 2}, {12, 4}}, 5, 9};
    }
    if (text == "standard") {
        return {"standard", {2, 6, 12}, {0, 4, 12, 24}, 10, 1, {{120, 2}, {40, 4}}, 8, 15};
    }
    if (text == "exhaustive") return {"exhaustive", {}, {}, 0, 2, {{400, 2}, {80, 4}}, 10, 21};
    throw BadInput("rigor '" + std::string(text.substr(0, 40)) +
                   "' is unknown: choose quick, standard or exhaustive");
}

namespace {

using Family = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;

Family family_of(const Candidate& candidate) {
    const asterope_variant& v = *candidate.variant;
    return {v.rt, v.lt, v.st, v.pt};
}

bool is_coarse(const Rigor& rigor, const Candidate& candidate) {
    return rigor.coarse_ps.empty() || !candidate.prefetches() ||
           (contains(rigor.coarse_ps, candidate.variant->ps) &&
            contains(rigor.coarse_pd, candidate.pd));
}

} // namespace

std::size_t planned_trials(const Rigor& rigor, const std::vector<Candidate>& space) {
    const auto coarse = static_cast<std::size_t>(std::count_if(
        space.begin(), space.end(), [&](const Candidate& c) { return is_coarse(rigor, c); }));
    std::size_t trials = coarse * static_cast<std::size_t>(rigor.screening_samples);
    trials += static_cast<std::size_t>(rigor.families) * 7 * asterope_distance_count;
    for (const Rigor::Cut& cut : rigor.cuts) {
        trials += std::min(space.size(), static_cast<std::size_t>(cut.keep)) *
                  static_cast<std::size_t>(cut.samples);
    }
    return trials + static_cast<std::size_t>((rigor.finalists + 3) * rigor.rounds);
}

SizeResult search_size(const std::vector<Candidate>& space, const std::vector<Entrant>& entrants,
                       std::size_t size, const std::vector<Workload>& workloads, const Rigor& rigor,
                       Entrant neighbour, std::mt19937_64& random, Timings& timings) {
    if (entrants.empty()) throw Failure("no candidate copies right on this machine");
    Race race(size, workloads, random, timings);

    std::vector<Entrant> alive, rest;
    for (const Entrant entrant : entrants) {
        const bool coarse = is_coarse(rigor, space[static_cast<std::size_t>(entrant)]);
        (coarse ? alive : rest).push_back(entrant);
    }
    if (alive.empty()) std::swap(alive, rest);
    race.sample(alive, rigor.screening_samples);

    // The families with the best coarse member are searched whole.
    if (!rest.empty()) {
        std::vector<Entrant> ranked = race.best(alive, alive.size());
        race.rank(ranked);
        std::vector<Family> families;
        const auto admit = [&](bool only_acceptable, int places) {
            for (const Entrant entrant : ranked) {
                if (places == 0) break;
                const Candidate& candidate = space[static_cast<std::size_t>(entrant)];
                const Family family = family_of(candidate);
                if (only_acceptable && !race.acceptable(entrant)) continue;
                if (std::find(families.begin(), families.end(), family) != families.end()) continue;
                families.push_back(family);
                if (candidate.prefetches()) --places;
            }
        };
        admit(true, rigor.families / 2);
        admit(false, rigor.families - rigor.families / 2);
        std::vector<Entrant> expanded;
        for (const Entrant entrant : rest) {
            const Family family = family_of(space[static_cast<std::size_t>(entrant)]);
            if (std::find(families.begin(), families.end(), family) != families.end()) {
                expanded.push_back(entrant);
            }
        }
        race.sample(expanded, rigor.screening_samples);
        alive.insert(alive.end(), expanded.begin(), expanded.end());
    }

    for (const Rigor::Cut& cut : rigor.cuts) {
        alive = race.best(alive, static_cast<std::size_t>(cut.keep));
        race.sample(alive, cut.samples);
    }
    std::vector<Entrant> finalists = race.best(alive, static_cast<std::size_t>(rigor.finalists));
    // What may win a tie must run: the neighbour's winner, and the leaders without their prefetch.
    // Where a copy is too short to prefetch, hundreds of candidates are one and the same.
    std::vector<Entrant> plain;
    for (std::size_t i = 0; i < finalists.size() && i < 2; ++i) {
        const asterope_variant& leader = *space[static_cast<std::size_t>(finalists[i])].variant;
        for (const Entrant entrant : entrants) {
            const asterope_variant& v = *space[static_cast<std::size_t>(entrant)].variant;
            if (v.ps == 0 && std::string_view(v.rt) == leader.rt &&
                std::string_view(v.lt) == leader.lt && std::string_view(v.st) == leader.st) {
                plain.push_back(entrant);
            }
        }
    }
    if (neighbour != kLibc) plain.push_back(neighbour);
    for (const Entrant entrant : plain) {
        if (!contains(finalists, entrant)) finalists.push_back(entrant);
    }
    return race.run_off(finalists, rigor.rounds, neighbour);
}

} // namespace asterope
