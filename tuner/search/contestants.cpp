// The pipelines in the contest, and the worth of each at a size.
#include "search/contestants.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/contains.hpp"
#include "search/utility.hpp"

namespace asterope {

namespace {

/// Two worths that differ by this, as weighted means, count as equal. A run-off of few rounds
/// cannot tell the two apart.
constexpr double kNear = 0.015;

/// The pipelines by falling worth at one size, for one objective, or for the part of the first that
/// a locality has.
using Ranking = std::vector<std::pair<double, Entrant>>;

double worth(const Finalist& finalist, const Weights& weights) {
    double sum = 0, total = 0;
    for (const auto& [workload, weight] : weights) {
        const auto measured = finalist.workloads.find(workload);
        if (weight == 0 || measured == finalist.workloads.end()) continue;
        sum += weight * measured->second.worth;
        total += weight;
    }
    return total > 0 ? sum / total : 0;
}

Weights of_locality(const Weights& weights, Locality locality, bool outgrows) {
    Weights own = weights;
    std::erase_if(own, [&](const auto& one) {
        return one.second == 0 || locality_of(one.first, outgrows) != locality;
    });
    return own;
}

std::vector<Ranking> rankings_of(const std::vector<Found>& found,
                                 const std::vector<Weights>& objectives,
                                 const std::function<bool(std::size_t)>& outgrows) {
    std::vector<Ranking> rankings;
    for (const Found& one : found) {
        const bool is_larger = outgrows(one.results.front().size);
        std::vector<Weights> asked;
        for (const Weights& weights : objectives) {
            asked.push_back(weights_at(one.results.front().size, weights));
        }
        for (std::size_t i = 0; i < kLocalities; ++i) {
            const Weights own = of_locality(asked.front(), static_cast<Locality>(i), is_larger);
            if (!own.empty()) asked.push_back(own);
        }
        for (const Weights& weights : asked) {
            Ranking& ranking = rankings.emplace_back();
            for (const Finalist& finalist : one.results.front().finalists) {
                ranking.emplace_back(worth(finalist, weights), finalist.candidate);
            }
            std::ranges::stable_sort(ranking, std::greater(), &Ranking::value_type::first);
        }
    }
    return rankings;
}

/// Adds the contestants that cover most of the rankings, until each is covered. `place`: 0 for the
/// best. Pipelines from that place on cover a ranking if they are nearly as good as the one there.
void cover(const std::vector<Ranking>& rankings, std::size_t place, std::size_t most,
           std::vector<Entrant>& chosen) {
    std::set<std::size_t> open;
    std::vector<std::vector<Entrant>> near(rankings.size());
    for (std::size_t i = 0; i < rankings.size(); ++i) {
        const Ranking& ranked = rankings[i];
        if (place >= ranked.size()) continue;
        for (std::size_t k = place; k < ranked.size(); ++k) {
            if (ranked[k].first >= ranked[place].first - kNear) near[i].push_back(ranked[k].second);
        }
        const auto is_chosen = [&](Entrant one) { return contains(chosen, one); };
        if (std::ranges::none_of(near[i], is_chosen)) open.insert(i);
    }
    while (!open.empty() && chosen.size() < most) {
        std::map<Entrant, std::size_t> covered;
        for (const std::size_t i : open) {
            for (const Entrant one : near[i]) ++covered[one];
        }
        const auto best =
            std::ranges::max_element(covered, {}, [](const auto& one) { return one.second; });
        chosen.push_back(best->first);
        std::erase_if(open, [&](std::size_t i) { return contains(near[i], best->first); });
    }
}

/// How far a pipeline's loop goes beyond the paper's. `paper` does not. `blocks`: temporal stores
/// in blocks of four lines. `full`: such blocks and four pages side by side; temporal stores also
/// prefetch the destination. `other` is any other loop.
///
/// Loops that go farther or lie between were as fast as one of these (a Xeon with AMX, 20 temporal
/// and 40 non-temporal loops). Chance decides which of them wins. Blocks copy cached data as fast
/// as the paper's loop. They copy 1.2 times as fast into untouched pages (a Zen 4, 128 KiB to 512
/// KiB, with AVX; the cause was not found).
enum class Loop { paper, blocks, full, other };

Loop loop_of(const Candidate& candidate) {
    if (!candidate.is_marked()) return Loop::paper;
    const bool temporal = std::string_view(candidate.variant->st) == "T";
    bool blocks = temporal, full = true;
    for (const asterope_axis& axis : candidate.axes()) {
        const std::string_view field = axis.field;
        const auto is = [&](int value) { return candidate.value(axis) == AxisValue(value); };
        const bool unmarked = !candidate.is_marked(axis);
        blocks = blocks && (field == "tb" ? is(4) : unmarked);
        full = full && (field == "tb" || field == "pi" ? is(4)
                        : field == "pw" && temporal    ? is(2)
                                                       : unmarked);
    }
    return blocks ? Loop::blocks : full ? Loop::full : Loop::other;
}

/// The lines that a prefetch stage of a standard pipeline fetches: a block of the paper's. Into new
/// small pages YMM registers then had 1.25 of libc's speed. With 4 lines they had 1.06, and without
/// prefetches 1.03 (96 KiB to 12 MiB, Zen 4; the cause was not found). Cached destinations saw no
/// difference.
constexpr int kUsualPrefetch = 2;

bool is_standard(const Candidate& candidate) {
    const asterope_variant& v = *candidate.variant;
    const Loop loop = loop_of(candidate);
    if (std::string_view(v.lt) == "NT" || loop == Loop::other) return false;
    if (!candidate.prefetches()) return true;
    const bool usual = std::string_view(v.pt) == "T0" && v.ps == kUsualPrefetch;
    return loop == Loop::paper && usual && (candidate.pd == 4 || candidate.pd == 16);
}

/// A loop of the paper's that prefetches nothing.
bool is_unprefetched_paper(const Candidate& candidate) {
    return !candidate.prefetches() && !candidate.is_marked();
}

} // namespace

StandardPipelines::StandardPipelines(const std::vector<Candidate>& space,
                                     const std::function<bool(Entrant)>& right) {
    for (std::size_t i = 0; i < space.size(); ++i) {
        const Entrant entrant = i;
        if (!is_standard(space[i]) || !right(entrant)) continue;
        by_registers_[space[i].variant->rt].push_back(entrant);
        if (space[i].variant->whole && !whole_) whole_ = entrant;
        all_.insert(entrant);
    }
}

const std::vector<Entrant>& StandardPipelines::like(const Candidate& candidate) const {
    static const std::vector<Entrant> none;
    const auto found = by_registers_.find(candidate.variant->rt);
    return found == by_registers_.end() ? none : found->second;
}

std::vector<Entrant> choose_contestants(const std::vector<Found>& found,
                                        const std::vector<Weights>& objectives,
                                        const std::function<bool(std::size_t)>& outgrows,
                                        const std::vector<Candidate>& space,
                                        const StandardPipelines& standard, Entrant plain,
                                        std::size_t most) {
    std::vector<Entrant> covering;
    const std::vector<Ranking> rankings = rankings_of(found, objectives, outgrows);
    for (std::size_t place = 0; place < 3; ++place) cover(rankings, place, most, covering);
    std::vector<Entrant> chosen;
    if (plain != kLibc) chosen.push_back(plain);
    const auto add = [&](Entrant entrant, std::size_t places) {
        if (chosen.size() < places && !contains(chosen, entrant)) chosen.push_back(entrant);
    };
    if (standard.whole()) add(*standard.whole(), most);
    // Prefetching loops come before larger ones. The larger loops of three register types would
    // fill all places.
    for (const auto& [prefetching, marked] :
         {std::pair{false, false}, {true, false}, {false, true}}) {
        for (const Entrant one : covering) {
            for (const Entrant like : standard.like(space[one.index()])) {
                const Candidate& candidate = space[like.index()];
                if (candidate.prefetches() != prefetching || candidate.is_marked() != marked)
                    continue;
                add(like, most * 2 / 3);
            }
        }
    }
    for (const Entrant one : covering) add(one, most);
    // Ties go to the simplest: the first in the space.
    std::sort(chosen.begin() + (plain != kLibc), chosen.end());
    return chosen;
}

std::vector<double> prices_of(const std::vector<Entrant>& contestants,
                              const StandardPipelines& standard,
                              const std::vector<Candidate>& space) {
    constexpr double kUnprefetched = 0, kStandard = 0.03, kOther = 0.08;
    std::vector<double> prices;
    for (const Entrant one : contestants) {
        const Candidate& candidate = space[one.index()];
        const double own = is_unprefetched_paper(candidate) ? kUnprefetched : kStandard;
        prices.push_back(standard.has(one) ? own : kOther);
    }
    return prices;
}

std::vector<double> handicaps_of(const std::vector<Entrant>& contestants,
                                 const StandardPipelines& standard,
                                 const std::vector<Candidate>& space) {
    std::vector<double> handicaps;
    for (const Entrant one : contestants) {
        const Candidate& candidate = space[one.index()];
        const bool other = candidate.variant->whole && one != standard.whole();
        const bool simple = standard.has(one) && !other;
        const double share = !simple ? 1 : is_unprefetched_paper(candidate) ? 0 : 0.5;
        handicaps.push_back(share * TieBand().never);
    }
    return handicaps;
}

void share_scores(std::size_t size, const std::vector<Entrant>& contestants,
                  const std::vector<Candidate>& space, SizeScores& scores) {
    std::map<std::string_view, std::vector<std::size_t>> alike; // by register type
    for (std::size_t i = 0; i < contestants.size(); ++i) {
        const asterope_variant& v = *space[contestants[i].index()].variant;
        const bool timed = std::isfinite(scores.plain[i]);
        if (timed && !v.whole && size <= short_way(v)) alike[v.rt].push_back(i);
    }
    for (const auto& [rt, places] : alike) {
        double sum = 0;
        for (const std::size_t i : places) sum += scores.plain[i];
        for (const std::size_t i : places) {
            scores.plain[i] = sum / static_cast<double>(places.size());
        }
    }
}

SizeScores scores_of(const SizeResult& result, const Weights& weights,
                     const std::vector<Entrant>& contestants, const std::optional<ProbeNs>& probe,
                     bool outgrows, const std::vector<bool>& temporal, bool one_sided) {
    const Weights here = weights_at(result.size, weights);
    constexpr auto kFetched = static_cast<std::size_t>(Locality::fetched);
    SizeScores scores;
    scores.plain.assign(contestants.size(), -std::numeric_limits<double>::infinity());
    if (probe) scores.sensed.fill(std::vector<double>(contestants.size(), 0));
    if (probe && one_sided) scores.read.assign(contestants.size(), 0);
    for (const Finalist& finalist : result.finalists) {
        const auto found = std::find(contestants.begin(), contestants.end(), finalist.candidate);
        if (found == contestants.end()) continue;
        const auto place = static_cast<std::size_t>(found - contestants.begin());
        scores.plain[place] = result.undecided ? 0 : finalist.score;
        if (!probe || result.undecided) continue;
        for (const auto& [workload, weight] : here) {
            if (weight == 0) continue;
            const Locality data = locality_of(workload, outgrows);
            const auto locality = static_cast<std::size_t>(data);
            const Measured& measured = finalist.workloads.at(workload);
            const double log_ratio = std::log(measured.judged_ratio().median);
            const double slower = std::log1p((*probe)[locality] / measured.ns);
            const double share =
                weight * (measured.worth - (utility(log_ratio) - utility(log_ratio - slower)));
            // Behind a probe that finds its destination uncached, a copy heeds its reader.
            const bool uncached = data == Locality::uncached || data == Locality::produced;
            const bool heeded = !temporal.empty() && facts_of(workload).reads && uncached;
            double& sum = !heeded     ? scores.sensed[locality][place]
                          : one_sided ? scores.read[place]
                                      : scores.sensed[kFetched][place];
            sum += share;
        }
        if (!temporal.empty() && !one_sided && !temporal[place]) {
            scores.sensed[kFetched][place] = -std::numeric_limits<double>::infinity();
        }
    }
    return scores;
}

} // namespace asterope
