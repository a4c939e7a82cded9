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

/// Of copies of `size` bytes: those of `weights` that are timed at that size. What a walk weighs
/// counts for the same workload at random places where walks are not timed. Where nothing that
/// counts is timed, the table says what is timed instead. They add up to 1 if any is above 0.
Weights weights_at(std::size_t size, const Weights& weights);

/// Those above 0.
Weights counting(Weights weights);

/// They add up to 1, as far as any is above 0.
Weights scaled(Weights weights);

/// All alike; they add up to 1.
Weights equal_weights(const std::vector<Workload>& workloads);

/// What can be tuned for, with what each is, for --help: "hot: the same buffers ...; cold: ...".
std::string tunable_text();

/// 0 for one that is not among them.
double weight_of(const Weights& weights, Workload workload);

struct Objective {
    std::string name; ///< "balanced", a workload's, or "weights" for a mix of the user's own
    Weights weights;  ///< each above 0, adding up to 1, in the order of Workload

    /// Whether it mixes all situations that a program may have, instead of a few that were asked
    /// for by name.
    bool is_broad() const { return name == "balanced"; }
};

/// The objectives' weights alone, as a race wants them.
std::vector<Weights> weights_of(const std::vector<Objective>& objectives);

/// What --workload asks for:
/// - a workload that can be tuned for: that one alone;
/// - "balanced": what the table of workloads counts by default, as much as it says there;
/// - a mix such as "hot=1,consume=2" (any scale; a workload that is not named, or has 0, does not
///   count): that mix, whose name is "weights".
/// Throws BadInput, and says which words can be chosen: for an unknown workload; for a weight that
/// is no finite number from 0 up, that names no workload or the same again, and where all are 0.
Objective parse_objective(std::string_view workload);

/// The objective of sets where copies have this one: what of it a set can be timed under, as
/// "weights"; the situations that the table counts for sets where it is broad or none of it can.
Objective objective_of_sets(const Objective& copies);

/// Those of `weights` that count, without what waits for the run-off where there are others.
Weights screening_weights(const Weights& weights);

/// What winners are chosen for: the objective, and where that is a mix, each workload in it by
/// itself, with its walks where they count, too, for the entry points by intent; in "balanced"
/// those alone that have one. All with what of `measured` they lack, at weight 0.
std::vector<Objective> with_intents(const Objective& objective,
                                    const std::vector<Workload>& measured);

/// The objective for sources that are mapped (SourceMap) and cannot be written: "balanced" does
/// without the workloads that write theirs. Throws BadInput if another objective counts one.
Objective for_mapped_source(Objective objective);

} // namespace asterope
