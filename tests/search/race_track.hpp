// The races that tests run: on a machine whose truth is known.
#pragma once

#include "support/known_machine.hpp"
#include "support/unit_test.hpp"
#include "timing/timed_copy.hpp"

namespace asterope::races {

constexpr std::size_t kRaceSize = 4096;

/// Libc's time over each entrant's: under hot, cold and consume, as far as given.
using Truths = std::vector<std::vector<double>>;

inline KnownMachine::Ratios ratios(const Truths& truths) {
    constexpr Workload kWorkloads[] = {Workload::hot, Workload::cold, Workload::consume};
    KnownMachine::Ratios ratios;
    for (const std::vector<double>& truth : truths) {
        for (std::size_t i = 0; i < truth.size(); ++i) ratios[kWorkloads[i]].push_back(truth[i]);
    }
    return ratios;
}

inline Weights weights(double hot, double cold) {
    return {{Workload::hot, hot}, {Workload::cold, cold}};
}

inline const Weights kBothAlike = weights(1, 1);
inline const Weights kHotAlone = {{Workload::hot, 1}}, kColdAlone = {{Workload::cold, 1}},
                     kConsume = {{Workload::consume, 1}},
                     kMean = {{Workload::hot, 1}, {Workload::cold, 1}, {Workload::consume, 1}};

using Entrants = std::vector<Entrant>;

/// A race on a machine of which the truth is known.
template <class Machine = KnownMachine> struct Track {
    Track(const Truths& truths, std::vector<Weights> objectives, std::uint64_t seed = 1,
          Trouble trouble = jitter(0, 1), std::vector<TimedCopy> timed = {},
          std::vector<TimedCopy> references = {})
        : all(all_entrants(truths.size())), copies(std::move(timed)),
          machine(ratios(truths), std::move(trouble)),
          race(kRaceSize, std::move(objectives),
               {machine, copies, {.name = "libc"}, std::move(references)}, noise::Random(seed)) {
        copies.resize(truths.size());
    }

    SizeResult run_off(int rounds = 9, Entrant favourite = kLibc, Entrant plain = kLibc) {
        return race.run_off(all, rounds, favourite, plain);
    }
    Entrants ranked(std::size_t objective = 0) const {
        Entrants entrants = all;
        race.rank(entrants, objective);
        return entrants;
    }
    /// How often each candidate was timed under each workload.
    std::map<std::pair<Entrant, Workload>, int> samples() const {
        std::map<std::pair<Entrant, Workload>, int> samples;
        for (const auto& [size, workload, entrant, round] : machine.calls) {
            EXPECT_EQ(size, kRaceSize);
            if (entrant.is_listed()) ++samples[{entrant, workload}];
        }
        return samples;
    }
    Entrants all;
    std::vector<TimedCopy> copies;
    Machine machine;
    Race race;
};

inline Entrants winners(const std::vector<SizeResult>& results) {
    Entrants winners;
    for (const SizeResult& each : results) winners.push_back(each.winner());
    return winners;
}

} // namespace asterope::races
