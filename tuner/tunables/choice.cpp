// Tries all combinations of thresholds that the sizes can tell apart, and takes the best.
#include "tunables/choice.hpp"

#include <algorithm>
#include <cmath>

#include "base/contains.hpp"

namespace asterope {

namespace {

/// The values worth trying: the present one, then one between each size and the next.
std::vector<std::size_t> values_of(const Tunable& tunable, std::size_t now,
                                   const std::vector<SizeWays>& sizes) {
    std::vector<std::size_t> values = {now};
    const auto add = [&](std::size_t from, std::size_t wanted, std::size_t to) {
        const std::size_t value = std::clamp(wanted, tunable.least, tunable.most);
        if (from <= value && value < to) values.push_back(value);
    };
    add(0, tunable.least, sizes.front().size);
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
        const std::size_t from = sizes[i].size, to = sizes[i + 1].size;
        const double middle = std::sqrt(static_cast<double>(from) * static_cast<double>(to));
        add(from, static_cast<std::size_t>(middle), to);
    }
    add(sizes.back().size, kNever, kNever + 1);
    return values;
}

/// How far apart two settings are: factors, as logarithms.
double distance(const CopyThresholds& one, const CopyThresholds& other) {
    const auto apart = [](std::size_t a, std::size_t b) {
        return std::abs(std::log(static_cast<double>(a) + 1) -
                        std::log(static_cast<double>(b) + 1));
    };
    return apart(one.rep_movsb, other.rep_movsb) + apart(one.stop, other.stop) +
           apart(one.non_temporal, other.non_temporal);
}

double worth_of(const CopyThresholds& thresholds, const std::vector<SizeWays>& sizes) {
    double sum = 0;
    for (const SizeWays& one : sizes) sum += one.worth(way_of(thresholds, one.size));
    return sum;
}

} // namespace

double SizeWays::worth(Way way) const {
    const WayResult* found = find_in(ways, way, &WayResult::way);
    return found ? found->worth : 0;
}

CopyThresholds Knobs::with(std::size_t rep, std::size_t past, std::size_t end) const {
    return {rep, !stop && stop_follows ? past : end, past};
}

LibcThresholds Knobs::changes(const CopyThresholds& wanted) const {
    LibcThresholds changed;
    if (wanted.rep_movsb != now.rep_movsb) changed[kRepMovsbThreshold] = wanted.rep_movsb;
    if (stop && wanted.stop != now.stop) changed[kRepMovsbStopThreshold] = wanted.stop;
    if (wanted.non_temporal != now.non_temporal) {
        changed[kNonTemporalThreshold] = wanted.non_temporal;
    }
    return changed;
}

CopyThresholds choose_thresholds(const Knobs& knobs, const std::vector<SizeWays>& sizes) {
    const CopyThresholds now = knobs.now;
    CopyThresholds best = now;
    double most = 0, nearest = 0;
    const auto stops =
        knobs.stop ? values_of(*knobs.stop, now.stop, sizes) : std::vector<std::size_t>{now.stop};
    for (const std::size_t rep : values_of(knobs.rep_movsb, now.rep_movsb, sizes)) {
        for (const std::size_t past : values_of(knobs.non_temporal, now.non_temporal, sizes)) {
            for (const std::size_t stop : stops) {
                const CopyThresholds one = knobs.with(rep, past, stop);
                const double worth = worth_of(one, sizes) -
                                     kLeastWorth * static_cast<double>(knobs.changes(one).size());
                const double far = distance(one, now);
                constexpr double kSame = 1e-9; // sums of the same in another order
                if (worth < most - kSame || (worth < most + kSame && far >= nearest)) continue;
                best = one;
                most = worth;
                nearest = far;
            }
        }
    }
    return best;
}

} // namespace asterope
