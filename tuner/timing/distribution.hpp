// The statistics of programs' calls of memcpy and memset: sizes and alignments, with their
// frequencies.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "space/operation.hpp"

namespace asterope {

/// Values with their weights, to be drawn from.
class Distribution {
  public:
    /// Value and weight. The weights need not add up to 1.
    using Pairs = std::vector<std::pair<std::size_t, double>>;
    explicit Distribution(Pairs pairs);
    std::size_t draw(std::mt19937_64& random) const;
    const Pairs& pairs() const { return pairs_; }
    /// Those up to `most`, or nothing where none of these is ever drawn. Drawing until a size is
    /// small enough would take hours if one call in a million is.
    std::optional<Distribution> up_to(std::size_t most) const;

  private:
    Pairs pairs_;
    std::vector<double> cumulative_;
};

/// Each size from `least` to `most` as often as the others.
Distribution all_alike(std::size_t least, std::size_t most);

struct CallStatistics {
    std::string name; ///< "fleet", or the recorded program's
    Distribution sizes, alignments;
};

/// The statistics of Google's fleet that are part of the program.
CallStatistics fleet_statistics(Operation operation = Operation::copy);

/// Reads statistics in the form of the fleet's (tuner/timing/distributions/README.md). They must be
/// sound.
CallStatistics parse_statistics(const std::string& text, const std::string& name);

/// The sizes of a program's small copies, from its recording. Recordings have no alignments: those
/// are the fleet's. Throws BadInput with one line that begins with "recording PATH". It does so for
/// another kind of file, for another version, for damage, and for too few small copies to learn
/// from.
CallStatistics recorded_statistics(const std::filesystem::path& path);

} // namespace asterope
