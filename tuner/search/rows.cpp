// The cheapest rows of each set of pipelines, and the cheapest set.
#include "search/rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "base/contains.hpp"

namespace asterope {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Each further step of a regret beyond the bearable one counts so many times.
constexpr double kBeyondBearable = 4;

/// A copy that cannot be used has this regret. It is finite, as a set that cannot copy two sizes is
/// worse than one that cannot copy one.
constexpr double kRegretOfUnusable = 1e6;

/// The search starts from each of so many best single pipelines.
constexpr std::size_t kStarts = 6;

double score_of(const SizeScores& at_size, const RowCopy& copy) {
    if (!copy.senses) return at_size.plain[copy.pipelines[0]];
    if (at_size.sensed[0].empty()) return -kNever;
    double sum = 0;
    for (std::size_t i = 0; i < kLocalities; ++i) sum += at_size.sensed[i][copy.pipelines[i]];
    if (at_size.read.empty()) return sum;
    return sum + std::max(at_size.read[copy.of(Locality::cached)],
                          at_size.read[copy.of(Locality::uncached)]);
}

/// A memset that senses: `past` goes on where its destination is uncached.
RowCopy one_sided(std::size_t kept, std::size_t past) {
    return {{kept, kept, kept, past}, true};
}

/// The copies that rows may be made of, and the cost of each at each size.
class Costs {
  public:
    Costs(const std::vector<SizeScores>& scores, const std::vector<TimedRowCopy>& timed,
          const RowRules& rules)
        : scores_(scores), timed_(timed), rules_(rules) {
        for (std::size_t size = 0; size < scores.size(); ++size) {
            double best = -kNever, sensed = 0;
            for (std::size_t one = 0; one < pipelines(); ++one) {
                best = std::max(best, worth(size, RowCopy::plain(one)));
            }
            if (rules.one_sided) {
                sensed = best_one_sided(scores[size]);
            } else {
                for (const auto& one : scores[size].sensed) sensed += best_of(one);
            }
            best = std::max(best, sensed);
            for (const TimedRowCopy& one : timed) {
                best = std::max(best, one.scores[size] - handicap(one.copy));
            }
            best_.push_back(best);
        }
    }
    std::size_t sizes() const { return scores_.size(); }
    std::size_t pipelines() const { return scores_.empty() ? 0 : scores_.front().plain.size(); }

    /// How far a copy lies behind the best at a size, when all have their handicaps.
    double regret(std::size_t size, const RowCopy& copy) const {
        const double own = worth(size, copy);
        return std::isfinite(own) ? best_[size] - own : kNever;
    }
    bool usable(std::size_t size, const RowCopy& copy) const {
        return std::isfinite(regret(size, copy));
    }
    /// The costs of a copy by size: its regrets, with the part beyond the bearable one counted
    /// several times. They are remembered, as a search goes through many sets that allow the same
    /// copies.
    const std::vector<double>& of(const RowCopy& copy) const {
        std::size_t key = copy.senses;
        for (const std::size_t one : copy.pipelines) key = key * pipelines() + one;
        std::vector<double>& costs = known_[key];
        if (costs.empty()) {
            for (std::size_t size = 0; size < sizes(); ++size) {
                const double behind = std::min(regret(size, copy), kRegretOfUnusable);
                const double beyond = std::max(0.0, behind - rules_.bearable_regret);
                costs.push_back(behind + (kBeyondBearable - 1) * beyond);
            }
        }
        return costs;
    }

