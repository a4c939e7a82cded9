// The cheapest rows of each set of pipelines, and the cheapest set.
#include "search/rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/contains.hpp"
#include "base/error.hpp"

namespace asterope {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// What each further step of a regret beyond the bearable one counts.
constexpr double kBeyondBearable = 4;

/// By size, by pipeline: what the pipeline costs there. Row-major, so that the many walks over it
/// stay in one piece of memory.
class Costs {
  public:
    Costs(const PipelineScores& scores, double bearable)
        : sizes_(scores.size()), pipelines_(scores.empty() ? 0 : scores.front().size()) {
        for (const std::vector<double>& at_size : scores) {
            const double best = *std::max_element(at_size.begin(), at_size.end());
            for (const double score : at_size) {
                const double regret = std::isfinite(score) ? best - score : kNever;
                costs_.push_back(regret + (kBeyondBearable - 1) * std::max(0.0, regret - bearable));
            }
        }
    }
    std::size_t sizes() const { return sizes_; }
    std::size_t pipelines() const { return pipelines_; }
    double at(std::size_t size, std::size_t pipeline) const {
        return costs_[size * pipelines_ + pipeline];
    }

  private:
    std::size_t sizes_, pipelines_;
    std::vector<double> costs_;
};

/// What the cheapest rows of these pipelines cost, rows included.
double cost_of(const Costs& costs, const std::vector<std::size_t>& set, double row_price) {
    std::vector<double> until(set.size(), row_price); // of rows that end with this pipeline
    double cheapest = 0;
    for (std::size_t size = 0; size < costs.sizes(); ++size) {
        const double changed = cheapest + row_price; // to another row, at this size
        cheapest = kNever;
        for (std::size_t i = 0; i < set.size(); ++i) {
            const double before = size == 0 ? row_price : std::min(until[i], changed);
            until[i] = before + costs.at(size, set[i]);
            cheapest = std::min(cheapest, until[i]);
        }
    }
    return cheapest;
}

/// These rows themselves: the same walk, with the way back.
std::vector<Row> rows_of(const Costs& costs, const std::vector<std::size_t>& set,
                         double row_price) {
    std::vector<std::vector<double>> until(costs.sizes(), std::vector<double>(set.size()));
    const auto cheapest_at = [&](std::size_t size) {
        return static_cast<std::size_t>(std::min_element(until[size].begin(), until[size].end()) -
                                        until[size].begin());
    };
    for (std::size_t size = 0; size < costs.sizes(); ++size) {
        for (std::size_t i = 0; i < set.size(); ++i) {
            const double before =
                size == 0 ? row_price
                          : std::min(until[size - 1][i],
                                     until[size - 1][cheapest_at(size - 1)] + row_price);
            until[size][i] = before + costs.at(size, set[i]);
        }
    }
    std::vector<Row> rows;
    std::size_t i = cheapest_at(costs.sizes() - 1);
    for (std::size_t size = costs.sizes(); size-- > 0;) {
        if (size + 1 == costs.sizes()) {
            rows.push_back({size, size, set[i]});
        } else {
            const std::size_t other = cheapest_at(size);
            if (until[size][other] + row_price < until[size][i]) {
                i = other;
                rows.push_back({size, size, set[i]});
            } else {
                rows.back().first = size;
            }
        }
    }
    std::reverse(rows.begin(), rows.end());
    return rows;
}

/// Goes through the sets of pipelines and keeps the cheapest.
class CheapestSet {
  public:
    CheapestSet(const Costs& costs, const RowRules& rules, double row_price,
                const std::vector<std::size_t>& in_place)
        : costs_(costs), rules_(rules), row_price_(row_price), in_place_(in_place), set_(in_place) {
        consider();
        extend(0);
    }
    const std::vector<std::size_t>& best() const { return best_; }

  private:
    void consider() {
        if (set_.empty()) return;
        const double cost = cost_of(costs_, set_, row_price_) +
                            rules_.pipeline_price * static_cast<double>(added());
        if (cost < least_) {
            least_ = cost;
            best_ = set_;
        }
    }
    std::size_t added() const { return set_.size() - in_place_.size(); }
    void extend(std::size_t from) {
        if (added() == rules_.most_pipelines) return;
        for (std::size_t next = from; next < costs_.pipelines(); ++next) {
            if (contains(in_place_, next)) continue;
            set_.push_back(next);
            consider();
            extend(next + 1);
            set_.pop_back();
        }
    }

    const Costs& costs_;
    const RowRules& rules_;
    const double row_price_;
    const std::vector<std::size_t>& in_place_;
    std::vector<std::size_t> set_, best_;
    double least_ = kNever;
};

} // namespace

std::vector<Row> choose_rows(const PipelineScores& scores, const RowRules& rules,
                             const std::vector<std::size_t>& in_place) {
    const Costs costs(scores, rules.bearable_regret);
    if (costs.pipelines() > 32) throw Failure("too many pipelines to choose rows from");
    if (costs.sizes() == 0 || costs.pipelines() == 0) return {};
    std::vector<Row> rows;
    // A price that doubles thirty times is beyond every regret.
    double price = rules.row_price;
    for (int i = 0; i < 30; ++i, price *= 2) {
        const CheapestSet sets(costs, rules, price, in_place);
        if (sets.best().empty()) return {};
        rows = rows_of(costs, sets.best(), price);
        if (rows.size() <= rules.most_rows) break;
    }
    return rows;
}

Regret regret_of(const std::vector<Row>& rows, const PipelineScores& scores) {
    Regret regret;
    std::size_t sizes = 0;
    for (const Row& row : rows) {
        for (std::size_t size = row.first; size <= row.last; ++size, ++sizes) {
            const double behind = *std::max_element(scores[size].begin(), scores[size].end()) -
                                  scores[size][row.pipeline];
            regret.mean += behind;
            regret.worst = std::max(regret.worst, behind);
        }
    }
    if (sizes > 0) regret.mean /= static_cast<double>(sizes);
    return regret;
}

} // namespace asterope
