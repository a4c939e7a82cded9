// A recording: what an exhaustive search learnt of the pipelines, so that other searches can be run
// against it instead of the machine.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "timing/workload.hpp"

namespace asterope {

class LineReader;

/// What was recorded at one size under one workload.
struct RecordedField {
    std::size_t calls = 0; ///< in one trial
    double libc_ns = 0;    ///< a call; the median
    /// The wall time of a trial: `fixed_us` and `per_timed` times what is timed in it. Some of what
    /// is not timed takes as long as the candidate does (calls that warm the caches), some does not
    /// (the clock, settling the caches).
    double fixed_us = 0, per_timed = 1;
    /// Each as log(reference / own), where the reference is that of the round, of what was timed
    /// together: so slow phases of the machine, which hit everybody, are out of them. See
    /// find_references.
    using Samples = std::vector<float>;
    std::vector<Samples> candidates; ///< as Recording::names; empty: not timed here
    Samples rounds;                  ///< libc's median in each round
    Samples libc;                    ///< from that median, not from the reference
};

class Recording {
  public:
    /// Reads the trial log of an exhaustive search, or a thinned recording; either may be gzipped.
    /// Throws BadInput, in one line that names the file, for what is neither: what LineReader
    /// refuses, another format or version, a search that was not exhaustive, a workload that does
    /// not exist, a time that is no finite number above 0, no size that was finished.
    explicit Recording(const std::filesystem::path& path);

    /// Writes it to `path`, gzipped, with at most `samples` of each candidate under each workload.
    /// Returns the file's bytes. Throws Failure.
    std::size_t write_thinned(const std::filesystem::path& path, std::size_t samples) const;

    nlohmann::json header;          ///< the log's first line
    std::vector<std::string> names; ///< of the candidates, ascending
    std::map<std::size_t, std::map<Workload, RecordedField>> sizes; ///< in bytes
    std::vector<std::string> warnings;                              ///< what was left out

  private:
    /// What follows the header of a thinned one.
    void read_thinned(LineReader& lines);
};

/// What was timed together: whose sample, and log(libc's median / own).
using RecordedRound = std::vector<std::pair<int, float>>;

/// By how much the reference of each round differs from libc's median there, as a logarithm: so
/// that what the round's candidates have in common is taken from them and told of libc, whose three
/// timings may be wrong, or slow for a reason of its own (at 512 bytes it takes twice as long at
/// some misalignments; the trials of one round have the same). In a search, such a round does not
/// change who is ahead of whom in it; drawn by each candidate for itself, it would. Tukey's median
/// polish; a round of few candidates keeps libc's median, as they would lose their own noise.
std::vector<double> find_references(const std::vector<RecordedRound>& rounds);

/// At most `count` of the samples, ascending: evenly spaced among them when sorted, so that median
/// and spread stay what they were. (Rejected: the first ones in time, of the screening, and the
/// last ones, of the run-off. The screening's are flattered, as by them a candidate stayed in the
/// race, and would be half of the thinned samples instead of a tenth; and the median of a few that
/// came last is less certain than that of all. This way both are in, as often as they were.)
RecordedField::Samples thin_samples(RecordedField::Samples samples, std::size_t count);

} // namespace asterope