    /// All that these pipelines allow.
    std::vector<RowCopy> copies(const std::vector<std::size_t>& set) const {
        std::vector<RowCopy> copies;
        for (const std::size_t one : set) copies.push_back(RowCopy::plain(one));
        const bool sense =
            std::ranges::any_of(scores_, [](const auto& one) { return !one.sensed[0].empty(); });
        const std::vector<std::size_t> best_produced =
            sense && !rules_.one_sided ? find_best_produced(set) : std::vector<std::size_t>();
        for (const std::size_t cached : sense ? set : std::vector<std::size_t>()) {
            if (rules_.one_sided) {
                for (const std::size_t uncached : set) {
                    if (uncached == cached) continue;
                    copies.push_back(one_sided(cached, uncached));
                }
                continue;
            }
            std::vector<std::size_t> produced = best_produced;
            if (!contains(produced, cached)) produced.push_back(cached);
            for (const std::size_t one : produced) {
                for (const std::size_t fetched : set) {
                    for (const std::size_t uncached : set) {
                        const RowCopy copy{{cached, one, fetched, uncached}, true};
                        if (copy.pipelines != RowCopy::plain(cached).pipelines) {
                            copies.push_back(copy);
                        }
                    }
                }
            }
        }
        for (const TimedRowCopy& one : timed_) {
            if (std::ranges::all_of(one.copy.pipelines, [&](std::size_t pipeline) {
                    return contains(set, pipeline);
                })) {
                copies.push_back(one.copy);
            }
        }
        return copies;
    }

  private:
    /// The pipelines of a set that are worth most for produced data at one size or more. All of
    /// them in all four places would be thousands of copies for each set that is tried.
    std::vector<std::size_t> find_best_produced(const std::vector<std::size_t>& set) const {
        std::vector<std::size_t> found;
        for (const SizeScores& scores : scores_) {
            const auto& worth = scores.sensed[static_cast<std::size_t>(Locality::produced)];
            if (worth.empty() || set.empty()) continue;
            const std::size_t best = *std::ranges::max_element(
                set, {}, [&](std::size_t one) { return worth[one] - handicap(one) / kLocalities; });
            if (!contains(found, best)) found.push_back(best);
        }
        return found;
    }
    /// The score of a copy, less its handicap.
    double worth(std::size_t size, const RowCopy& copy) const {
        const TimedRowCopy* timed = find_in(timed_, copy, &TimedRowCopy::copy);
        return (timed ? timed->scores[size] : score_of(scores_[size], copy)) - handicap(copy);
    }
    double handicap(std::size_t pipeline) const {
        return pipeline < rules_.handicaps.size() ? rules_.handicaps[pipeline] : 0;
    }
    double handicap(const RowCopy& copy) const {
        double sum = 0;
        for (const std::size_t one : copy.pipelines) sum += handicap(one);
        return sum / kLocalities;
    }
    /// The best score of a memset that senses; -kNever where none can.
    double best_one_sided(const SizeScores& at_size) const {
        if (at_size.sensed[0].empty()) return -kNever;
        double best = -kNever;
        for (std::size_t kept = 0; kept < at_size.plain.size(); ++kept) {
            for (std::size_t past = 0; past < at_size.plain.size(); ++past) {
                const RowCopy copy = one_sided(kept, past);
                best = std::max(best, score_of(at_size, copy) - handicap(copy));
            }
        }
        return best;
    }
    /// The best pipeline's part of the scores for a locality, less that part of its handicap.
    double best_of(const std::vector<double>& values) const {
        double best = -kNever;
        for (std::size_t i = 0; i < values.size(); ++i) {
            best = std::max(best, values[i] - handicap(i) / kLocalities);
        }
        return best;
    }

    const std::vector<SizeScores>& scores_;
    const std::vector<TimedRowCopy>& timed_;
    const RowRules& rules_;
    std::vector<double> best_; ///< by size
    mutable std::unordered_map<std::size_t, std::vector<double>> known_;
};

/// A walk over the sizes that remembers, for each copy, the cheapest rows that end with it.
class Walk {
  public:
    Walk(const Costs& costs, const std::vector<std::size_t>& set, const RowRules& rules)
        : costs_(costs), rules_(rules), copies_(costs.copies(set)),
          until_(costs.sizes(), std::vector<double>(copies_.size(), kNever)) {
        std::vector<const double*> cost;
        for (const RowCopy& copy : copies_) cost.push_back(costs.of(copy).data());
        for (std::size_t size = 0; size < costs.sizes(); ++size) {
            const double before = size == 0 ? 0 : until_[size - 1][cheapest(size - 1)];
            for (std::size_t i = 0; i < copies_.size(); ++i) {
                double least = before + price(i);
                if (size > 0) least = std::min(least, until_[size - 1][i]);
                until_[size][i] = least + cost[i][size];
            }
        }
    }

