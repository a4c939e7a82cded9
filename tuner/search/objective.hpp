// Objectives: which workloads a copy is tuned for, and how much each of them counts.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "timing/workload.hpp"

namespace asterope {

/// Workloads, each with its weight in the mean. One of weight 0 is only measured: in the run-off,
/// for the record.
using Weights = std::vector<std::pair<Workload, double>>;

/// The weights for copies of `size` bytes: those of `weights` that are timed at that size. Where
/// walks are not timed, the weight of a walk counts for the same workload at random places. Where
/// no weighted workload is timed, the table names others instead. The weights add up to 1 if any is
/// above 0.
Weights weights_at(std::size_t size, const Weights& weights);

/// The weights above 0.
Weights counting(Weights weights);

/// The weights divided by their sum, so that they add up to 1; unchanged if all are 0.
Weights scaled(Weights weights);

/// All alike; they add up to 1.
Weights equal_weights(const std::vector<Workload>& workloads);

/// The workloads that can be tuned for, with their descriptions, for --help: "hot: the same buffers
/// ...; cold: ...".
std::string tunable_text();

/// 0 for one that is not among them.
double weight_of(const Weights& weights, Workload workload);

struct Objective {
    std::string name; ///< "balanced", a workload's, or "weights" for a mix of the user's own
    Weights weights;  ///< adding up to 1; with_intents() appends some of weight 0

    /// Whether it mixes the workloads of all programs, not a few that were asked for by name.
    bool is_broad() const { return name == "balanced"; }
};

/// The objectives' weights alone, as a race wants them.
std::vector<Weights> weights_of(const std::vector<Objective>& objectives);

/// Parses the value of --workload. It can be:
///
/// - A workload that can be tuned for: that one alone.
/// - "balanced": the weights that the table of workloads has by default.
/// - A mix such as "hot=1,consume=2", in any scale, whose name is "weights". A workload that is not
///   named, or has 0, does not count.
///
/// Throws BadInput, and says which words can be chosen. It does so for an unknown workload, for one
/// that is named twice, and if all weights are 0. A weight must be a finite number from 0 up.
Objective parse_objective(std::string_view workload);

/// The objective of sets where copies have this one. It has the same name and those of its
/// workloads that a set can be timed under. If the copies' objective is broad, or sets cannot be
/// timed under its workloads, it is "balanced" with the table's weights for sets.
Objective objective_of_sets(const Objective& copies);

/// A run-off times a workload in one round of so many: 3 for fresh memory that counts less than a
/// twentieth, else 1. Page faults take most of such a copy's time, and copies differ little there.
/// (With all rounds these workloads took 97 of the 284 s of a standard search, for a twelfth of the
/// weight; Zen 4.)
int run_off_every(const Weights& weights, Workload workload);

/// The workloads of `weights` that count. Those that wait for the run-off are left out if the
/// others have at least a fifth of the weight. (They join at the last cut of a standard search
/// below kModerateCopy, and from the start in an exhaustive one.)
Weights screening_weights(const Weights& weights);

/// The objectives that winners are chosen for. The first is the objective itself. The others are
/// for the entry points by intent. A mix adds each of its workloads by itself, with its walks where
/// they count. "balanced" adds only those that have an entry point. All get the workloads of
/// `measured` that they lack, at weight 0.
std::vector<Objective> with_intents(const Objective& objective,
                                    const std::vector<Workload>& measured);

/// The objective for sources that are mapped (SourceMap) and cannot be written: "balanced" does
/// without the workloads that write theirs. Throws BadInput if another objective counts one.
Objective for_mapped_source(Objective objective);

} // namespace asterope
