// First the ways race at each size, then the chosen setting against the default; thresholds are
// refined.
#include "tunables/measure.hpp"

#include <algorithm>
#include <cmath>

#include "base/size_text.hpp"
#include "search/boundaries.hpp"
#include "tunables/processes.hpp"

namespace asterope {

namespace {

/// Above the least threshold of non-temporal stores that glibc 2.36 knows. Earlier ones take less,
/// with which their code can copy wrongly (glibc's commit b446822b6ae4).
constexpr std::size_t kLeastNonTemporal = 0x4040 + 64;

std::size_t never(const Tunable& tunable) {
    return std::min(tunable.most, kNever);
}

/// The workloads that count, and at weight 0 all others that a winner is measured under, and
/// aliased buffers, where `rep movsb` can be many times slower.
Weights with_all_situations(const Objective& objective) {
    std::vector<Workload> all(kMeasured.begin(), kMeasured.end());
    all.push_back(Workload::aliased);
    return with_intents(objective, all).front().weights;
}

/// Another race begins.
void begin(const Course& course, std::size_t size, const Weights& weights) {
    course.timings.progress.label(format_size(size));
    course.timings.enter(LoggedStep{Step::pipelines, size});
    for (const auto& weighted : weights_at(size, weights)) {
        course.timings.calibration(size, weighted.first);
    }
}

/// The race of the ways at one size: each way has a process.
class WaysRace {
  public:
    WaysRace(const Course& course, const Processes& processes)
        : course_(course), processes_(processes), timings_(course.timings) {}

    SizeWays at(std::size_t size, Way now) {
        SizeWays result{size, now, {1, 1, 1}, {}};
        std::vector<std::pair<Way, Entrant>> others;
        std::vector<Entrant> entrants;
        for (const Way way : kWays) {
            const Entrant entrant = processes_.copying(way, size);
            if (way == now || entrant == kLibc) continue;
            others.emplace_back(way, entrant);
            entrants.push_back(entrant);
        }
        if (others.empty()) return result;
        begin(course_, size, course_.objective.weights);
        Race race(size, course_.objective.weights, timings_);
        const SizeResult run_off = race.run_off(entrants, course_.rigor.rounds, kLibc);
        result.floor = race.libc_over(kLibcAgain);
        for (const auto& [way, entrant] : others) {
            const Estimate ratio = race.libc_over(entrant);
            const Finalist& finalist = run_off.of(entrant);
            double least = ratio.median;
            for (const auto& [workload, weight] : weights_at(size, course_.objective.weights)) {
                const double here = finalist.workloads.at(workload).ratio.median;
                if (weight > 0) least = std::min(least, here);
            }
            result.ways.push_back(
                {way, ratio, least, worth_of(ratio, result.floor, finalist.score)});
        }
        return result;
    }

    /// Whether the way of the smaller sizes is at least as good.
    bool lower_holds(Way lower, Way upper, std::size_t size) {
        const Entrant one = processes_.copying(lower, size),
                      other = processes_.copying(upper, size);
        if (one == kLibc || other == kLibc) return other == kLibc;
        begin(course_, size, course_.objective.weights);
        Race race(size, course_.objective.weights, timings_);
        const SizeResult run_off = race.run_off({one, other}, course_.rigor.rounds, kLibc);
        return run_off.of(one).score >= run_off.of(other).score;
    }

