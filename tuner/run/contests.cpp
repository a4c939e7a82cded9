// The contests of a run: the near winners of all sizes, timed at each size, and the rows that may
// be made of them.
#include "run/contests.hpp"

#include <algorithm>

namespace asterope {

std::vector<TimedRowCopy> Contests::timed_rows() const {
    std::vector<TimedRowCopy> timed;
    for (const TimedSensing& one : sensing) timed.push_back(one.row);
    return timed;
}

const TimedSensing* Contests::sensing_of(const RowCopy& row) const {
    const auto found =
        std::ranges::find_if(sensing, [&](const auto& one) { return one.row.copy == row; });
    return row.senses && found != sensing.end() ? &*found : nullptr;
}

TimedCopy Contests::copy_of(const Run& run, const RowCopy& row) const {
    const TimedSensing* senses = sensing_of(row);
    return senses ? senses->copy.timed(senses->arguments)
                  : run.copy(contestants[row.pipelines.front()]);
}

void Contests::crown(std::size_t index, std::size_t objective, std::size_t contestant,
                     PipelineFacts& facts) const {
    const Contest& contest = at_size[index];
    SizeResult& result = facts.found[index].results[objective];
    result = contest.race->won_by(contestants[contestant], objective);
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
            if (senses) facts.sensing[i] = {senses->copy, senses->finalists.at(i)};
        }
    }
    findings.rows = std::move(rows);
}

/// Whether `one` is faster than `other` at an evaluated size beyond chance: by the rounds in which
/// both were timed, else by what each was ahead of libc; or `other` was not timed there, so that
/// nothing says that it would do.
bool Contests::leads(std::size_t index, const RowCopy& one, const RowCopy& other,
                     std::size_t objective) const {
    if (!one.senses && !other.senses) {
        const Entrant ours = contestants[one.pipelines.front()],
                      theirs = contestants[other.pipelines.front()];
        return at_size[index].race->lead(ours, theirs, objective).low > 1;
    }
    const auto races = sensing_races.find(index);
    if (races == sensing_races.end()) return true;
    const auto& entrants = races->second.entrants;
    const auto place_of = [&](const RowCopy& copy) -> std::optional<Entrant> {
        const TimedSensing* senses = sensing_of(copy);
        if (copy.senses && !senses) return std::nullopt;
        const auto place =
            std::ranges::find(entrants, std::pair(copy, senses ? senses->copy.probe : nullptr));
        if (place == entrants.end()) return std::nullopt;
        return static_cast<Entrant>(place - entrants.begin());
    };
    const Race& race = *races->second.race;
    const auto ours = place_of(one), theirs = place_of(other);
    if (!theirs || (!ours && one.senses)) return true;
    if (ours) return race.lead(*ours, *theirs).low > 1;
    const Entrant plain = contestants[one.pipelines.front()];
    return at_size[index].race->libc_over(plain, objective).low > race.libc_over(*theirs).high;
}

std::vector<Row> Contests::beyond_chance(std::vector<Row> rows, std::size_t objective,
                                         const std::set<std::size_t>& settled) const {
    return without_chance_rows(
        std::move(rows), [&](std::size_t index, const RowCopy& one, const RowCopy& other) {
            // what two runs have chosen is no chance
            const bool again = objective == 0 && standing[index] == one;
            return again || settled.count(index) > 0 || leads(index, one, other, objective);
        });
}

const Row& row_at(const std::vector<Row>& rows, std::size_t index) {
    return *std::ranges::find_if(rows, [&](const Row& row) { return row.last >= index; });
}

} // namespace asterope
