// The report of `asterope-tune tunables`: its verdict, its tables, and its file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "machine/machine.hpp"
#include "search/objective.hpp"
#include "tunables/measure.hpp"

namespace asterope {

struct TunablesReport {
    Machine machine;
    int cpu;
    Objective objective;
    std::string rigor;
    std::map<std::string, Tunable> tunables; ///< that this glibc lists
    ThresholdChoice choice;
    std::vector<SizeGain> gains; ///< empty where no other setting seemed better
    DisturbanceCounts noise;

    /// Whether the setting is worth more than the default, over all sizes, timed anew.
    bool change() const;
};

/// "GLIBC_TUNABLES=...", with the tunables that this environment sets already; empty to keep the
/// default.
std::string line_of(const TunablesReport& report);

/// How memcpy copies by default.
std::string default_text(const TunablesReport& report);
/// The ways beside the default, a line a size.
std::string ways_table(const std::vector<SizeWays>& ways);
/// The setting beside the default, a line a size, and the verdict.
std::string verdict_text(const TunablesReport& report);

nlohmann::ordered_json to_json(const TunablesReport& report);

} // namespace asterope
