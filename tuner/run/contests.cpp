// Weighs the contests' results: a row changes only where the rounds show it beyond chance.
#include "run/contests.hpp"

#include <algorithm>
#include <cmath>

#include "base/contains.hpp"
#include "base/statistics.hpp"
#include "timing/cache_effect.hpp"

namespace asterope {

namespace {

/// Below this median of libc's time over its own, a copy is clearly slower.
constexpr double kClearlySlower = 0.93;

/// A copy from this ratio on gains beyond the noise.
constexpr double kGains = 1.03;

/// The workloads of the objective that count at a size and whose destinations are cached.
std::vector<Workload> cached_workloads(std::size_t size, const Weights& weights) {
    std::vector<Workload> cached;
    for (const auto& [workload, weight] : counting(weights_at(size, weights))) {
        if (facts_of(workload).destination_cached) cached.push_back(workload);
    }
    return cached;
}

/// Whether a copy that stores past the caches may do so without a probe. It may not if it is
/// clearly slower than libc under a counting workload whose destination was cached. (A copy before
/// left it there, or the kernel that cleared it.) In a loop such a copy would evict data that it
/// found cached.
bool may_store_past_caches(const Weights& counted, const RatioOf& ratio) {
    return std::ranges::none_of(counted, [&](const auto& one) {
        const WorkloadFacts& facts = facts_of(one.first);
        return (facts.destination_cached || facts.fresh) && ratio(one.first) < kClearlySlower;
    });
}

} // namespace

std::vector<TimedRowCopy> Contests::timed_rows() const {
    std::vector<TimedRowCopy> timed;
    for (const TimedSensing& one : sensing) timed.push_back(one.row);
    return timed;
}

std::vector<SizeScores> Contests::scores_by(const OperationRun& run, std::size_t objective) const {
    std::vector<SizeScores> by_size;
    for (const Contest& one : at_size) {
        const SizeResult& result = one.results[objective];
        by_size.push_back(scores_of(result, run.objectives[objective].weights, contestants));
        share_scores(result.size, contestants, run.spaces.space, by_size.back());
    }
    return by_size;
}

void Contests::forbid_unprobed(const OperationRun& run, std::size_t objective,
                               std::vector<SizeScores>& scores) const {
    for (std::size_t index = 0; index < scores.size(); ++index) {
        const SizeResult& result = at_size[index].results[objective];
        for (const Finalist& one : result.finalists) {
            const auto found = std::ranges::find(contestants, one.candidate);
            if (found == contestants.end()) continue;
            const auto place = static_cast<std::size_t>(found - contestants.begin());
            const auto ratio = [&](Workload workload) {
                return one.workloads.at(workload).judged_ratio().median;
            };
            if (!may_take_unprobed(run, one.candidate, result.size,
                                   run.objectives[objective].weights, ratio)) {
                scores[index].plain[place] = kWorthOfUnusable;
            }
            std::vector<double>& cached =
                scores[index].sensed[static_cast<std::size_t>(Locality::cached)];
            if (!cached.empty() && run.copy(one.candidate).cache_effect == kNonTemporal) {
                cached[place] = kWorthOfUnusable;
            }
        }
    }
}

const TimedSensing* Contests::sensing_of(const RowCopy& row) const {
    if (!row.senses) return nullptr;
    return find_in(sensing, row, [](const TimedSensing& one) { return one.row.copy; });
}

TimedCopy Contests::copy_of(const OperationRun& run, const RowCopy& row, std::size_t index) const {
    const TimedSensing* senses = sensing_of(row);
    return senses ? senses->at.at(index).timed() : run.copy(contestants[row.pipelines.front()]);
}

void Contests::crown(std::size_t index, std::size_t objective, std::size_t contestant,
                     PipelineFacts& facts) const {
    const Contest& contest = at_size[index];
    SizeResult& result = facts.found[index].results[objective];
    result = contest.race.won_by(contestants[contestant], objective);
    result.undecided = contest.results[objective].undecided;
}

void Contests::take_rows(std::vector<Row> rows, Findings& findings) const {
    PipelineFacts& facts = findings.pipelines;
    const std::vector<std::size_t> pipelines = pipelines_of(rows);
    for (const Row& row : rows) {
        std::size_t winner = row.copy.pipelines.front();
        const TimedSensing* senses = sensing_of(row.copy);
        if (senses) {
            const auto worth = [&](std::size_t pipeline) {
                double sum = 0;
                for (std::size_t i = row.first; i <= row.last; ++i) {
                    sum += scores[i].plain[pipeline];
                }
                return sum;
            };
            winner = *std::ranges::max_element(
                pipelines, [&](std::size_t a, std::size_t b) { return worth(a) < worth(b); });
        }
        for (std::size_t i = row.first; i <= row.last; ++i) {
            crown(i, 0, winner, facts);
            facts.sensing[i].reset();
            if (!senses) continue;
            const TimedSensing::AtSize& here = senses->at.at(i);
            facts.sensing[i] = {here.copy, here.finalist.value()};
        }
    }
    findings.rows = std::move(rows);
}

/// Whether `one` is faster than `other` at an evaluated size beyond chance. The rounds in which
/// both were timed decide, else the lead of each over libc. The answer is also yes where `other`
/// was not timed there: it is not known to be good enough then.
bool Contests::leads(std::size_t index, const RowCopy& one, const RowCopy& other,
                     std::size_t objective) const {
    if (!one.senses && !other.senses) {
        const Entrant ours = contestants[one.pipelines.front()],
                      theirs = contestants[other.pipelines.front()];
        return at_size[index].race.lead(ours, theirs, objective).low > 1;
    }
    const auto races = sensing_races.find(index);
    if (races == sensing_races.end()) return true;
    const auto& entrants = races->second.entrants;
    const auto place_of = [&](const RowCopy& copy) -> std::optional<Entrant> {
        const TimedSensing* senses = sensing_of(copy);
        if (copy.senses && !senses) return std::nullopt;
        const auto place =
            std::ranges::find(entrants, std::pair(copy, senses ? senses->probe : nullptr));
        if (place == entrants.end()) return std::nullopt;
        return Entrant(place - entrants.begin());
    };
    const Race& race = races->second.race;
    const auto ours = place_of(one), theirs = place_of(other);
    if (!theirs || (!ours && one.senses)) return true;
    if (ours) return race.lead(*ours, *theirs).low > 1;
    const Entrant plain = contestants[one.pipelines.front()];
    return at_size[index].race.libc_over(plain, objective).low > race.libc_over(*theirs).high;
}

std::vector<Row> Contests::beyond_chance(std::vector<Row> rows,
                                         const std::vector<SizeScores>& scores,
                                         std::size_t objective,
                                         const std::set<std::size_t>& settled) const {
    return without_chance_rows(
        std::move(rows), [&](std::size_t index, const RowCopy& one, const RowCopy& other) {
            // Two runs have chosen it, so chance has not.
            const bool again = objective == 0 && standing[index] == one;
            const TimedSensing* senses = sensing_of(other);
            const double worth =
                senses ? senses->row.scores[index] : scores[index].plain[other.pipelines.front()];
            const bool forbidden = std::isinf(worth);
            return again || forbidden || settled.count(index) > 0 ||
                   leads(index, one, other, objective);
        });
}

bool may_set_past_caches(const Weights& counted, const RatioOf& ratio) {
    const auto reads = [](const auto& one) { return facts_of(one.first).reads; };
    const bool gains = std::ranges::any_of(
        counted, [&](const auto& one) { return reads(one) && ratio(one.first) >= kGains; });
    return may_store_past_caches(counted, ratio) && (gains || std::ranges::none_of(counted, reads));
}

bool may_take_unprobed(const OperationRun& run, Entrant entrant, std::size_t size,
                       const Weights& weights, const RatioOf& ratio) {
    if (!run.may_take(entrant, size)) return false;
    if (run.copy(entrant).cache_effect != kNonTemporal) return true;
    const Weights counted = counting(weights_at(size, weights));
    if (!facts_of(run.plan.operation).reads) return may_set_past_caches(counted, ratio);
    return run.outgrows_caches(size) || may_store_past_caches(counted, ratio);
}

bool loses_where_cached(const Race& race, Entrant entrant, std::size_t size,
                        const Weights& weights) {
    const std::vector<Workload> cached = cached_workloads(size, weights);
    if (cached.empty()) return false;
    const Estimate ratio = sign_interval(race.libc_over_by_round(entrant, equal_weights(cached)));
    return ratio.median < kClearlySlower && ratio.high < 1;
}

const Row& row_at(const std::vector<Row>& rows, std::size_t index) {
    return *std::ranges::find_if(rows, [&](const Row& row) { return row.last >= index; });
}

} // namespace asterope
