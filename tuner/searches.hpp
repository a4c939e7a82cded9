// The searches of one run: on one arena, with one stopwatch, one progress line and one log.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "aliased_search.hpp"
#include "arena.hpp"
#include "live_timings.hpp"
#include "machine.hpp"
#include "mix.hpp"
#include "plan.hpp"
#include "profile.hpp"
#include "progress.hpp"
#include "spaces.hpp"
#include "trial_log.hpp"
#include "workload.hpp"

namespace asterope {

class Searches {
  public:
    /// Takes the memory, calibrates. Throws Failure where there is too little memory; Interrupted.
    Searches(const Plan& plan, const Spaces& spaces, const Machine& machine, std::uint64_t seed,
             bool quiet);

    /// Every trial from now on goes to a new log at `path`.
    void log_to(const std::string& path, const nlohmann::json& header);

    /// The pipelines of all sizes, where they change places, and where sensing beats them.
    PipelineFacts pipelines();

    /// After the pipelines: small copies hand what is above their bound to those winners.
    SizeResult small_copies(const PipelineFacts& pipelines);

    /// Where buffers alias. A matter of cached buffers: where memory is waited for, or written past
    /// the caches, a load that is held up costs nothing, and these would be the wrong copies.
    std::vector<AliasedSize> aliased_copies(const PipelineFacts& pipelines);

    std::size_t trials() const { return trials_; }

  private:
    using Name = std::function<std::string(Entrant)>;
    /// What an entrant copies with: a function, what to hand it as its distance, its company.
    struct Copy {
        CopyFunction function;
        std::size_t distance;
        int company = kTemporal;
    };
    enum Company { kTemporal, kNonTemporal };
    using CopyOf = std::function<Copy(Entrant)>;

    double calibrate();
    void calibrate(std::size_t size);
    const Candidate& candidate(Entrant entrant) const;
    static Copy copy_of(const Candidate& candidate);
    Copy libc(std::size_t size) const;
    LiveTimings timings(CopyOf copy, Name name);
    std::optional<SensingResult> sensing(std::size_t size, const Found& found);
    std::vector<SensingCopy> sensing_copies(std::size_t size, const Found& found);
    std::vector<double> read(const asterope_probe& probe, const Candidate& copy, std::size_t size,
                             Workload workload);

    const Plan& plan_;
    const Spaces& spaces_;
    const std::size_t libc_non_temporal_from_; ///< bytes
    const std::vector<Objective> objectives_;
    Arena arena_;
    std::optional<Arena> small_arena_; ///< of the small copies, where the source is mapped
    Stopwatch stopwatch_;
    MixStopwatch mix_;
    std::mt19937_64 random_;
    Progress progress_;
    std::unique_ptr<TrialLog> log_;
    std::size_t trials_ = 0;
};

} // namespace asterope
