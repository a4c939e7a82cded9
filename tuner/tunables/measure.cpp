// First the ways race at each size, then the chosen setting against the default; thresholds are
// refined. Each entrant is a process, and a sample is a request to it.
#include "tunables/measure.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/size_text.hpp"
#include "search/boundaries.hpp"

namespace asterope {

namespace {

/// The steps of a measurement, as its progress names them.
constexpr const char *kStarting = "starting", *kRacing = "racing", *kComparing = "comparing";

/// The planned seconds until a process is ready: its buffers are filled.
double start_seconds(const RemoteSetup& setup) {
    return 0.01 + static_cast<double>(setup.arena_bytes) / 2e9;
}

/// Samples of memcpy under several settings of glibc's tunables, a process for each. Entrant i is
/// the i-th of the settings. libc and libc again are two processes with the default: their distance
/// is the effect of another process alone.
class Processes : public Timings {
  public:
    /// Starts them, and is where the course's figures come from then. Throws as RemoteCopy.
    Processes(const std::vector<LibcThresholds>& settings, const Course& course) {
        std::vector<LibcThresholds> all = {{}, {}};
        all.insert(all.end(), settings.begin(), settings.end());
        Progress& progress = course.timings.progress;
        progress.label("");
        progress.enter(kStarting);
        for (const LibcThresholds& one : all) {
            throw_if_interrupted();
            processes_.push_back(std::make_unique<RemoteCopy>(one, course.setup));
            progress.advance(start_seconds(course.setup));
        }
        course.timings.go_on_with(*this);
    }

    Sample sample(const SampleRequest& asked) override {
        const Calibration calls = calibration(asked.size, asked.workload);
        RemoteCopy& process = process_of(asked.entrant);
        const double seconds = process.time(asked.size, asked.workload, asked.round, calls);
        if (!(seconds > 0)) {
            throw Failure("the time stamp counter jumps: nothing can be timed here");
        }
        for (const Disturbance hit : process.disturbances()) {
            if (!contains(hits_, hit)) hits_.push_back(hit);
        }
        return {seconds * 1e9, seconds * static_cast<double>(calls.calls) * 1e6};
    }
    RoundEnd round_ended() override { return {std::exchange(hits_, {})}; }
    /// The calibration of the default's process, made once.
    Calibration calibration(std::size_t size, Workload workload,
                            const std::optional<Calibration>& known = std::nullopt) override {
        Calibration& calibration = calibrations_[{size, workload}];
        if (known) calibration = *known;
        if (calibration.calls == 0) calibration = process_of(kLibc).calibrate(size, workload);
        return calibration;
    }

    /// The thresholds that hold in an entrant's process.
    CopyThresholds thresholds(Entrant entrant) const {
        return copy_thresholds(process_of(entrant).thresholds());
    }
    /// The first of the settings that copies `size` bytes in this way; kLibc where none does.
    Entrant copying(Way way, std::size_t size) const {
        for (const Entrant one : all_entrants(processes_.size() - kOfDefault)) {
            if (way_of(thresholds(one), size) == way) return one;
        }
        return kLibc;
    }

  private:
    RemoteCopy& process_of(Entrant entrant) const {
        if (!entrant.is_listed()) return *processes_[entrant == kLibc];
        return *processes_[kOfDefault + entrant.index()];
    }