    double cost() const { return until_.back()[cheapest(costs_.sizes() - 1)]; }

    std::vector<Row> rows() const {
        std::vector<Row> rows;
        std::size_t i = cheapest(costs_.sizes() - 1);
        for (std::size_t size = costs_.sizes(); size-- > 0;) {
            bool begins = size + 1 == costs_.sizes();
            if (!begins) {
                const std::size_t other = cheapest(size);
                // Where both cost the same the row goes on.
                if (until_[size][other] + price(i) < until_[size][i]) {
                    i = other;
                    begins = true;
                }
            }
            if (begins) rows.push_back({size, size, copies_[i]});
            rows.back().first = size;
        }
        std::ranges::reverse(rows);
        return rows;
    }

  private:
    double price(std::size_t i) const {
        return rules_.row_price + (copies_[i].senses ? rules_.sense_price : 0);
    }
    std::size_t cheapest(std::size_t size) const {
        return static_cast<std::size_t>(std::ranges::min_element(until_[size]) -
                                        until_[size].begin());
    }

    const Costs& costs_;
    const RowRules& rules_;
    const std::vector<RowCopy> copies_;
    std::vector<std::vector<double>> until_; ///< by size, by copy
};

/// Goes from set to set of pipelines, to a cheaper one each time.
class SetSearch {
  public:
    SetSearch(const Costs& costs, const RowRules& rules, const std::vector<TimedRowCopy>& timed,
              const std::vector<std::size_t>& in_place)
        : costs_(costs), rules_(rules), timed_(timed), in_place_(in_place) {}

    std::vector<Row> find() {
        std::vector<std::pair<double, std::size_t>> singles;
        for (std::size_t one = 0; one < costs_.pipelines(); ++one) {
            singles.emplace_back(cost_of({one}), one);
        }
        std::ranges::sort(singles);
        if (!in_place_.empty()) improve({});
        for (std::size_t i = 0; i < std::min(kStarts, singles.size()); ++i) {
            start_from({singles[i].second});
        }
        // A timed copy needs all of its pipelines at once: added one by one, each would cost more
        // than it brings.
        for (const TimedRowCopy& one : timed_) {
            start_from({one.copy.pipelines.begin(), one.copy.pipelines.end()});
        }
        if (!std::isfinite(least_)) return {};
        std::vector<Row> rows = Walk(costs_, with_in_place(best_), rules_).rows();
        for (const Row& row : rows) {
            for (std::size_t size = row.first; size <= row.last; ++size) {
                if (!costs_.usable(size, row.copy)) return {};
            }
        }
        return rows;
    }

  private:
    using Set = std::vector<std::size_t>; ///< ascending, without those in place

    Set with_in_place(const Set& set) const {
        Set all = set;
        all.insert(all.end(), in_place_.begin(), in_place_.end());
        std::ranges::sort(all);
        return all;
    }
    double cost_of(const Set& set) const {
        const Set all = with_in_place(set);
        if (all.empty()) return kNever;
        double price = 0;
        for (const std::size_t one : set) {
            if (!rules_.pipeline_prices.empty()) price += rules_.pipeline_prices[one];
        }
        return Walk(costs_, all, rules_).cost() + price;
    }

    void start_from(Set set) {
        std::ranges::sort(set);
        set.erase(std::unique(set.begin(), set.end()), set.end());
        std::erase_if(set, [&](std::size_t one) { return contains(in_place_, one); });
        if (!set.empty() && set.size() <= rules_.most_pipelines) improve(std::move(set));
    }

    /// From `set` on, as long as a change of one pipeline makes it cheaper.
    void improve(Set set) {
        double least = cost_of(set);
        for (bool cheaper = true; cheaper;) {
            cheaper = false;
            Set best;
            for (const Set& other : neighbours(set)) {
                const double cost = cost_of(other);
                if (cost < least - 1e-12) {
                    least = cost;
                    best = other;
                    cheaper = true;
                }
            }
            if (cheaper) set = best;
        }
        if (least < least_ - 1e-12) {
            least_ = least;
            best_ = set;
        }
    }

