// The section `identical`: whether a race finds a winner among copies that are all libc's memcpy.
#include <algorithm>
#include <cmath>

#include "base/size_text.hpp"
#include "base/text.hpp"
#include "diagnose/sections.hpp"
#include "search/race.hpp"
#include "timing/stopwatch.hpp"

namespace asterope::diagnosis {

namespace {

constexpr std::size_t kSizes[] = {1 << 10, 64 << 10, 4 << 20};
constexpr Workload kWorkloads[] = {Workload::hot, Workload::cold};
/// The numbers of a race with one heat. The rest is as in a quick search of one size, see
/// parse_rigor.
constexpr int kEntrants = 24, kKept = 12, kMoreSamples = 6, kFinalists = 5, kRounds = 15;
/// The samples of one race, with libc thrice a heat and twice a round of the run-off.
constexpr int kSamples = kEntrants + 3 + kMoreSamples * (kKept + 3) + kRounds * (kFinalists + 2);

SizeResult race(std::size_t size, Workload workload, std::uint64_t seed, RunTimings& timings) {
    Race race(size, {{workload, 1}}, TimedCopies(timings), std::mt19937_64(seed));
    std::vector<Entrant> entrants = all_entrants(kEntrants);
    race.sample(entrants, 1);
    entrants = race.best(entrants, kKept);
    race.sample(entrants, kMoreSamples);
    return race.run_off(race.best(entrants, kFinalists), kRounds, kLibc);
}

std::vector<double> exponentials(std::vector<double> logs) {
    for (double& log : logs) log = std::exp(log);
    return logs;
}

std::string percents(double log) {
    return formatted("%.1f %%", std::expm1(log) * 100);
}

} // namespace

double SelfRaces::largest_lead() const {
    return *std::ranges::max_element(leads);
}

double SelfRaces::largest_floor() const {
    return *std::ranges::max_element(floors);
}

std::size_t SelfRaces::won_by_luck() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < leads.size(); ++i) {
        count += leads[i] > std::max(floors[i], TieBand().never);
    }
    return count;
}

std::string self_races_verdict(const std::vector<SelfRaces>& all) {
    const SelfRaces* best = nullptr;
    std::size_t races = 0, by_luck = 0;
    for (const SelfRaces& some : all) {
        races += some.leads.size();
        by_luck += some.won_by_luck();
        if (!best || some.largest_lead() > best->largest_lead()) best = &some;
    }
    return "in " + (by_luck == 0 ? "none" : std::to_string(by_luck)) + " of " +
           std::to_string(races) +
           " races the winner led by more than the noise floor and by more than a tie may cost "
           "(the largest lead: " +
           percents(best->largest_lead()) + ", at " + format_size(best->size) + ' ' +
           name_of(best->workload) + ')';
}

Section identical(const Context& context) {
    Section section;
    section.question = "does a race find a winner among copies that are all libc's?";
    section.columns = {"24 times libc", "largest lead", "largest floor", "led beyond both",
                       "races"};
    const int races = context.rounds * 2 / 3; // 20, with --quick 7
    Stopwatch stopwatch(context.arena, kSizes[std::size(kSizes) - 1],
                        last_cache_bytes(context.machine));
    // libc's memcpy for every entrant; disturbed rounds are repeated, as in a search
    context.source.time_by(
        [&](const SampleRequest& asked) {
            return std::vector{
                stopwatch.time({libc_copy()}, asked.workload, asked.size, asked.round)};
        },
        1.0 / kSamples / races / std::size(kSizes) / std::size(kWorkloads));
    std::vector<SelfRaces> all;
    for (const std::size_t size : kSizes) {
        if (size > context.largest_copy) continue;
        for (const Workload workload : kWorkloads) {
            stopwatch.calibrate(size, workload, sample_seconds(workload));
            context.timings.enter(LoggedStep{Step::pipelines, size});
            context.timings.calibration(size, workload);
            SelfRaces some{size, workload, {}, {}};
            for (int i = 0; i < races; ++i) {
                const SizeResult result =
                    race(size, workload, static_cast<std::uint64_t>(i), context.timings);
                some.leads.push_back(std::log(result.finalists.front().ratio));
                const Estimate& floor = result.noise_floor.at(workload);
                some.floors.push_back(std::max(std::log(floor.high), -std::log(floor.low)));
            }
            section.cells.push_back({format_size(size) + ' ' + name_of(workload),
                                     percents(some.largest_lead()), percents(some.largest_floor()),
                                     std::to_string(some.won_by_luck()), std::to_string(races)});
            section.rows.push_back({{"size", size},
                                    {"workload", name_of(workload)},
                                    {"leads", exponentials(some.leads)},
                                    {"floors", exponentials(some.floors)},
                                    {"largest_lead", std::exp(some.largest_lead())},
                                    {"largest_floor", std::exp(some.largest_floor())},
                                    {"tie_band", std::exp(TieBand().never)},
                                    {"won_by_luck", some.won_by_luck()}});
            all.push_back(std::move(some));
        }
    }
    section.notes.push_back(
        "lead: how much faster than libc the winner seems; noise floor: how far libc seems from "
        "itself at most; beyond both: races whose lead exceeds their noise floor and the " +
        percents(TieBand().never) + " that a tie may cost");
    section.verdict = self_races_verdict(all);
    return section;
}

} // namespace asterope::diagnosis