    static constexpr std::size_t kOfDefault = 2; ///< libc again's and libc's, the first two
    std::vector<std::unique_ptr<RemoteCopy>> processes_;
    std::map<std::pair<std::size_t, Workload>, Calibration> calibrations_;
    std::vector<Disturbance> hits_; ///< of this round, each once
};

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

/// The race at a size. Another one begins.
Race begin(const Course& course, std::size_t size, const Weights& weights) {
    course.timings.progress.label(format_size(size));
    course.timings.enter(LoggedStep{Step::pipelines, size});
    for (const auto& weighted : weights_at(size, weights)) {
        course.timings.calibration(size, weighted.first);
    }
    return Race(size, weights, TimedCopies(course.timings));
}

/// Races the ways at one size, a process each.
SizeWays race_ways(const Course& course, const Processes& processes, std::size_t size, Way now) {
    SizeWays result{size, now, {1, 1, 1}, {}};
    std::vector<std::pair<Way, Entrant>> others;
    std::vector<Entrant> entrants;
    for (const Way way : kWays) {
        const Entrant entrant = processes.copying(way, size);
        if (way == now || entrant == kLibc) continue;
        others.emplace_back(way, entrant);
        entrants.push_back(entrant);
    }
    if (others.empty()) return result;
    Race race = begin(course, size, course.objective.weights);
    const SizeResult run_off = race.run_off(entrants, course.rigor.rounds, kLibc);
    result.floor = race.libc_over(kLibcAgain);
    for (const auto& [way, entrant] : others) {
        const Estimate ratio = race.libc_over(entrant);
        const Finalist& finalist = run_off.of(entrant);
        double least = ratio.median;
        for (const auto& [workload, weight] : weights_at(size, course.objective.weights)) {
            const double here = finalist.workloads.at(workload).ratio.median;
            if (weight > 0) least = std::min(least, here);
        }
        result.ways.push_back({way, ratio, least, worth_of(ratio, result.floor, finalist.score)});
    }
    return result;
}

/// Whether the way of the smaller sizes is at least as good.
bool lower_holds(const Course& course, const Processes& processes, Way lower, Way upper,
                 std::size_t size) {
    const Entrant one = processes.copying(lower, size), other = processes.copying(upper, size);
    if (one == kLibc || other == kLibc) return other == kLibc;
    Race race = begin(course, size, course.objective.weights);
    const SizeResult run_off = race.run_off({one, other}, course.rigor.rounds, kLibc);
    return run_off.of(one).score >= run_off.of(other).score;
}

/// Moves a threshold that lies between two of the sizes to where the ways change places. To the
/// next whole line: glibc's versions differ in whether the threshold itself counts as above.
void refine(std::size_t& threshold, const Tunable& limits, const CopyThresholds& chosen,
            const Course& course, const Processes& processes) {
    const std::vector<std::size_t>& sizes = course.sizes;
    const auto above = std::ranges::upper_bound(sizes, threshold);
    if (above == sizes.begin() || above == sizes.end()) return;
    const std::size_t from = *(above - 1), to = *above;
    const Way lower = way_of(chosen, from), upper = way_of(chosen, to);
    if (lower == upper) return;
    const std::size_t last =
        find_boundary(from, to, course.rigor.boundary_ratio, [&](std::size_t size) {
            return lower_holds(course, processes, lower, upper, size);
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
    const std::vector<LibcThresholds> settings = settings_of_ways(knobs, course.sizes.back());
    const std::size_t processes = settings.size() + 2 + 3;
    Progress& progress = course.timings.progress;
    progress.plan(kStarting, start_seconds(course.setup) * static_cast<double>(processes));
    for (const std::size_t size : course.sizes) {
        std::set<Way> ways;
        for (const auto& one : settings) ways.insert(way_of(copy_thresholds(one), size));
        const std::size_t counted = weights_at(size, course.objective.weights).size();
        const std::size_t all = weights_at(size, with_all_situations(course.objective)).size();
        const double sample = kPlannedSample * (1 + static_cast<double>(size) / (1 << 20));
        const auto seconds = [&](std::size_t samples) {
            return static_cast<double>(samples) * course.rigor.rounds * sample;
        };
        progress.plan(kRacing, seconds((ways.size() > 1 ? ways.size() + 1 : 0) * counted));
        progress.plan(kComparing, seconds(3 * all));
    }
}

ThresholdChoice measure_and_choose(const Course& course, Knobs knobs) {
    Processes processes(settings_of_ways(knobs, course.sizes.back()), course);
    course.timings.progress.enter(kRacing);
    knobs.now = processes.thresholds(kLibc);
    const CopyThresholds other = processes.thresholds(0); // its non-temporal threshold is another
    knobs.stop_follows =
        knobs.now.stop == knobs.now.non_temporal && other.stop == other.non_temporal;
    ThresholdChoice choice{knobs, {}, {}};
    for (const std::size_t size : course.sizes) {
        choice.ways.push_back(race_ways(course, processes, size, way_of(knobs.now, size)));
    }
    CopyThresholds& chosen = choice.thresholds = choose_thresholds(knobs, choice.ways);
    const CopyThresholds rough = chosen;
    const auto refine_changed = [&](std::size_t CopyThresholds::*one, const Tunable& limits) {
        if (rough.*one != knobs.now.*one) refine(chosen.*one, limits, rough, course, processes);
    };
    refine_changed(&CopyThresholds::rep_movsb, knobs.rep_movsb);
    if (knobs.stop) refine_changed(&CopyThresholds::stop, *knobs.stop);
    refine_changed(&CopyThresholds::non_temporal, knobs.non_temporal);
    chosen = knobs.with(chosen.rep_movsb, chosen.non_temporal, chosen.stop);
    return choice;
}

std::vector<SizeGain> measure_gains(const Course& course, const ThresholdChoice& choice) {
    course.timings.progress.end(kRacing);
    Processes processes({choice.knobs.changes(choice.thresholds)}, course);
    course.timings.progress.enter(kComparing);
    const CopyThresholds now = processes.thresholds(kLibc), then = processes.thresholds(0);
    const Weights weights = with_all_situations(course.objective);
    std::vector<SizeGain> gains;
    for (const std::size_t size : course.sizes) {
        Race race = begin(course, size, weights);
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
