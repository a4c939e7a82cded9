// asterope-tune replay: runs strategies against a recording, and says what each of them costs and
// how good its winners are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "run/recorded_timings.hpp"
#include "run/recording.hpp"
#include "search/objective.hpp"
#include "search/search.hpp"

namespace asterope {

/// As given; the defaults are those of the command line. Empty: as the log has it.
struct ReplayRequest {
    std::string log;
    std::vector<std::string> rigors = {"exhaustive", "standard", "quick"};
    std::string workload, weights, space;
    int seeds = 10;
    std::string json; ///< where all figures go; empty: nowhere
};

/// What a search chose at one size, once rows were chosen for all sizes at once, and how much more
/// time that takes than what the exhaustive search chose for that size alone, as a share; 0 where
/// it takes less. Time as losses weigh, see utility().
struct ReplayedWinner {
    Entrant candidate;
    double regret;
};

/// One strategy against the recording, with several seeds.
struct ReplayedStrategy {
    std::string name;
    std::vector<std::vector<ReplayedWinner>> winners; ///< by size, by seed
    double trials = 0, seconds = 0;                   ///< of one run: means over the seeds
    double mean_regret = 0, worst_regret = 0;
    std::size_t worst_size = 0; ///< in bytes, where that was
    /// By how much the winners of two seeds differ at most, as a share of the time.
    double difference = 0;
    std::size_t difference_size = 0; ///< in bytes, where that was
    /// The same of one situation at one size.
    double cell_difference = 0;
    std::size_t cell_size = 0; ///< in bytes, where that was
    /// At how many of the sizes two seeds take the same pipeline: mean over the pairs, as a share.
    double same = 1;
    double pipelines = 0; ///< of one routine: mean over the seeds
    /// Candidates a run that it would have tried, but that were not recorded.
    double unrecorded = 0;
};

/// What is to be replayed, all of it recorded.
struct Replay {
    /// Throws BadInput for what `recording` cannot serve or nobody understands.
    Replay(const ReplayRequest& request, const Recording& recording);

    /// Runs all strategies; the first seed is 1.
    std::vector<ReplayedStrategy> run() const;

    const Recording& recording;
    RecordedSpace space;
    Objective objective;
    bool extended;
    std::vector<Rigor> rigors;
    int seeds;
};

/// A line a strategy, and what the columns mean.
std::string replay_table(const Replay& replay, const std::vector<ReplayedStrategy>& strategies);

/// All figures, the winners of each size and seed included.
nlohmann::ordered_json to_json(const Replay& replay,
                               const std::vector<ReplayedStrategy>& strategies);

/// The command: prints the table. Throws BadInput for what cannot be used; Failure.
void replay(const ReplayRequest& request);

} // namespace asterope