  private:
    const Course& course_;
    const Processes& processes_;
    TimedCopies timings_;
};

/// Moves a threshold that lies between two of the sizes to where the ways change places. To the
/// next whole line: whether a size that is the threshold is above it has changed with the versions.
void refine(std::size_t& threshold, const Tunable& limits, const CopyThresholds& chosen,
            const Course& course, WaysRace& race) {
    const std::vector<std::size_t>& sizes = course.sizes;
    const auto above = std::ranges::upper_bound(sizes, threshold);
    if (above == sizes.begin() || above == sizes.end()) return;
    const std::size_t from = *(above - 1), to = *above;
    const auto way = [&](Entrant entrant) { return static_cast<Way>(entrant); };
    const Way lower = way_of(chosen, from), upper = way_of(chosen, to);
    if (lower == upper) return;
    const std::size_t last = find_boundary(lower, upper,
                                           from, to, course.rigor.boundary_ratio,
                                           [&](Entrant one, Entrant other, std::size_t size) {
                                               return race.lower_holds(way(one), way(other), size);
                                           });
    const std::size_t line = last / 64 * 64 + 64;
    const std::size_t found = line < to ? line : last;
    if (found >= limits.least && found <= limits.most) threshold = found;
}

} // namespace

bool is_clear(const Estimate& ratio, const Estimate& floor) {
    const double noise = std::max(TieBand{}.always, std::abs(std::log(floor.median)));
    const double log = std::log(ratio.median);
    return (log > noise && ratio.low > 1) || (log < -noise && ratio.high < 1);
}

double worth_of(const Estimate& ratio, const Estimate& floor, double score) {
    // A loss under one workload counts also where another one's gain makes up for it.
    const double noise = std::max(TieBand{}.never, std::abs(std::log(floor.median)));
    return is_clear(ratio, floor) || score < -noise ? score : 0;
}

std::vector<LibcThresholds> settings_of_ways(const Knobs& knobs, std::size_t largest) {
    const std::size_t no_rep = never(knobs.rep_movsb), no_past = never(knobs.non_temporal);
    LibcThresholds rep = {{kRepMovsbThreshold, knobs.rep_movsb.least},
                          {kNonTemporalThreshold, no_past}};
    if (knobs.stop) rep[kRepMovsbStopThreshold] = never(*knobs.stop);
    std::vector<LibcThresholds> settings = {
        {{kRepMovsbThreshold, no_rep}, {kNonTemporalThreshold, no_past}}, rep};
    // Each takes two pages at a time up to 16 times its threshold and four beyond: a ladder of
    // them takes either at any size.
    for (std::size_t past = std::max(knobs.non_temporal.least, kLeastNonTemporal);
         past < largest && past <= no_past; past *= 16) {
        settings.push_back({{kRepMovsbThreshold, no_rep}, {kNonTemporalThreshold, past}});
    }
    return settings;
}

void plan(const Course& course, const Knobs& knobs) {
    // of the ways, with two that have the default, then of one setting
    const std::size_t processes = settings_of_ways(knobs, course.sizes.back()).size() + 2 + 3;
    Progress& progress = course.timings.progress;
    progress.plan(kStarting, start_seconds(course.setup) * static_cast<double>(processes));
    for (const std::size_t size : course.sizes) {
        const std::size_t ways = size <= knobs.rep_movsb.least ? 0
                                 : size <= kLeastNonTemporal   ? 1
                                                               : 2;
        const std::size_t counted = weights_at(size, course.objective.weights).size();
        const std::size_t all = weights_at(size, with_all_situations(course.objective)).size();
        const double sample = kPlannedSample * (1 + static_cast<double>(size) / (1 << 20));
        const auto seconds = [&](std::size_t samples) {
            return static_cast<double>(samples) * course.rigor.rounds * sample;
        };
        progress.plan(kRacing, seconds((ways ? ways + 2 : 0) * counted));
        progress.plan(kComparing, seconds(3 * all));
    }
}

ThresholdChoice measure_and_choose(const Course& course, Knobs knobs) {
    Processes processes(settings_of_ways(knobs, course.sizes.back()), course.setup, course.timings);
    course.timings.progress.enter(kRacing);
    knobs.now = processes.thresholds(kLibc);
    const CopyThresholds other = processes.thresholds(0); // its non-temporal threshold is another
    knobs.stop_follows =
        knobs.now.stop == knobs.now.non_temporal && other.stop == other.non_temporal;
    WaysRace race(course, processes);
    ThresholdChoice choice{knobs, {}, {}};
    for (const std::size_t size : course.sizes) {
        choice.ways.push_back(race.at(size, way_of(knobs.now, size)));
    }
    CopyThresholds& chosen = choice.thresholds = choose_thresholds(knobs, choice.ways);
    const CopyThresholds rough = chosen;
    const auto refine_changed = [&](std::size_t CopyThresholds::*one, const Tunable& limits) {
        if (rough.*one != knobs.now.*one) refine(chosen.*one, limits, rough, course, race);
    };
    refine_changed(&CopyThresholds::rep_movsb, knobs.rep_movsb);
    if (knobs.stop) refine_changed(&CopyThresholds::stop, *knobs.stop);
    refine_changed(&CopyThresholds::non_temporal, knobs.non_temporal);
    chosen = knobs.with(chosen.rep_movsb, chosen.non_temporal, chosen.stop);
    return choice;
}

std::vector<SizeGain> measure_gains(const Course& course, const ThresholdChoice& choice) {
    course.timings.progress.end(kRacing);
    Processes processes({choice.knobs.changes(choice.thresholds)}, course.setup, course.timings);
    course.timings.progress.enter(kComparing);
    const CopyThresholds now = processes.thresholds(kLibc), then = processes.thresholds(0);
    const Weights weights = with_all_situations(course.objective);
    std::vector<SizeGain> gains;
    for (const std::size_t size : course.sizes) {
        begin(course, size, weights);
        Race race(size, weights, TimedCopies(course.timings));
        const SizeResult result = race.run_off({0}, course.rigor.rounds, kLibc);
        const Finalist& setting = result.finalists.front();
        const Estimate ratio = race.libc_over(0), floor = race.libc_over(kLibcAgain);
        const Way before = way_of(now, size), after = way_of(then, size);
        const double worth = before == after ? 0 : worth_of(ratio, floor, setting.score);
        gains.push_back(
            {size, before, after, ratio, floor, worth, setting.workloads, result.noise_floor});
    }
    return gains;
}

} // namespace asterope
