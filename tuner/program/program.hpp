// A program's copies, as one or several recordings tell of them: what a tuning run needs to know.
#pragma once

#include <array>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "timing/distribution.hpp"

namespace asterope {

/// Which of a copy's sides were cached when it began: an index into ProgramBand::situations.
constexpr std::size_t situation_of(bool source_cached, bool destination_cached) {
    return 2 * static_cast<std::size_t>(source_cached) +
           static_cast<std::size_t>(destination_cached);
}

/// Where the last band ends: no copy is larger than 1 TiB.
inline constexpr std::size_t kLargestCopy = std::size_t{1} << 40;

/// The copies of above < bytes <= up_to.
struct ProgramBand {
    std::size_t above = 0, up_to = 0; ///< the last band's is kLargestCopy
    double calls = 0;
    Estimate share{0, 0, 0}; ///< of the program's processor time
    /// How the band's time is shared among the situations, see situation_of; they add up to 1, or
    /// are all 0 where it is not known.
    std::array<double, 4> situations{};
    /// The share of the band's time that went into pages that the program had not touched before;
    /// it is part of the situations without a cached destination.
    double fresh = 0;
    /// The sizes that most of its time goes into, by what copies of a size take: bytes, and a share
    /// for each call. They add up to 1; none where there are no calls.
    std::vector<std::pair<std::size_t, double>> sizes = {};
    double probed = 0;          ///< samples that `situations` rests on
    std::optional<double> read; ///< the share of copies that are read soon; none: not known
};

struct Program {
    std::string name;               ///< "redis-server", or of several "redis-server, python3"
    Estimate share{0, 0, 0};        ///< of its processor time that copies took
    std::vector<ProgramBand> bands; ///< ascending, one beginning where the other ends
    CallStatistics statistics;      ///< of all copies, with their order

    /// The share of processor time of one band in that of all copies, 0 to 1.
    double time_share(const ProgramBand& band) const;
};

/// What a trial log keeps of it: all but the statistics, which are only drawn from.
nlohmann::json program_json(const Program& program);
/// Throws nlohmann::json::exception for what was not written by program_json.
Program program_of(const nlohmann::json& json);

/// Sets the sizes of each band from the statistics.
void find_sizes(Program& program);

/// Of `evaluated` (ascending, not empty) the index of the one nearest to `size`, by their ratio.
std::size_t nearest(std::size_t size, const std::vector<std::size_t>& evaluated);

/// A recording and how much it counts beside others.
struct WeightedProgram {
    Program program;
    double weight = 1;
};

/// One program that behaves as these together: a share of processor time is the weighted mean of
/// theirs, so that a program that copies more counts more. All have the same bands.
Program join(const std::vector<WeightedProgram>& programs);

} // namespace asterope
