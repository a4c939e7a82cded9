// The advantage of doubt: finds the copy that stands at each size, and favours it.
#include "search/favour.hpp"

#include <algorithm>
#include <cmath>

namespace asterope {

double doubt_of(const SizeResult& race, const Weights& weights) {
    double doubt = 0, sum = 0;
    for (const auto& [workload, weight] : weights_at(race.size, weights)) {
        const auto floor = race.noise_floor.find(workload);
        if (!(weight > 0) || floor == race.noise_floor.end()) continue;
        doubt += weight * std::abs(std::log(floor->second.median));
        sum += weight;
    }
    return std::max(kDoubt, sum > 0 ? 2 * doubt / sum : 0);
}

std::vector<std::optional<RowCopy>> standing_copies(const Standing& standing,
                                                    const std::vector<std::size_t>& sizes,
                                                    const std::vector<std::string>& contestants) {
    std::vector<std::optional<RowCopy>> copies;
    for (const std::size_t size : sizes) {
        std::optional<RowCopy>& copy = copies.emplace_back();
        if (standing.rows.empty()) continue;
        const auto row = std::ranges::find_if(
            standing.rows, [&](const Standing::Row& one) { return size <= one.up_to; });
        const auto& names = (row == standing.rows.end() ? standing.rows.back() : *row).pipelines;
        if (names.size() != 1 && names.size() != kLocalities) continue;
        RowCopy found{{}, names.size() > 1};
        bool all = true;
        for (std::size_t i = 0; i < kLocalities; ++i) {
            const auto place = std::ranges::find(contestants, names[found.senses ? i : 0]);
            all = all && place != contestants.end();
            found.pipelines[i] = static_cast<std::size_t>(place - contestants.begin());
        }
        if (all) copy = found;
    }
    return copies;
}

void favour(const std::vector<std::optional<RowCopy>>& standing, const std::vector<double>& doubts,
            std::vector<SizeScores>& scores, const std::vector<TimedRowCopy*>& timed,
            RowRules& rules) {
    for (std::size_t size = 0; size < standing.size(); ++size) {
        if (!standing[size]) continue;
        for (const std::size_t one : standing[size]->pipelines) {
            if (one < rules.pipeline_prices.size()) rules.pipeline_prices[one] = 0;
            if (one < rules.handicaps.size()) rules.handicaps[one] = 0;
        }
        if (!standing[size]->senses)
            scores[size].plain[standing[size]->pipelines[0]] += doubts[size];
        for (TimedRowCopy* one : timed) {
            if (one->copy == *standing[size]) one->scores[size] += doubts[size];
        }
    }
}

} // namespace asterope