    std::vector<Set> neighbours(const Set& set) const {
        std::vector<Set> sets;
        const auto add = [&](Set other) {
            std::ranges::sort(other);
            sets.push_back(std::move(other));
        };
        for (std::size_t i = 0; i < set.size(); ++i) {
            Set less = set;
            less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
            add(less);
        }
        for (std::size_t one = 0; one < costs_.pipelines(); ++one) {
            if (contains(set, one) || contains(in_place_, one)) continue;
            if (set.size() < rules_.most_pipelines) {
                Set more = set;
                more.push_back(one);
                add(more);
            }
            for (std::size_t i = 0; i < set.size(); ++i) {
                Set other = set;
                other[i] = one;
                add(other);
            }
        }
        return sets;
    }

    const Costs& costs_;
    const RowRules& rules_;
    const std::vector<TimedRowCopy>& timed_;
    const Set in_place_;
    double least_ = kNever;
    Set best_;
};

std::size_t senses_in(const std::vector<Row>& rows) {
    std::vector<RowCopy> senses;
    for (const Row& row : rows) {
        if (row.copy.senses && !contains(senses, row.copy)) senses.push_back(row.copy);
    }
    return senses.size();
}

} // namespace

std::vector<Row> choose_rows(const std::vector<SizeScores>& scores, const RowRules& rules,
                             const std::vector<TimedRowCopy>& timed,
                             const std::vector<std::size_t>& in_place) {
    const Costs costs(scores, timed, rules);
    if (costs.sizes() == 0 || costs.pipelines() == 0) return {};
    std::vector<Row> rows;
    RowRules priced = rules;
    // In small steps: a doubled price may cut five rows to two, although four were allowed. Raised
    // a hundred times, it is beyond every regret.
    constexpr double kDearer = 1.25;
    for (int i = 0; i < 100; ++i) {
        rows = SetSearch(costs, priced, timed, in_place).find();
        const bool many = rows.size() > rules.most_rows;
        const bool many_senses = senses_in(rows) > rules.most_senses;
        if (!many && !many_senses) break;
        if (many) priced.row_price *= kDearer;
        if (many_senses) priced.sense_price *= kDearer;
    }
    return rows;
}

namespace {

/// A row of one size whose lead over a neighbour's copy there may be chance, and the neighbour
/// whose copy replaces its own.
struct ChanceRow {
    std::size_t row, neighbour;
};
std::optional<ChanceRow> find_chance_row(const std::vector<Row>& rows, const Leads& leads) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].first != rows[i].last) continue;
        const auto goes_on = [&](std::size_t other) {
            return other < rows.size() && !leads(rows[i].first, rows[i].copy, rows[other].copy);
        };
        const bool before = i > 0 && goes_on(i - 1), after = goes_on(i + 1);
        if (!before && !after) continue;
        const bool later =
            !before || (after && leads(rows[i].first, rows[i + 1].copy, rows[i - 1].copy));
        return ChanceRow{i, later ? i + 1 : i - 1};
    }
    return std::nullopt;
}

/// Neighbours that are copied alike are one row.
std::vector<Row> joined(const std::vector<Row>& rows) {
    std::vector<Row> all;
    for (const Row& row : rows) {
        if (all.empty() || !(all.back().copy == row.copy)) all.push_back(row);
        all.back().last = row.last;
    }
    return all;
}

} // namespace

std::vector<Row> without_chance_rows(std::vector<Row> rows, const Leads& leads) {
    while (const auto chance = find_chance_row(rows, leads)) {
        rows[chance->row].copy = rows[chance->neighbour].copy;
        rows = joined(rows);
    }
    return rows;
}

std::vector<std::size_t> pipelines_of(const std::vector<Row>& rows) {
    std::vector<std::size_t> all;
    for (const Row& row : rows) {
        for (const std::size_t one : row.copy.pipelines) {
            if (!contains(all, one)) all.push_back(one);
        }
    }
    std::ranges::sort(all);
    return all;
}

} // namespace asterope
