// Made-up machines whose fastest copy is known, for tests of the search.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "search/race.hpp"
#include "support/random_figures.hpp"

namespace asterope {

inline constexpr double kLibcSeconds = 1e-6;

/// How many times as long a sample takes.
using Trouble = std::function<double(Workload, Entrant, std::uint64_t round)>;

/// A quiet machine's: no two timings are the same, but nothing happens.
inline Trouble jitter(double deviation, std::uint64_t seed) {
    return [deviation, random = noise::Random(seed)](auto...) mutable {
        return std::exp(deviation * noise::normal(random));
    };
}

/// A shared machine's: interruptions, lucky shots, slow phases and drift besides.
inline Trouble noise_of_others(double deviation, std::uint64_t seed) {
    return [deviation, random = noise::Random(seed), drift = 1.0, left = 0,
            slow = true](auto...) mutable {
        if (left == 0) { // a phase ends: quiet ones last longer
            slow = !slow;
            left = 50 + static_cast<int>((slow ? 150 : 700) * noise::uniform(random));
        }
        --left;
        drift *= std::exp(0.0002 * noise::normal(random));
        double factor = drift * (slow ? 1.6 : 1) * std::exp(deviation * noise::normal(random));
        const double luck = noise::uniform(random);
        if (luck < 0.05) factor *= 1 + 8 * noise::uniform(random); // an interruption
        if (luck > 0.99) factor *= 0.6;                            // a lucky shot
        return factor;
    };
}

/// A machine of which the truth is known: libc's time over each entrant's, by workload.
class KnownMachine : public Timings {
  public:
    using Ratios = std::map<Workload, std::vector<double>>;
    using Call = std::tuple<std::size_t, Workload, Entrant, std::uint64_t>;

    explicit KnownMachine(
        Ratios ratios, Trouble trouble = [](auto...) { return 1; })
        : ratios_(std::move(ratios)), trouble_(std::move(trouble)) {}

    Sample sample(const SampleRequest& asked) override {
        const auto& [copy, entrant, size, workload, round] = asked;
        calls.emplace_back(size, workload, entrant, round);
        return {1e9 * kLibcSeconds / ratio(entrant, workload) * trouble_(workload, entrant, round)};
    }

    double ratio(Entrant entrant, Workload workload) const {
        return entrant.is_listed() ? ratios_.at(workload)[entrant.index()] : 1;
    }
    /// Geometric mean over the workloads.
    double ratio(Entrant entrant) const {
        double sum = 0;
        for (const auto& [workload, ratios] : ratios_) sum += std::log(ratio(entrant, workload));
        return std::exp(sum / static_cast<double>(ratios_.size()));
    }

    std::vector<Call> calls;

  private:
    Ratios ratios_;
    Trouble trouble_;
};

} // namespace asterope
