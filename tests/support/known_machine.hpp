// Made-up machines whose fastest copy is known, for tests of what searches.
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

/// A machine of which the truth is known: libc's time over each entrant's, by workload.
class KnownMachine : public Timings {
  public:
    using Ratios = std::map<Workload, std::vector<double>>;
    using Call = std::tuple<std::size_t, Workload, Entrant, std::uint64_t>;

    explicit KnownMachine(Ratios ratios) : ratios_(std::move(ratios)) {}

    Trial trial(const TrialRequest& asked) override {
        return {seconds(asked.size, asked.workload, asked.entrant, asked.round) * 1e9};
    }
    RoundEnd round_ended() override { return {{}, disturbed()}; }
    virtual bool disturbed() { return false; }
    virtual double seconds(std::size_t size, Workload workload, Entrant entrant,
                           std::uint64_t round) {
        calls.emplace_back(size, workload, entrant, round);
        return kLibcSeconds / ratio(entrant, workload) * disturbance();
    }

    double ratio(Entrant entrant, Workload workload) const {
        return entrant < 0 ? 1 : ratios_.at(workload)[static_cast<std::size_t>(entrant)];
    }
    /// Geometric mean over the workloads.
    double ratio(Entrant entrant) const {
        double sum = 0;
        for (const auto& [workload, ratios] : ratios_) sum += std::log(ratio(entrant, workload));
        return std::exp(sum / static_cast<double>(ratios_.size()));
    }

    std::vector<Call> calls;

  protected:
    virtual double disturbance() { return 1; }

  private:
    Ratios ratios_;
};

/// A known machine on which a trial takes so many times as long.
class ScaledMachine : public KnownMachine {
  public:
    using Scale = std::function<double(Workload, Entrant, std::uint64_t round)>;

    ScaledMachine(Ratios ratios, Scale scale)
        : KnownMachine(std::move(ratios)), scale_(std::move(scale)) {}

    double seconds(std::size_t size, Workload workload, Entrant entrant,
                   std::uint64_t round) override {
        return KnownMachine::seconds(size, workload, entrant, round) *
               scale_(workload, entrant, round);
    }

  private:
    Scale scale_;
};

/// A quiet machine: no two timings are the same, but nothing happens.
class JitteryMachine : public KnownMachine {
  public:
    JitteryMachine(Ratios ratios, double jitter, std::uint64_t seed)
        : KnownMachine(std::move(ratios)), random_(seed), jitter_(jitter) {}

  protected:
    double disturbance() override { return std::exp(jitter_ * noise::normal(random_)); }

    noise::Random random_;

  private:
    double jitter_;
};

/// A shared machine: interruptions, lucky shots, slow phases and drift besides.
class NoisyMachine : public JitteryMachine {
  public:
    using JitteryMachine::JitteryMachine;

  private:
    double disturbance() override {
        if (left_ == 0) { // a phase ends: quiet ones last longer
            slow_ = !slow_;
            left_ = 50 + static_cast<int>((slow_ ? 150 : 700) * noise::uniform(random_));
        }
        --left_;
        drift_ *= std::exp(0.0002 * noise::normal(random_));
        double factor = drift_ * (slow_ ? 1.6 : 1) * JitteryMachine::disturbance();
        const double luck = noise::uniform(random_);
        if (luck < 0.05) factor *= 1 + 8 * noise::uniform(random_); // an interruption
        if (luck > 0.99) factor *= 0.6;                             // a lucky shot
        return factor;
    }

    double drift_ = 1;
    int left_ = 0;
    bool slow_ = true;
};

} // namespace asterope
